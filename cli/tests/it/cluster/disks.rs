//! Damaged files and full disks.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cluster::faults::SLOW;
use crate::cluster::harness::{COORDINATOR, COORDINATOR_READY, Cluster, fails};
use crate::common::{SmallDisk, cut_layers};

/// The layer files in a folder, with their contents.
pub(crate) fn layer_files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let layers = files.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("layer-") && name.ends_with(".strata")
    });
    layers.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn a_damaged_checkpoint_is_detected() {
    let mut cluster = Cluster::of(2);
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let job = follower.job();
    follower.until_depth(200);
    cluster.kill_all();
    drop(follower);
    let folder = cluster.data("w2").join(&job);
    let files = layer_files(&folder);
    assert!(files.len() >= 2, "{}", files.len());
    for place in [0, 1, 2] {
        for (path, bytes) in &files {
            let mut damaged = bytes.clone();
            let at = [20, bytes.len() / 2, bytes.len() - 10][place];
            damaged[at] ^= 0x10;
            std::fs::write(path, damaged).unwrap();
        }
        let mark = cluster.mark(COORDINATOR);
        cluster.start_all();
        // The first time the running job resumes by itself. Later the job has failed and must be
        // resumed.
        let verb = if place == 0 { "watch" } else { "resume" };
        let ran = cluster.follow(&format!("{verb} {job}")).expect(12);
        let error = ran.event("failed")["error"].as_str().unwrap().to_owned();
        let named = files.iter().any(|(path, _)| error.contains(&*path.to_string_lossy()));
        assert!(named && error.contains("offset"), "{error}");
        assert!(error.contains("w2") && ran.stderr.contains(&error), "{}", ran.stderr);
        assert_eq!(cluster.status(&job)["exit_code"], 12);
        cluster.await_log(COORDINATOR, mark, "failed: ");
        cluster.kill_all();
        for (path, bytes) in &files {
            std::fs::write(path, bytes).unwrap();
        }
    }
    cluster.start_all();
    cluster.follow(&format!("resume {job}")).expect_answer();
    cluster.assert_no_panic();
}

#[test]
fn a_checkpoint_file_that_its_owner_has_lost_fails_the_job() {
    let mut cluster = Cluster::empty("--narrow 0");
    cluster.join("w1", "");
    cluster.join("w2", "");
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let job = follower.job();
    follower.until_depth(200);
    cluster.kill_all();
    drop(follower);
    let files = layer_files(&cluster.data("w2").join(&job));
    for (path, _) in &files {
        std::fs::remove_file(path).unwrap();
    }
    // All shards move to w1, which fetches the files of w2.
    let ports = (cluster.grpc, cluster.http);
    let line = cluster.coordinator_line("127.0.0.1", ports, "--narrow 1000000");
    cluster.add(COORDINATOR, &line, COORDINATOR_READY);
    cluster.start_all();
    let ran = cluster.follow(&format!("watch {job}")).expect(12);
    let error = ran.event("failed")["error"].as_str().unwrap().to_owned();
    assert!(
        error.contains("worker w1: layer-") && error.contains("of worker 1 is missing"),
        "{error}"
    );
    for (path, bytes) in &files {
        std::fs::write(path, bytes).unwrap();
    }
    cluster.follow(&format!("resume {job}")).expect_answer();
    cluster.assert_no_panic();
}

/// A read through a memory map would end the worker with SIGBUS.
#[test]
fn a_file_that_is_cut_while_it_is_read_fails_the_job_and_not_the_worker() {
    let cluster = Cluster::of(1);
    let worker = cluster.pid("w1");
    let mut follower = cluster.follow(&format!("submit {SLOW} --engine explicit"));
    let folder = cluster.data("w1").join(follower.job());
    follower.until_depth(50);
    while follower.is_running() {
        cut_layers(&folder);
    }
    let ran = follower.expect(12);
    let error = ran.event("failed")["error"].as_str().unwrap().to_owned();
    assert!(error.contains("worker w1: ") && error.contains("is corrupt at offset"), "{error}");
    assert!(error.contains(&*folder.to_string_lossy()), "{error}");
    // The same process serves the next job.
    cluster.follow("submit panex 4 --engine explicit").expect(0);
    assert!(cluster.is_running("w1") && cluster.pid("w1") == worker);
    cluster.assert_no_panic();
}

#[test]
fn a_damaged_journal_is_refused() {
    let mut cluster = Cluster::of(1);
    cluster.follow("submit panex 4").expect(0);
    cluster.kill_all();
    let journal = cluster.data(COORDINATOR).join("journal.redb");
    let mut bytes = std::fs::read(&journal).unwrap();
    let len = bytes.len();
    bytes[..len.min(4096)].fill(0x5a);
    std::fs::write(&journal, bytes).unwrap();
    let data = cluster.data(COORDINATOR);
    let line = format!(
        "coordinator --listen 127.0.0.1:{} --http 127.0.0.1:{} --data-dir {}",
        cluster.grpc,
        cluster.http,
        data.display()
    );
    fails(12, &mut crate::common::strata(&line), "journal.redb");
}

#[test]
fn a_full_disk_stops_resumably() {
    let mut cluster = Cluster::empty("");
    let folder = cluster.path().join("small");
    let Some(disk) = SmallDisk::mount(&folder, 1024) else {
        println!("skipped: a small file system cannot be mounted here");
        return;
    };
    // The file leaves 24 KiB free, less than the widest layers need.
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![1; 1000 << 10]).unwrap();
    cluster.join("w1", "");
    cluster.join("w2", &format!("--data-dir {}", folder.display()));
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let job = follower.job();
    let ran = follower.expect(4);
    let stopped = ran.event("stopped");
    assert_eq!(stopped["reason"], "disk_full", "{}", ran.stderr);
    let message = &ran.stderr;
    assert!(
        message.contains("worker w2: ") && message.contains(&*folder.to_string_lossy()),
        "{message}"
    );
    let depth = stopped["depth"].as_u64().unwrap();
    assert!(depth > 100, "{depth}");
    assert_eq!(cluster.status(&job)["state"], "stopped");
    std::fs::remove_file(&ballast).unwrap();
    let ran = cluster.follow(&format!("resume {job}")).expect_answer();
    assert_eq!(ran.event("job")["resumed_from"], depth);
    cluster.assert_no_panic();
    drop(cluster);
    drop(disk);
}

#[test]
fn a_full_shared_store_stops_resumably() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("small");
    let Some(disk) = SmallDisk::mount(&folder, 1024) else {
        println!("skipped: a small file system cannot be mounted here");
        return;
    };
    // Narrow layers fit into the 24 KiB that are left, wide ones do not.
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![1; 1000 << 10]).unwrap();
    let store = format!("--store file://{}", folder.display());
    let mut cluster = Cluster::empty(&store);
    (1..=2).for_each(|number| cluster.join(&format!("w{number}"), &store));
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let job = follower.job();
    let ran = follower.expect(4);
    let stopped = ran.event("stopped");
    assert_eq!(stopped["reason"], "disk_full", "{}", ran.stderr);
    std::fs::remove_file(&ballast).unwrap();
    let ran = cluster.follow(&format!("resume {job}")).expect_answer();
    assert!(ran.event("job")["resumed_from"].is_number());
    cluster.assert_no_panic();
    drop(cluster);
    drop(disk);
}

/// Fills a file system with one file.
pub(crate) fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
}

#[test]
fn a_full_disk_of_the_coordinator_pauses_the_job() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("small");
    let Some(disk) = SmallDisk::mount(&folder, 4096) else {
        println!("skipped: a small file system cannot be mounted here");
        return;
    };
    let mut cluster = Cluster::empty(&format!("--data-dir {}", folder.display()));
    cluster.join("w1", "");
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let job = follower.job();
    follower.until_depth(100);
    assert_eq!(cluster.get("/readyz", "").0, 200);

    let mark = cluster.mark(COORDINATOR);
    let ballast = folder.join("ballast");
    fill(&ballast);
    cluster.await_log(COORDINATOR, mark, "paused at the last checkpoint");
    let status = cluster.status(&job);
    let reason = status["error"].as_str().unwrap();
    assert!(reason.contains("No space left"), "{status}");
    assert_eq!(status["state"], "waiting");
    let list = crate::common::expect(0, &mut cluster.client("list")).stdout;
    assert!(list.contains("  paused  ") && list.contains(reason), "{list}");
    let (code, text) = cluster.get("/readyz", "");
    assert!(code == 503 && text.contains("No space left"), "{code} {text}");
    let (_, metrics) = cluster.get("/metrics", "");
    let has = |line: &str| assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    has("strata_journal_writable 0");
    has("strata_jobs{state=\"waiting\"} 1");
    let why = "is full: cannot write the journal";
    fails(4, &mut cluster.client("submit panex 3 --detach"), why);
    // The refused submission may have left room for something smaller.
    fill(&folder.join("more"));
    // A refused cancellation has no effect later: the job ends with its result.
    fails(4, &mut cluster.client(&format!("cancel {job}")), why);
    std::thread::sleep(Duration::from_secs(4));
    let log = cluster.log(COORDINATOR)[mark..].to_owned();
    let lines = log.lines().filter(|line| line.contains("No space left")).count();
    assert!((1..6).contains(&lines), "{lines} lines: {log}");

    std::fs::remove_file(&ballast).unwrap();
    std::fs::remove_file(folder.join("more")).unwrap();
    let ran = follower.expect_answer();
    assert!(ran.stderr.contains("is paused: cannot write the journal"), "{}", ran.stderr);
    cluster.await_log(COORDINATOR, mark, "can be written again");
    assert_eq!(cluster.get("/readyz", "").0, 200);
    cluster.follow("submit panex 3").expect(0);
    cluster.assert_no_panic();
    drop(cluster);
    drop(disk);
}

//! Checks and lists of a job's files at the workers that have them.

use std::path::PathBuf;

use crate::cluster::harness::Cluster;
use crate::common::{expect, only_job, refused, solve, strata};

/// The files of layers of a job at a worker.
fn layer_files(cluster: &Cluster, worker: &str, job: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(cluster.data(worker).join(job)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("layer-"))
        .collect();
    files.sort();
    files
}

/// The states of a list, sorted: workers store them in an order of their own.
fn sorted(text: &str) -> Vec<&str> {
    let mut states: Vec<&str> = text.lines().collect();
    states.sort_unstable();
    states
}

#[test]
fn workers_check_and_list_their_files() {
    let cluster = Cluster::of(2);
    // Wide enough for both workers.
    let search = "hanoi 8 --pegs 4 --exhaust --keep-layers all";
    let blocks = "pancake 8 --keep-layers all";
    // The whole space of this puzzle is one block of a dense search, that of 8 pancakes has several.
    let searches = [(search, "explicit", 8, 2), (search, "dense", 1, 1), (blocks, "dense", 8, 2)];
    for (search, engine, shards, workers) in searches {
        let search = format!("{search} --engine {engine}");
        let ran = cluster.follow(&format!("submit {search} --shards {shards}")).expect(0);
        let job = ran.event("job")["job"].as_str().unwrap().to_owned();
        let line = |line: &str| cluster.client(&format!("--json {line}"));
        let verified = expect(0, &mut line(&format!("verify {job}"))).event("verified");
        let held = ["w1", "w2"].iter().filter(|worker| cluster.data(worker).join(&job).exists());
        let files: usize = held.map(|worker| layer_files(&cluster, worker, &job).len()).sum();
        assert!(verified["files"].as_u64().unwrap() >= files as u64, "{verified} {files}");
        assert_eq!(verified["workers"], workers);
        assert_eq!(verified["digest"], ran.event("result")["digest"]);
        assert_eq!(verified["states"], ran.event("result")["states"]);
        // The last two layers may be checked twice: they are kept, too.
        let last: u64 = ran.layers().iter().rev().take(2).map(|layer| layer.1).sum();
        let states = ran.event("result")["states"].as_u64().unwrap();
        let held = verified["file_states"].as_u64().unwrap();
        assert!((states..=states + last).contains(&held), "{held} {states} {last}");

        let dir = tempfile::tempdir().unwrap();
        expect(0, &mut solve(dir.path(), &search));
        let folder = only_job(dir.path());
        for depth in [0, 5, ran.layers().len() - 1] {
            let here = |flags: &str| {
                let mut command = strata("layer");
                command.arg(&folder).arg(depth.to_string()).args(flags.split_whitespace());
                expect(0, &mut command).stdout
            };
            let there = |flags: &str| {
                expect(0, &mut cluster.client(&format!("layer {job} {depth} {flags}"))).stdout
            };
            assert_eq!(there(""), here(""));
            assert_eq!(sorted(&there("--list")), sorted(&here("--list")), "{engine} {depth}");
            let (all, sample) = (there("--list"), there("--sample 7"));
            let step = all.lines().count().div_ceil(7).max(1);
            let expected: Vec<&str> = all.lines().step_by(step).collect();
            assert_eq!(sample.lines().collect::<Vec<_>>(), expected, "{engine} {depth}");
        }
        refused(&mut cluster.client(&format!("layer {job} 99")), "has no layer 99");
    }
    cluster.assert_no_panic();
}

#[test]
fn damage_names_the_worker_the_file_and_the_offset() {
    let mut cluster = Cluster::of(2);
    let ran = cluster
        .follow("submit hanoi 8 --pegs 4 --exhaust --keep-layers all --shards 8 --engine explicit")
        .expect(0);
    let job = ran.event("job")["job"].as_str().unwrap().to_owned();
    let files = layer_files(&cluster, "w2", &job);
    let file = files.iter().find(|file| file.metadata().unwrap().len() > 0).unwrap();
    let intact = std::fs::read(file).unwrap();
    let mut damaged = intact.clone();
    damaged[intact.len() / 2] ^= 1;
    std::fs::write(file, damaged).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let ran = expect(12, &mut cluster.client(&format!("verify {job}")));
    for text in ["worker w2", name, "at offset"] {
        assert!(ran.stderr.contains(text), "{text}: {}", ran.stderr);
    }
    assert_eq!(ran.stdout, "");
    std::fs::write(file, intact).unwrap();
    expect(0, &mut cluster.client(&format!("verify {job}")));
    std::fs::remove_file(file).unwrap();
    let ran = expect(12, &mut cluster.client(&format!("verify {job}")));
    assert!(ran.stderr.contains("worker w2") && ran.stderr.contains(name), "{}", ran.stderr);
    cluster.kill("w2");
    let ran = expect(10, &mut cluster.client(&format!("verify {job}")));
    assert!(ran.stderr.contains("cannot answer now: "), "{}", ran.stderr);
    // Until its lease ends, the coordinator tries to connect.
    let reasons = ["is not connected", "cannot reach"];
    assert!(reasons.iter().any(|reason| ran.stderr.contains(reason)), "{}", ran.stderr);
}

#[test]
fn a_symbolic_job_is_checked_and_its_layers_are_searched_again() {
    let cluster = Cluster::of(1);
    let ran = cluster.follow("submit panex 4 --engine symbolic").expect(0);
    let job = ran.event("job")["job"].as_str().unwrap().to_owned();
    let verified =
        expect(0, &mut cluster.client(&format!("--json verify {job}"))).event("verified");
    assert_eq!((&verified["files"], &verified["workers"]), (&1.into(), &1.into()));
    let count = expect(0, &mut cluster.client(&format!("--json layer {job} 30")));
    assert_eq!(count.event("layer_states")["states"], ran.layers()[30].1);
    refused(&mut cluster.client(&format!("layer {job} 99")), "has no layer 99");
    let snapshot = std::fs::read_dir(cluster.data("w1").join(&job)).unwrap();
    let snapshot = snapshot.map(|file| file.unwrap().path());
    let is_snapshot =
        |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("frontier-");
    let snapshot = { snapshot }.find(is_snapshot).unwrap();
    let mut bytes = std::fs::read(&snapshot).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&snapshot, bytes).unwrap();
    let ran = expect(12, &mut cluster.client(&format!("verify {job}")));
    assert!(ran.stderr.contains("worker w1") && ran.stderr.contains("frontier-"), "{}", ran.stderr);
}

#[test]
fn a_running_job_is_checked_while_it_replaces_its_checkpoints() {
    let cluster = Cluster::of(2);
    let follower = cluster.follow("submit panex 7 --checkpoint-interval 1s --engine explicit");
    let job = follower.job();
    follower.until_depth(100);
    for _ in 0..5 {
        expect(0, &mut cluster.client(&format!("verify {job}")));
    }
    refused(&mut cluster.client(&format!("layer {job} 50")), "does not keep layer 50");
    let status = cluster.status(&job);
    assert_eq!(
        status["worker_names"].as_array().unwrap().len() as u64,
        status["workers"].as_u64().unwrap()
    );
    assert!(status["checkpoint_at"].as_u64() >= status["created"].as_u64(), "{status}");
    let table = expect(0, &mut cluster.client("status")).stdout;
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    expect(0, &mut cluster.client(&format!("cancel {job}")));
    follower.expect(4);
}

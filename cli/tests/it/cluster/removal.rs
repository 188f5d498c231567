//! Removal of jobs: their files on all workers, absent ones included, their records and their logs.

use std::path::{Path, PathBuf};

use crate::cluster::faults::SLOW;
use crate::cluster::harness::{COORDINATOR, Cluster, eventually, fails};
use crate::common::{Finished, expect};

/// A coordinator with these arguments and two workers, each with a part of every layer.
fn two_workers(more: &str) -> Cluster {
    let mut cluster = Cluster::empty(&format!("--narrow 1 {more}"));
    (1..=2).for_each(|number| cluster.join(&format!("w{number}"), ""));
    cluster
}

/// A job of two workers that is done.
fn done(cluster: &Cluster, more: &str) -> String {
    let line = format!("--json --progress none submit hanoi 7 --exhaust --shards 8 {more}");
    let ran = expect(0, &mut cluster.client(&line));
    ran.event("job")["job"].as_str().unwrap().to_owned()
}

fn folder(cluster: &Cluster, worker: &str, job: &str) -> PathBuf {
    cluster.data(worker).join(job)
}

/// The folders in a worker's data directory.
pub(crate) fn folders(cluster: &Cluster, worker: &str) -> Vec<String> {
    let entries = std::fs::read_dir(cluster.data(worker)).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

fn log(cluster: &Cluster, job: &str) -> PathBuf {
    cluster.data(COORDINATOR).join("logs").join(format!("{job}.log"))
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

fn remove(cluster: &Cluster, job: &str) -> Finished {
    expect(0, &mut cluster.client(&format!("--json rm {job}")))
}

/// Ids of the jobs that the coordinator lists.
fn listed(cluster: &Cluster) -> Vec<String> {
    let jobs = expect(0, &mut cluster.client("--json list")).events("job_status");
    jobs.iter().map(|job| job["job"].as_str().unwrap().to_owned()).collect()
}

/// Ids of removed jobs that `gc` reports.
fn collected(cluster: &Cluster, flags: &str) -> Vec<String> {
    let ran = expect(0, &mut cluster.client(&format!("--json gc {flags}")));
    let removed = ran.events("removed");
    let sums = ran.event("collected");
    let count = sums["jobs"].as_u64().unwrap() + sums["unknown"].as_u64().unwrap();
    assert_eq!(count, removed.len() as u64, "{}", ran.stdout);
    removed.iter().map(|job| job["job"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_removed_job_leaves_nothing() {
    let store = tempfile::tempdir().unwrap();
    let store_flag = format!("--store file://{}", store.path().display());
    let mut cluster = Cluster::empty(&format!("--narrow 1 {store_flag}"));
    (1..=2).for_each(|number| cluster.join(&format!("w{number}"), &store_flag));
    let (job, other) = (done(&cluster, "--name first"), done(&cluster, ""));
    for worker in ["w1", "w2"] {
        assert_eq!(folders(&cluster, worker).len(), 2);
    }
    // The checkpoint of a job stays in the store while others run: it may be resumed.
    assert!([&job, &other].iter().all(|job| !is_empty(&store.path().join(job))));
    assert!(log(&cluster, &job).exists());
    let removed = remove(&cluster, "first").event("removed");
    assert_eq!((&removed["job"], &removed["state"]), (&job.clone().into(), &"done".into()));
    assert_eq!(removed["waiting_for"], serde_json::json!([]));
    // The command waits for the workers.
    for worker in ["w1", "w2"] {
        assert_eq!(folders(&cluster, worker), [&*other]);
    }
    assert!(!store.path().join(&job).exists() && !is_empty(&store.path().join(&other)));
    assert!(!log(&cluster, &job).exists() && log(&cluster, &other).exists());
    assert_eq!(listed(&cluster), [&*other]);
    for command in ["rm", "stats", "status", "logs", "watch", "resume"] {
        fails(11, &mut cluster.client(&format!("{command} {job}")), "no job ");
    }
    // The name is free, and the workers go on.
    let again = done(&cluster, "--name first");
    assert_ne!(again, job);
    cluster.assert_no_panic();
}

#[test]
fn a_job_that_has_not_ended_is_removed_only_by_force() {
    let cluster = two_workers("");
    let ended = done(&cluster, "");
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let (running, queued) = (follower.job(), cluster.submit("hanoi 5"));
    follower.until_depth(50);
    for job in [&running, &queued] {
        // Nothing is removed if one of the jobs cannot be.
        fails(2, &mut cluster.client(&format!("rm {ended} {job}")), "has not ended");
    }
    assert_eq!(listed(&cluster), [&*ended, &*running, &*queued]);
    let line = format!("--json rm --force {running} {queued} {ended}");
    assert_eq!(expect(0, &mut cluster.client(&line)).events("removed").len(), 3);
    assert_eq!(listed(&cluster), [""; 0]);
    for worker in ["w1", "w2"] {
        eventually("the folders are gone", || folders(&cluster, worker).is_empty());
    }
    done(&cluster, "");
    cluster.assert_no_panic();
}

#[test]
fn an_absent_worker_removes_its_files_when_it_is_back() {
    let mut cluster = two_workers("");
    let job = done(&cluster, "");
    cluster.kill("w2");
    // What a kill during an earlier removal has left.
    std::fs::create_dir_all(cluster.data("w2").join(".removed-hanoi-3-aaaaaa.1/folder")).unwrap();
    eventually("its lease is over", || {
        expect(0, &mut cluster.client("status")).stdout.contains("1 of 2 workers alive")
    });
    let removed = remove(&cluster, &job).event("removed");
    assert_eq!(removed["waiting_for"], serde_json::json!(["w2"]));
    assert_eq!(folders(&cluster, "w1"), [""; 0]);
    assert!(folder(&cluster, "w2", &job).exists());
    // The coordinator remembers it.
    cluster.kill(COORDINATOR);
    cluster.start(COORDINATOR);
    cluster.start("w2");
    eventually("its folder is gone", || folders(&cluster, "w2").is_empty());
    eventually("the workers are back", || {
        expect(0, &mut cluster.client("status")).stdout.contains("2 of 2 workers alive")
    });
    done(&cluster, "");
    cluster.assert_no_panic();
}

#[test]
fn a_removal_goes_on_after_kills_of_all_nodes() {
    let mut cluster = two_workers("");
    for round in 0..4 {
        let job = done(&cluster, "--keep-layers all");
        let mut client = cluster.client(&format!("rm {job}")).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(8 * round));
        cluster.kill_all();
        client.wait().unwrap();
        cluster.start_all();
        eventually("the coordinator lists its jobs", || {
            crate::common::run(&mut cluster.client("list")).code == Some(0)
        });
        // The kill may have been before the removal.
        if listed(&cluster).contains(&job) {
            remove(&cluster, &job);
        }
        for worker in ["w1", "w2"] {
            eventually("its folder is gone", || folders(&cluster, worker).is_empty());
        }
        eventually("its log is gone", || !log(&cluster, &job).exists());
    }
    cluster.assert_no_panic();
}

#[test]
fn jobs_are_collected_by_age_and_state() {
    let cluster = two_workers("");
    let job = done(&cluster, "");
    let stopped =
        expect(4, &mut cluster.client("--json submit panex 5 --max-layers 9 --progress none"));
    let stopped = stopped.event("job")["job"].as_str().unwrap().to_owned();
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let (running, cancelled) = (follower.job(), cluster.submit("hanoi 5"));
    expect(0, &mut cluster.client(&format!("cancel {cancelled}")));
    let ended = cluster.status(&job)["ended"].as_u64().unwrap();
    assert!(ended >= cluster.status(&job)["created"].as_u64().unwrap());
    assert!(cluster.status(&running)["ended"].is_null());

    assert_eq!(collected(&cluster, "--older-than 1h"), [""; 0]);
    assert_eq!(collected(&cluster, "--older-than 0s --dry-run"), [&*job, &*cancelled]);
    assert_eq!(collected(&cluster, "--older-than 0s --state failed"), [""; 0]);
    assert_eq!(collected(&cluster, "--older-than 0s --state cancelled"), [&*cancelled]);
    assert_eq!(collected(&cluster, "--older-than 0s"), [&*job]);
    assert_eq!(listed(&cluster), [&*stopped, &*running]);
    assert_eq!(collected(&cluster, "--older-than 0s --state stopped,done"), [&*stopped]);
    for worker in ["w1", "w2"] {
        eventually("only the running job has files", || folders(&cluster, worker) == [&*running]);
    }
    follower.expect_answer();
    cluster.assert_no_panic();
}

#[test]
fn jobs_that_the_journal_does_not_know_stay_until_they_are_collected() {
    let mut cluster = two_workers("");
    let known = done(&cluster, "");
    cluster.kill(COORDINATOR);
    let copy = cluster.path().join("earlier-journal");
    std::fs::copy(cluster.data(COORDINATOR).join("journal.redb"), &copy).unwrap();
    cluster.start(COORDINATOR);
    let unknown = done(&cluster, "");
    cluster.kill(COORDINATOR);
    std::fs::copy(&copy, cluster.data(COORDINATOR).join("journal.redb")).unwrap();
    // Folders of another cluster and of no cluster.
    for (name, mark) in [("other-aaaaaa", Some("0".repeat(32))), ("without-aaaaaa", None)] {
        let folder = folder(&cluster, "w1", name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("layer-000001-000.strata"), "x").unwrap();
        if let Some(mark) = mark {
            std::fs::write(folder.join("journal-id"), mark).unwrap();
        }
    }
    cluster.start(COORDINATOR);
    eventually("the workers are back", || {
        expect(0, &mut cluster.client("status")).stdout.contains("2 of 2 workers alive")
    });
    fails(11, &mut cluster.client(&format!("rm {unknown}")), &format!("has no job {unknown}"));
    assert_eq!(collected(&cluster, "--older-than 1h"), [""; 0]);
    assert_eq!(collected(&cluster, "--older-than 0s --state failed --dry-run"), [&*unknown]);
    assert!(folder(&cluster, "w2", &unknown).exists() && log(&cluster, &unknown).exists());
    assert_eq!(collected(&cluster, "--older-than 0s --state failed"), [&*unknown]);
    assert!(!log(&cluster, &unknown).exists());
    assert_eq!(folders(&cluster, "w2"), [&*known]);
    let mut expected = [known.as_str(), "other-aaaaaa", "without-aaaaaa"];
    expected.sort_unstable();
    assert_eq!(folders(&cluster, "w1"), expected);
    assert_eq!(listed(&cluster), [&*known]);
    cluster.assert_no_panic();
}

#[test]
fn the_newest_jobs_are_retained() {
    let cluster = two_workers("--retain-jobs 2");
    let stopped =
        expect(4, &mut cluster.client("--json submit panex 5 --max-layers 9 --progress none"));
    let stopped = stopped.event("job")["job"].as_str().unwrap().to_owned();
    let jobs: Vec<String> = (0..5).map(|_| done(&cluster, "")).collect();
    let mut expected = vec![stopped];
    expected.extend_from_slice(&jobs[3..]);
    eventually("two jobs and the stopped one are left", || listed(&cluster) == expected);
    for worker in ["w1", "w2"] {
        eventually("the others have no files", || folders(&cluster, worker).len() == 3);
        assert!(expected.iter().all(|job| folder(&cluster, worker, job).exists()));
    }
    assert!(jobs.iter().all(|job| log(&cluster, job).exists() == expected.contains(job)));
    cluster.assert_no_panic();
}

#[test]
fn old_jobs_are_not_retained_after_a_start() {
    let mut cluster = two_workers("--retain-age 1s");
    let job = done(&cluster, "");
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert_eq!(listed(&cluster), [&*job]);
    cluster.kill(COORDINATOR);
    cluster.start(COORDINATOR);
    eventually("it is removed", || listed(&cluster).is_empty());
    for worker in ["w1", "w2"] {
        eventually("its folder is gone", || folders(&cluster, worker).is_empty());
    }
}

//! Nodes that are killed, paused, terminated, or permanently lost.

use std::time::Duration;

use rustix::process::Signal;

use crate::cluster::disks::layer_files;
use crate::cluster::follower::{Expected, Follower};
use crate::cluster::harness::{COORDINATOR, Cluster, eventually};
use crate::cluster::random::Random;
use crate::common::expect;

/// A slow job: it writes a checkpoint after every layer.
pub(crate) const SLOW: &str = "panex 6 --checkpoint-interval 1ms";

/// A job with infrequent checkpoints, so that a fault costs many layers.
const FAST: &str = "panex 6 --checkpoint-interval 300ms";

/// Faults in a run.
const FAULTS: u32 = 7;

/// A job of which no checkpoint is due for ten minutes. Because of the limit, every layer is a window of its
/// own, so that the search does not end before the fault.
const UNSAVED: &str = "panex 6 --checkpoint-interval 10m --disk-limit 1TiB";

/// Kills some nodes, and starts them again.
fn fault(cluster: &mut Cluster, random: &mut Random) {
    let worker = format!("w{}", 1 + random.below(3));
    let other = format!("w{}", 1 + random.below(3));
    let killed: Vec<&str> = match random.below(6) {
        0 | 1 => vec![&worker],
        2 => vec![COORDINATOR],
        3 | 4 => vec![COORDINATOR, &worker],
        _ if worker == other => vec![&worker],
        _ => vec![&worker, &other],
    };
    killed.iter().for_each(|name| cluster.kill(name));
    random.pause(400);
    killed.iter().rev().for_each(|name| cluster.start(name));
}

/// Runs jobs and injects faults until there have been `FAULTS` faults.
fn killed_at_random(seed: u64) {
    let mut random = Random::new(seed);
    let mut cluster = Cluster::of(3);
    let mut faults = 0;
    let mut jobs = 0;
    while faults < FAULTS {
        let line = if jobs % 2 == 0 { SLOW } else { FAST };
        let mut follower = cluster.follow(&format!("submit {line}"));
        let job = follower.job();
        follower.until_depth(random.below(150));
        while faults < FAULTS && follower.is_running() {
            fault(&mut cluster, &mut random);
            faults += 1;
            random.pause(900);
        }
        follower.expect_answer();
        assert_eq!(cluster.status(&job)["state"], "done");
        jobs += 1;
    }
    cluster.assert_no_panic();
}

#[test]
fn layers_are_the_same_after_kills_at_random_moments() {
    killed_at_random(0x5eed);
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn layers_are_the_same_after_kills_at_other_moments() {
    killed_at_random(0xfade);
}

#[test]
fn symmetric_states_stand_for_the_same_positions_after_a_kill() {
    let line = "topspin 10 4 --symmetry on --engine explicit";
    let expected = Expected::of(line);
    let positions: u64 = expected.layers.iter().map(|layer| layer.4).sum();
    // Moves of four tokens make even arrangements only.
    assert_eq!(positions, (3..=10).product::<u64>());
    let mut cluster = Cluster::of(2);
    let follower = cluster.follow(&format!("submit {line} --checkpoint-interval 1ms"));
    follower.until_depth(4);
    cluster.kill("w1");
    cluster.start("w1");
    let job = follower.job();
    expected.assert_printed(&follower.expect(0));
    let log = cluster.log(COORDINATOR);
    // The kill may occur while a session begins. That session then does not lose a worker, but
    // waits for one.
    let before_the_end = log.split("INFO done").next().unwrap_or_default();
    let noticed = ["worker w1 is lost", "worker disconnected"];
    assert!(noticed.iter().any(|text| before_the_end.contains(text)), "{log}");
    // The journal has what the client was sent.
    expected.assert_printed(&cluster.follow(&format!("watch {job}")).expect(0));
    assert_eq!(cluster.status(&job)["positions"], positions);
    cluster.assert_no_panic();
}

#[test]
fn a_paused_worker_is_lost_and_harmless_when_it_continues() {
    let cluster = Cluster::of(3);
    let follower = cluster.follow(&format!("submit {SLOW}"));
    follower.until_depth(150);
    for (number, worker) in ["w2", "w3"].into_iter().enumerate() {
        let mark = cluster.mark(COORDINATOR);
        cluster.signal(worker, Signal::STOP);
        let lost = format!("worker {worker} is lost: it has sent no message for longer");
        cluster.await_log(COORDINATOR, mark, &lost);
        cluster.await_log(COORDINATOR, mark, &format!("waiting for {worker}"));
        eventually("the job waits for it", || {
            cluster.status(&follower.job())["waiting_for"][0] == worker
        });
        cluster.signal(worker, Signal::CONT);
        cluster.await_log(COORDINATOR, mark, "session started");
        follower.until_depth(200 + 50 * number as u64);
    }
    follower.expect_answer();
    cluster.assert_no_panic();
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn a_worker_paused_during_a_coordinator_restart_is_harmless() {
    let mut cluster = Cluster::of(3);
    let follower = cluster.follow(&format!("submit {FAST}"));
    follower.until_depth(150);
    cluster.signal("w1", Signal::STOP);
    cluster.kill(COORDINATOR);
    cluster.start(COORDINATOR);
    std::thread::sleep(Duration::from_millis(1500));
    cluster.signal("w1", Signal::CONT);
    follower.expect_answer();
    cluster.assert_no_panic();
}

#[test]
fn a_job_continues_after_a_pause_of_the_coordinator() {
    let cluster = Cluster::of(3);
    let follower = cluster.follow(&format!("submit {FAST}"));
    // Shorter than the lease, and longer.
    for (depth, pause) in [(100, 300), (200, 2500)] {
        follower.until_depth(depth);
        cluster.signal(COORDINATOR, Signal::STOP);
        std::thread::sleep(Duration::from_millis(pause));
        cluster.signal(COORDINATOR, Signal::CONT);
    }
    follower.expect_answer();
    cluster.assert_no_panic();
}

#[test]
fn a_job_continues_after_all_nodes_were_killed() {
    let mut cluster = Cluster::of(3);
    let follower = cluster.follow(&format!("submit {FAST}"));
    for depth in [150, 250] {
        follower.until_depth(depth);
        cluster.kill_all();
        cluster.start_all();
    }
    follower.expect_answer();
    cluster.assert_no_panic();
}

/// Submits a job and kills `w2` in the middle of it.
pub(crate) fn without_w2(cluster: &mut Cluster, line: &str) -> Follower {
    let follower = cluster.follow(&format!("submit {line}"));
    follower.until_depth(200);
    cluster.kill("w2");
    follower
}

#[test]
fn a_permanently_lost_worker_fails_the_job_resumably() {
    let mut cluster = Cluster::empty("--worker-timeout 3s");
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
    let follower = without_w2(&mut cluster, SLOW);
    let job = follower.job();
    eventually("the job waits for w2", || {
        cluster.status(&job)["waiting_for"] == serde_json::json!(["w2"])
    });
    let text = expect(0, &mut cluster.client(&format!("status {job}"))).stdout;
    assert!(text.contains("waiting") && text.contains("w2"), "{text}");
    assert_eq!(cluster.status(&job)["state"], "waiting");
    let ran = follower.expect(5);
    assert!(ran.stderr.contains("w2 did not reconnect within 3 s"), "{}", ran.stderr);
    let failed = ran.event("failed");
    assert_eq!(failed["exit_code"], 5);
    assert!(failed["resume_command"].as_str().unwrap().contains(&job));
    let status = cluster.status(&job);
    assert_eq!((&status["state"], &status["exit_code"]), (&"failed".into(), &5.into()));
    cluster.start("w2");
    cluster.follow(&format!("resume {job}")).expect_answer();
}

/// A cluster that was killed while only the last of the workers had states. The first layers are in
/// one shard. If the search was faster than the kill, it is repeated.
fn killed_while_one_worker_has_states() -> (Cluster, Follower, [&'static str; 3]) {
    for _ in 0..10 {
        let mut cluster = Cluster::empty("--narrow 0");
        (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
        let follower = cluster.follow(&format!("submit {SLOW}"));
        follower.until_depth(5);
        cluster.kill_all();
        let job = follower.job();
        let lengths = |name: &str| {
            let files = layer_files(&cluster.data(name).join(&job));
            files.iter().map(|(_, bytes)| bytes.len()).collect::<Vec<_>>()
        };
        let mut workers = ["w1", "w2", "w3"];
        workers.sort_by_key(|name| lengths(name).into_iter().max());
        let shortest = workers.iter().flat_map(|name| lengths(name)).min().unwrap();
        // Files without states all have the same length.
        if workers[..2].iter().all(|name| lengths(name).iter().all(|bytes| *bytes == shortest)) {
            return (cluster, follower, workers);
        }
    }
    panic!("the search is always faster than the kill");
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn a_permanently_lost_worker_without_states_is_not_needed() {
    let (mut cluster, follower, workers) = killed_while_one_worker_has_states();
    for lost in &workers[..2] {
        std::fs::remove_dir_all(cluster.data(lost)).unwrap();
    }
    cluster.start_all();
    follower.expect_answer();
    cluster.assert_no_panic();
}

#[test]
fn with_a_shared_store_the_job_continues_without_a_lost_worker() {
    let store = tempfile::tempdir().unwrap();
    let store = format!("--store file://{}", store.path().join("shared").display());
    let mut cluster = Cluster::empty(&format!("--worker-timeout 2s {store}"));
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), &store));
    let mark = cluster.mark(COORDINATOR);
    let follower = without_w2(&mut cluster, SLOW);
    cluster.await_log(COORDINATOR, mark, "workers=w1,w3 from_layer=");
    // The data of `w2` is lost, too.
    std::fs::remove_dir_all(cluster.data("w2")).unwrap();
    follower.expect_answer();
    cluster.assert_no_panic();
}

#[test]
fn a_terminated_coordinator_writes_a_checkpoint() {
    let mut cluster = Cluster::of(2);
    let follower = cluster.follow(&format!("submit {UNSAVED}"));
    follower.until_depth(150);
    let mark = cluster.mark(COORDINATOR);
    cluster.signal(COORDINATOR, Signal::TERM);
    assert_eq!(cluster.ended(COORDINATOR).code(), Some(0));
    let log = cluster.log(COORDINATOR)[mark..].to_owned();
    assert!(log.contains("checkpoint committed"), "{log}");
    let mark = cluster.mark(COORDINATOR);
    cluster.start(COORDINATOR);
    cluster.await_log(COORDINATOR, mark, "from_layer=");
    let ran = follower.expect_answer();
    assert_eq!(ran.events("rolled_back").len(), 0, "something was lost");
}

#[test]
fn a_terminated_worker_loses_nothing() {
    let mut cluster = Cluster::of(1);
    let follower = cluster.follow(&format!("submit {UNSAVED}"));
    follower.until_depth(150);
    let mark = cluster.mark(COORDINATOR);
    cluster.signal("w1", Signal::TERM);
    assert_eq!(cluster.ended("w1").code(), Some(0));
    cluster.await_log(COORDINATOR, mark, "checkpoint committed");
    // No other worker can take over its files.
    cluster.await_log(COORDINATOR, mark, "waiting for w1");
    cluster.start("w1");
    let ran = follower.expect_answer();
    assert_eq!(ran.events("rolled_back").len(), 0, "something was lost");
}

#[test]
fn a_new_worker_takes_shards_of_a_running_job() {
    let mut cluster = Cluster::of(1);
    let follower = cluster.follow(&format!("submit {SLOW}"));
    follower.until_depth(150);
    let mark = cluster.mark(COORDINATOR);
    cluster.join("late", "");
    cluster.await_log(COORDINATOR, mark, "workers=w1,late from_layer=");
    let ran = follower.expect_answer();
    assert_eq!(ran.events("rolled_back").len(), 0, "something was lost");
}

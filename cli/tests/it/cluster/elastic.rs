//! Workers that join and leave while a job runs: nothing is searched twice.

use rustix::process::Signal;

use crate::cluster::faults::SLOW;
use crate::cluster::follower::{Follower, table};
use crate::cluster::harness::{COORDINATOR, Cluster};
use crate::common::{Finished, expect, solve};

/// A job that runs until a test cancels it.
pub(crate) const LONG: &str = "panex 7 --shards 16 --checkpoint-interval 1ms";

/// Cancels a job of [`LONG`] and asserts that its layers are right, and that none was repeated.
fn expect_layers_once(cluster: &Cluster, follower: Follower) {
    expect(0, &mut cluster.client(&format!("cancel {}", follower.job())));
    let ran = follower.expect(4);
    assert_eq!(ran.events("rolled_back").len(), 0, "something was lost");
    let found = table(&ran);
    assert_eq!(ran.events("layer").len(), found.len(), "a layer was repeated");
    assert_eq!(found, layers_of_one_process(found.len() - 1).layers());
}

fn layers_of_one_process(deepest: usize) -> Finished {
    let dir = tempfile::tempdir().unwrap();
    expect(4, &mut solve(dir.path(), &format!("panex 7 --shards 16 --max-layers {deepest}")))
}

/// Ends a worker by SIGTERM, and waits until a session continues from a checkpoint with the workers
/// `others`. Then deletes the worker's data.
pub(crate) fn drain(cluster: &mut Cluster, worker: &str, others: &str) {
    let mark = cluster.mark(COORDINATOR);
    cluster.signal(worker, Signal::TERM);
    assert_eq!(cluster.ended(worker).code(), Some(0));
    cluster.await_log(COORDINATOR, mark, &format!("workers={others} from_layer="));
    let log = cluster.log(COORDINATOR);
    assert!(!log[mark..].contains("waiting for"), "{}", &log[mark..]);
    std::fs::remove_dir_all(cluster.data(worker)).unwrap();
}

#[test]
fn a_worker_joins_a_job_of_several_workers_and_leaves_it_again() {
    let mut cluster = Cluster::empty("--narrow 1");
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
    let follower = cluster.follow(&format!("submit {LONG}"));
    follower.until_depth(10);
    let mark = cluster.mark(COORDINATOR);
    cluster.join("w4", "");
    cluster.await_log(COORDINATOR, mark, "workers=w1,w2,w3,w4 from_layer=");
    let deepest = follower.until_depth(1);
    follower.until_depth(deepest + 5);
    drain(&mut cluster, "w4", "w1,w2,w3");
    // One that was there from the start leaves in the same way.
    let deepest = follower.until_depth(1);
    follower.until_depth(deepest + 5);
    drain(&mut cluster, "w1", "w2,w3");
    let deepest = follower.until_depth(1);
    follower.until_depth(deepest + 5);
    expect_layers_once(&cluster, follower);
    cluster.assert_no_panic();
}

#[test]
fn the_diagram_of_a_symbolic_job_moves_from_a_worker_that_leaves() {
    let mut cluster = Cluster::of(2);
    let follower = cluster.follow(&format!("submit {SLOW} --engine symbolic"));
    follower.until_depth(50);
    let log = cluster.log(COORDINATOR);
    let (first, second) = if log.contains("workers=w1") { ("w1", "w2") } else { ("w2", "w1") };
    drain(&mut cluster, first, second);
    let ran = follower.expect(0);
    assert_eq!(ran.event("result")["moves"], 881);
    assert_eq!(ran.events("rolled_back").len(), 0, "something was lost");
    cluster.assert_no_panic();
}

#[test]
fn workers_that_drain_together_are_all_dismissed() {
    let mut cluster = Cluster::empty("--narrow 1");
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
    let follower = cluster.follow(&format!("submit {LONG}"));
    follower.until_depth(30);
    let workers = ["w1", "w2", "w3"];
    workers.iter().for_each(|worker| cluster.signal(worker, Signal::TERM));
    for worker in workers {
        assert_eq!(cluster.ended(worker).code(), Some(0));
        let log = cluster.log(worker);
        assert!(!log.contains("not dismissed"), "{log}");
    }
    workers.iter().for_each(|worker| cluster.start(worker));
    let deepest = follower.until_depth(1);
    follower.until_depth(deepest + 5);
    expect_layers_once(&cluster, follower);
    cluster.assert_no_panic();
}

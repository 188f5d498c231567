//! Journals that are lost, or restored from an earlier point, while workers keep running.

use std::path::Path;

use rustix::process::Signal;

use crate::cluster::faults::SLOW;
use crate::cluster::harness::{COORDINATOR, Cluster, eventually};
use crate::common::expect;

/// States of the towers of Hanoi with three pegs and this many discs.
fn hanoi_states(discs: u32) -> u64 {
    3_u64.pow(discs)
}

/// Submits a small job and checks its result.
fn expect_hanoi(cluster: &Cluster, discs: u32) {
    let line = format!("--json --progress none submit hanoi {discs} --exhaust");
    let ran = expect(0, &mut cluster.client(&line));
    assert_eq!(ran.event("result")["states"], hanoi_states(discs), "{}", ran.stderr);
}

/// Replaces the coordinator's journal by a copy while the coordinator is down.
fn restore(cluster: &Cluster, copy: &Path) {
    std::fs::copy(copy, cluster.data(COORDINATOR).join("journal.redb")).unwrap();
}

#[test]
fn orders_from_before_a_journal_restore_are_not_applied_to_a_later_job() {
    let mut cluster = Cluster::empty("--lease 30s");
    cluster.join("w1", "");
    cluster.kill(COORDINATOR);
    let copy = cluster.path().join("earlier-journal");
    std::fs::copy(cluster.data(COORDINATOR).join("journal.redb"), &copy).unwrap();
    let mark = cluster.mark(COORDINATOR);
    cluster.start(COORDINATOR);
    cluster.await_log(COORDINATOR, mark, "worker connected");
    // The worker has the first order of job A, in epoch 1, before it continues.
    cluster.signal("w1", Signal::STOP);
    let mark = cluster.mark(COORDINATOR);
    cluster.submit("hanoi 8 --exhaust");
    cluster.await_log(COORDINATOR, mark, " epoch=1 workers=");
    cluster.kill(COORDINATOR);
    restore(&cluster, &copy);
    cluster.start(COORDINATOR);
    cluster.signal("w1", Signal::CONT);
    // Job B has epoch 1, too.
    expect_hanoi(&cluster, 6);
    cluster.assert_no_panic();
}

#[test]
fn an_older_journal_is_detected_and_no_epoch_is_reused() {
    let mut cluster = Cluster::of(2);
    cluster.kill(COORDINATOR);
    let copy = cluster.path().join("earlier-journal");
    std::fs::copy(cluster.data(COORDINATOR).join("journal.redb"), &copy).unwrap();
    cluster.start(COORDINATOR);
    let lost = cluster.submit("hanoi 7 --exhaust");
    eventually("it is done", || cluster.status(&lost)["state"] == "done");
    let epochs = cluster.log(COORDINATOR).matches("session started").count();
    cluster.kill(COORDINATOR);
    restore(&cluster, &copy);
    let mark = cluster.mark(COORDINATOR);
    cluster.start(COORDINATOR);
    cluster.await_log(COORDINATOR, mark, "this journal is an older copy");
    cluster.await_log("w1", 0, "the coordinator was restarted");
    expect_hanoi(&cluster, 6);
    cluster.await_log(COORDINATOR, mark, &format!(" epoch={} workers=", epochs + 1));
    // The workers keep what they have of the job that the journal does not know.
    assert!(cluster.data("w1").join(&lost).is_dir());
    cluster.assert_no_panic();
}

#[test]
fn a_job_runs_after_the_journal_was_lost_in_the_middle_of_another() {
    let mut cluster = Cluster::of(2);
    let follower = cluster.follow(&format!("submit {SLOW}"));
    follower.until_depth(150);
    cluster.kill(COORDINATOR);
    std::fs::remove_dir_all(cluster.data(COORDINATOR)).unwrap();
    cluster.start(COORDINATOR);
    cluster.await_log("w1", 0, "the coordinator has another journal now");
    expect_hanoi(&cluster, 6);
    // The next one can be cancelled.
    let job = cluster.submit(SLOW);
    eventually("it runs", || cluster.status(&job)["depth"].as_u64() > Some(10));
    expect(0, &mut cluster.client(&format!("cancel {job}")));
    eventually("it is cancelled", || cluster.status(&job)["state"] == "cancelled");
    cluster.assert_no_panic();
}

//! Symbolic jobs in a cluster: one worker holds the whole diagram.

use rustix::process::Signal;

use crate::cluster::faults::SLOW;
use crate::cluster::harness::{COORDINATOR, Cluster, eventually, fails};
use crate::common::{Finished, expect};

fn layers_of_one_process() -> Finished {
    let dir = tempfile::tempdir().unwrap();
    expect(0, &mut crate::common::solve(dir.path(), "panex 6 --engine symbolic"))
}

#[test]
fn a_symbolic_job_survives_the_kill_of_any_node() {
    let mut cluster = Cluster::of(3);
    let follower = cluster.follow(&format!("submit {SLOW} --engine symbolic"));
    let job = follower.job();
    for (depth, killed) in
        [(60, &["w1", "w2", "w3"][..]), (160, &[COORDINATOR]), (260, &["w1", "w2", "w3"])]
    {
        follower.until_depth(depth);
        killed.iter().for_each(|name| cluster.kill(name));
        killed.iter().for_each(|name| cluster.start(name));
    }
    let ran = follower.expect(0);
    assert_eq!(ran.event("result")["moves"], 881);
    assert_eq!(ran.event("job")["engine"], "symbolic");
    let watched = cluster.follow(&format!("watch {job}")).expect(0);
    assert_eq!(watched.layers(), layers_of_one_process().layers());
    cluster.assert_no_panic();
}

#[test]
fn a_symbolic_job_waits_for_the_worker_with_its_diagram() {
    let mut cluster = Cluster::of(1);
    let follower = cluster.follow(&format!("submit {SLOW} --engine symbolic"));
    let job = follower.job();
    follower.until_depth(100);
    cluster.signal("w1", Signal::TERM);
    assert!(cluster.ended("w1").success());
    // One without files cannot continue the job.
    cluster.join("w2", "");
    eventually("the job waits for w1", || {
        cluster.status(&job)["waiting_for"] == serde_json::json!(["w1"])
    });
    cluster.start("w1");
    let ran = follower.expect(0);
    assert_eq!(ran.event("result")["moves"], 881);
    assert_eq!(cluster.status(&job)["state"], "done");
    fails(2, &mut cluster.client("submit hanoi 3 --pegs 7 --engine symbolic"), "symbolic");
}

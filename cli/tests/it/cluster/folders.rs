//! Data directories that are lost, in use or copied.

use std::path::Path;

use crate::cluster::faults::{SLOW, without_w2};
use crate::cluster::harness::{COORDINATOR, Cluster, fails, free_port};
use crate::common::strata;

#[test]
fn a_worker_that_lost_its_folder_is_a_new_worker() {
    let mut cluster = Cluster::empty("--worker-timeout 3s");
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
    let follower = without_w2(&mut cluster, SLOW);
    std::fs::remove_dir_all(cluster.data("w2")).unwrap();
    let mark = cluster.mark(COORDINATOR);
    cluster.start("w2");
    cluster.await_log(COORDINATOR, mark, "worker connected worker=\"w2\" number=3");
    let ran = follower.expect(5);
    // The new worker has the same name, so the lost one is identified by its number.
    assert!(ran.stderr.contains("w2#1 did not reconnect within 3 s"), "{}", ran.stderr);
    // The new worker takes part in the next job.
    let mark = cluster.mark(COORDINATOR);
    cluster.follow("submit panex 6").expect_answer();
    cluster.await_log(COORDINATOR, mark, "workers=w1,w3,w2 from_layer=");
    cluster.assert_no_panic();
}

#[test]
fn a_folder_in_use_is_refused() {
    let cluster = Cluster::of(2);
    let follower = cluster.follow(&format!("submit {SLOW}"));
    follower.until_depth(100);
    let (port, http) = (free_port(), free_port());
    let line = |node: &str, name: &str| {
        format!("{node} --listen 127.0.0.1:{port} --data-dir {}", cluster.data(name).display())
    };
    let coordinator = line("coordinator", COORDINATOR);
    fails(2, &mut strata(&format!("{coordinator} --http 127.0.0.1:{http}")), "in use");
    let worker = line("worker", "w1");
    fails(2, &mut strata(&format!("{worker} --coordinator {}", cluster.url())), "in use");
    follower.expect_answer();
    let log = cluster.log(COORDINATOR);
    assert!(!log.contains("is lost"), "{log}");
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn a_copy_of_a_worker_fails_the_job_until_it_is_stopped() {
    let mut cluster = Cluster::of(2);
    cluster.kill("w2");
    copy(&cluster.data("w2"), &cluster.data("copy"));
    cluster.start("w2");
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let job = follower.job();
    follower.until_depth(150);
    let mark = cluster.mark(COORDINATOR);
    cluster.join("copy", "");
    cluster.await_log(COORDINATOR, mark, "a newer connection has replaced it");
    // Either the copy is asked for a file of the checkpoint that it does not have, or both workers
    // have replaced each other so often that they are detected.
    let ran = follower.expect(12);
    let named = ["worker copy: ", "another process has its identity"];
    assert!(named.iter().any(|text| ran.stderr.contains(text)), "{}", ran.stderr);
    cluster.kill("copy");
    cluster.follow(&format!("resume {job}")).expect_answer();
    cluster.assert_no_panic();
}

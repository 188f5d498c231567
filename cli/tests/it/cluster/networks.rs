//! Network cuts, short and long, and damaged messages.

use std::time::{Duration, Instant};

use crate::cluster::faults::SLOW;
use crate::cluster::follower::Follower;
use crate::cluster::harness::{COORDINATOR, Cluster, eventually, free_port};
use crate::cluster::proxy::{LinkMode, Proxy};

/// A followed job, in a cluster with one link that can be interrupted.
struct LinkFault {
    cluster: Cluster,
    proxy: Proxy,
    follower: Follower,
    mark: usize,
}

impl LinkFault {
    /// The link between the coordinator and `w2`.
    fn to_coordinator(lease: &str) -> LinkFault {
        let mut cluster = Cluster::empty(&format!("--lease {lease}"));
        let proxy = Proxy::to(cluster.grpc);
        cluster.join("w1", "");
        cluster.join("w2", &format!("--coordinator {}", proxy.url()));
        LinkFault::start(cluster, proxy)
    }

    /// The connections to `w2` over which other workers send exits.
    fn between_workers(lease: &str) -> LinkFault {
        let mut cluster = Cluster::empty(&format!("--lease {lease}"));
        let port = free_port();
        let proxy = Proxy::to(port);
        cluster.join("w1", "");
        cluster.join("w2", &format!("--listen 127.0.0.1:{port} --advertise {}", proxy.url()));
        LinkFault::start(cluster, proxy)
    }

    fn start(cluster: Cluster, proxy: Proxy) -> LinkFault {
        let mark = cluster.mark(COORDINATOR);
        let follower = cluster.follow(&format!("submit {SLOW}"));
        follower.until_depth(150);
        LinkFault { cluster, proxy, follower, mark }
    }

    /// Puts the link into a mode for some milliseconds.
    fn interrupt(&self, mode: LinkMode, milliseconds: u64) {
        self.proxy.set_mode(mode);
        std::thread::sleep(Duration::from_millis(milliseconds));
        self.proxy.set_mode(LinkMode::Forward);
    }

    fn log(&self) -> String {
        self.cluster.log(COORDINATOR)[self.mark..].to_owned()
    }

    /// Waits for the result, and asserts that no session was repeated.
    fn finish_without_rollback(self) {
        let LinkFault { cluster, proxy, follower, mark } = self;
        follower.expect_answer();
        let log = cluster.log(COORDINATOR)[mark..].to_owned();
        assert!(!log.contains("back to the last checkpoint"), "{log}");
        cluster.assert_no_panic();
        drop(proxy);
    }
}

#[test]
fn a_short_cut_between_coordinator_and_worker_has_no_effect() {
    let fault = LinkFault::to_coordinator("6s");
    for (round, mode) in [LinkMode::Stall, LinkMode::Broken].into_iter().enumerate() {
        fault.interrupt(mode, 1200);
        fault.follower.until_depth(200 + 50 * round as u64);
    }
    fault.finish_without_rollback();
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn a_short_cut_between_workers_has_no_effect() {
    let fault = LinkFault::between_workers("6s");
    for (round, mode) in [LinkMode::Stall, LinkMode::Broken].into_iter().enumerate() {
        fault.interrupt(mode, 1200);
        fault.follower.until_depth(200 + 50 * round as u64);
    }
    fault.finish_without_rollback();
}

#[test]
fn a_job_recovers_from_a_long_cut_between_coordinator_and_worker() {
    let fault = LinkFault::to_coordinator("1s");
    for (round, mode) in [LinkMode::Stall, LinkMode::Broken].into_iter().enumerate() {
        let mark = fault.cluster.mark(COORDINATOR);
        fault.proxy.set_mode(mode);
        fault.cluster.await_log(COORDINATOR, mark, "worker w2 is lost");
        fault.cluster.await_log(COORDINATOR, mark, "waiting for w2");
        fault.proxy.set_mode(LinkMode::Forward);
        fault.cluster.await_log(COORDINATOR, mark, "session started");
        fault.follower.until_depth(200 + 50 * round as u64);
    }
    fault.follower.expect_answer();
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn a_job_recovers_from_a_long_cut_between_workers() {
    let fault = LinkFault::between_workers("1s");
    fault.proxy.set_mode(LinkMode::Broken);
    // New sessions start until one succeeds.
    let tries = || fault.log().matches("back to the last checkpoint").count();
    eventually("two sessions have failed", || tries() >= 2);
    assert!(!fault.log().contains("is lost"), "{}", fault.log());
    fault.proxy.set_mode(LinkMode::Forward);
    fault.follower.expect_answer();
}

#[test]
fn a_stalled_connection_between_workers_is_detected() {
    let fault = LinkFault::between_workers("1s");
    fault.proxy.set_mode(LinkMode::Stall);
    let begun = Instant::now();
    eventually("the session has failed", || fault.log().contains("back to the last checkpoint"));
    let took = begun.elapsed();
    fault.proxy.set_mode(LinkMode::Forward);
    fault.follower.expect_answer();
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// A job over a link that flips bits ends with the right numbers.
fn damaged(fault: LinkFault) {
    fault.proxy.set_mode(LinkMode::Damage);
    fault.follower.expect_answer();
    assert!(fault.proxy.damaged() > 3, "{} bits were flipped", fault.proxy.damaged());
    fault.cluster.assert_no_panic();
}

#[test]
fn flipped_bits_between_coordinator_and_worker_change_no_number() {
    damaged(LinkFault::to_coordinator("1s"));
}

#[test]
fn flipped_bits_between_workers_change_no_number() {
    damaged(LinkFault::between_workers("1s"));
}

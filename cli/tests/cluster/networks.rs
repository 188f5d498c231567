//! Network cuts, short and long.

use std::time::{Duration, Instant};

use crate::faults::SLOW;
use crate::follower::Follower;
use crate::harness::{COORDINATOR, Cluster, eventually, free_port};
use crate::proxy::{Cable, Proxy};

/// A job that is being followed, in a cluster in which a cable can be cut.
struct Cut {
    cluster: Cluster,
    proxy: Proxy,
    follower: Follower,
    mark: usize,
}

impl Cut {
    /// Between the coordinator and `w2`.
    fn off_the_coordinator(lease: &str) -> Cut {
        let mut cluster = Cluster::empty(&format!("--lease {lease}"));
        let proxy = Proxy::to(cluster.grpc);
        cluster.join("w1", "");
        cluster.join("w2", &format!("--coordinator {}", proxy.url()));
        Cut::begun(cluster, proxy)
    }

    /// Between `w2` and whoever sends it exits.
    fn off_the_others(lease: &str) -> Cut {
        let mut cluster = Cluster::empty(&format!("--lease {lease}"));
        let port = free_port();
        let proxy = Proxy::to(port);
        cluster.join("w1", "");
        cluster.join("w2", &format!("--listen 127.0.0.1:{port} --advertise {}", proxy.url()));
        Cut::begun(cluster, proxy)
    }

    fn begun(cluster: Cluster, proxy: Proxy) -> Cut {
        let mark = cluster.mark(COORDINATOR);
        let follower = cluster.follow(&format!("submit {SLOW}"));
        follower.until_depth(150);
        Cut { cluster, proxy, follower, mark }
    }

    /// Cuts the cable for so long.
    fn cut(&self, cable: Cable, milliseconds: u64) {
        self.proxy.make(cable);
        std::thread::sleep(Duration::from_millis(milliseconds));
        self.proxy.make(Cable::Whole);
    }

    fn log(&self) -> String {
        self.cluster.log(COORDINATOR)[self.mark..].to_owned()
    }

    /// The end of a job that no fault has held up.
    fn undisturbed(self) {
        let Cut { cluster, proxy, follower, mark } = self;
        follower.expect_answer();
        let log = cluster.log(COORDINATOR)[mark..].to_owned();
        assert!(!log.contains("back to the last checkpoint"), "{log}");
        cluster.assert_no_panic();
        drop(proxy);
    }
}

#[test]
fn a_short_cut_between_coordinator_and_worker_has_no_effect() {
    let cut = Cut::off_the_coordinator("6s");
    for (round, cable) in [Cable::Silent, Cable::Broken].into_iter().enumerate() {
        cut.cut(cable, 1200);
        cut.follower.until_depth(200 + 50 * round as u64);
    }
    cut.undisturbed();
}

#[test]
fn a_short_cut_between_workers_has_no_effect() {
    let cut = Cut::off_the_others("6s");
    for (round, cable) in [Cable::Silent, Cable::Broken].into_iter().enumerate() {
        cut.cut(cable, 1200);
        cut.follower.until_depth(200 + 50 * round as u64);
    }
    cut.undisturbed();
}

#[test]
fn a_job_recovers_from_a_long_cut_between_coordinator_and_worker() {
    let cut = Cut::off_the_coordinator("1s");
    for (round, cable) in [Cable::Silent, Cable::Broken].into_iter().enumerate() {
        let mark = cut.cluster.mark(COORDINATOR);
        cut.proxy.make(cable);
        cut.cluster.await_log(COORDINATOR, mark, "worker w2 is lost");
        cut.cluster.await_log(COORDINATOR, mark, "waiting for w2");
        cut.proxy.make(Cable::Whole);
        cut.cluster.await_log(COORDINATOR, mark, "session epoch=");
        cut.follower.until_depth(200 + 50 * round as u64);
    }
    cut.follower.expect_answer();
}

#[test]
fn a_job_recovers_from_a_long_cut_between_workers() {
    let cut = Cut::off_the_others("1s");
    cut.proxy.make(Cable::Broken);
    // Session after session is tried.
    let tries = || cut.log().matches("back to the last checkpoint").count();
    eventually("two sessions are given up", || tries() >= 2);
    assert!(!cut.log().contains("is lost"), "{}", cut.log());
    cut.proxy.make(Cable::Whole);
    cut.follower.expect_answer();
}

#[test]
fn a_long_silence_between_workers_is_detected() {
    let cut = Cut::off_the_others("1s");
    cut.proxy.make(Cable::Silent);
    let begun = Instant::now();
    eventually("the session is given up", || cut.log().contains("back to the last checkpoint"));
    let took = begun.elapsed();
    cut.proxy.make(Cable::Whole);
    cut.follower.expect_answer();
    assert!(took < Duration::from_secs(5), "{took:?}");
}

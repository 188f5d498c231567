//! Counts and digests do not depend on the number of workers.

use crate::cluster::harness::{COORDINATOR, Cluster};
use crate::common::{expect, solve};

#[test]
fn three_workers_find_the_layers_of_solve() {
    let cluster = Cluster::of(3);
    for shards in [4, 64] {
        let mark = cluster.mark(COORDINATOR);
        let ran = cluster.follow(&format!("submit panex 6 --shards {shards}")).expect_answer();
        let job = ran.event("job")["job"].as_str().unwrap().to_owned();
        let log = cluster.log(COORDINATOR)[mark..].to_owned();
        assert!(!log.contains("WARN"), "{log}");
        assert!(log.contains("workers=w1,w2,w3"), "{log}");
        let status = cluster.status(&job);
        assert_eq!((&status["state"], &status["exit_code"]), (&"done".into(), &0.into()));
        assert_eq!(status["result"]["digest"], ran.event("result")["digest"]);
        let csv = expect(0, &mut cluster.client(&format!("stats {job} --format csv"))).stdout;
        assert_eq!(csv.lines().count(), ran.layers().len() + 1);
    }
    cluster.assert_no_panic();
}

#[test]
fn tiles_and_hanoi_have_the_layers_of_one_process() {
    let cluster = Cluster::of(2);
    for space in ["tiles 3x3 --exhaust", "hanoi 6 --pegs 4"] {
        let dir = tempfile::tempdir().unwrap();
        let here = expect(0, &mut solve(dir.path(), space));
        let there = cluster.follow(&format!("submit {space} --shards 16")).expect(0);
        assert_eq!(there.layers(), here.layers(), "{space}");
    }
    cluster.assert_no_panic();
}

//! Expansions that workers send each other.

use crate::cluster::harness::Cluster;
use crate::common::{Finished, expect, solve};

const PANEX: &str = "panex 5 --engine explicit";

/// Expansions that were looked up in all layers: found, and computed.
fn looked_up(ran: &Finished) -> [u64; 2] {
    let layers = ran.events("layer");
    let sum = |field: &str| layers.iter().map(|layer| layer[field].as_u64().unwrap()).sum();
    ["memo_hits", "memo_misses"].map(sum)
}

/// Without sending, three workers compute 3,602 expansions instead of 3,495.
#[test]
fn workers_together_compute_about_as_many_expansions_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let alone = expect(0, &mut solve(dir.path(), PANEX));
    let mut cluster = Cluster::empty("--narrow 1");
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
    let line = format!("--json --progress none submit {PANEX}");
    let together = expect(0, &mut cluster.client(&line));
    assert_eq!(together.layers(), alone.layers());
    let ([hits, misses], [found, computed]) = (looked_up(&alone), looked_up(&together));
    assert_eq!(found + computed, hits + misses);
    assert!(computed < misses + 20, "{computed} instead of {misses}");
    cluster.assert_no_panic();
}

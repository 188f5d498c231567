//! Searches with wide keys: local parts of more than 32 bits in files, batches and look-ups of
//! states.

use crate::cluster::follower::table;
use crate::cluster::harness::Cluster;
use crate::common::{expect, solve};

const CUBE: &str = concat!(
    "puzzle ",
    env!("CARGO_MANIFEST_DIR"),
    "/../puzzles/data/3x3x3.tws --engine explicit --shards 16"
);

#[test]
fn layers_with_wide_keys_are_those_of_one_process_after_faults() {
    let dir = tempfile::tempdir().unwrap();
    let line = format!("{CUBE} --symmetry on --max-layers 6");
    let expected = expect(4, &mut solve(dir.path(), &line));
    let states: Vec<u64> = expected.layers().iter().map(|layer| layer.1).collect();
    assert_eq!(states, [1, 2, 9, 75, 934, 12_077, 159_131]);
    let mut cluster = Cluster::empty("--narrow 1");
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
    let follower = cluster.follow(&format!("submit {line} --checkpoint-interval 1ms"));
    follower.until_depth(3);
    cluster.kill("w2");
    cluster.start("w2");
    follower.until_depth(4);
    cluster.kill_all();
    cluster.start_all();
    let job = follower.job();
    assert_eq!(table(&follower.expect(4)), expected.layers());
    let verified = expect(0, &mut cluster.client(&format!("verify {job}")));
    assert!(verified.stdout.contains("172,229"), "{}", verified.stdout);
    cluster.assert_no_panic();
}

const CUBE_OF_FOUR: &str = concat!(
    "puzzle ",
    env!("CARGO_MANIFEST_DIR"),
    "/../puzzles/data/4x4x4.tws --engine explicit --shards 16"
);

/// Keys of 157 bits: regions have 31.
#[test]
fn layers_with_keys_of_more_than_128_bits_are_those_of_one_process_after_faults() {
    let dir = tempfile::tempdir().unwrap();
    let line = format!("{CUBE_OF_FOUR} --max-layers 4");
    let expected = expect(4, &mut solve(dir.path(), &line));
    let states: Vec<u64> = expected.layers().iter().map(|layer| layer.1).collect();
    assert_eq!(states[..4], [1, 36, 1026, 28_812]);
    let mut cluster = Cluster::empty("--narrow 1");
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
    let follower = cluster.follow(&format!("submit {line} --checkpoint-interval 1ms"));
    follower.until_depth(2);
    cluster.kill("w2");
    cluster.start("w2");
    follower.until_depth(3);
    cluster.kill_all();
    cluster.start_all();
    let job = follower.job();
    assert_eq!(table(&follower.expect(4)), expected.layers());
    let verified = expect(0, &mut cluster.client(&format!("verify {job}")));
    let all: u64 = states.iter().sum();
    let digits = all.to_string();
    assert!(verified.stdout.replace(',', "").contains(&digits), "{}", verified.stdout);
    cluster.assert_no_panic();
}

#[test]
fn a_path_with_wide_keys_is_found_in_the_files_of_all_workers() {
    let cluster = Cluster::of(2);
    let goal = cluster.path().join("goal");
    for (cube, moves) in
        [(CUBE, &["R", "U", "F2", "D'", "L"][..]), (CUBE_OF_FOUR, &["R", "u", "F2"][..])]
    {
        std::fs::write(&goal, format!("{}\n", moves.join(" "))).unwrap();
        let line = format!("{cube} --goal @{} --keep-layers all", goal.display());
        let submit = &mut cluster.client(&format!("--json --progress none submit {line}"));
        let ran = expect(0, submit);
        assert_eq!(ran.event("result")["moves"], moves.len());
        let job = ran.event("job")["job"].as_str().unwrap().to_owned();
        let path = expect(0, &mut cluster.client(&format!("path {job} --progress none"))).stdout;
        assert_eq!(path.lines().collect::<Vec<_>>(), moves);
    }
    cluster.assert_no_panic();
}

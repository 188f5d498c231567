//! Searches with moves that cannot be undone: their checkpoints have files of older layers.

use crate::cluster::elastic::drain;
use crate::cluster::follower::table;
use crate::cluster::harness::Cluster;
use crate::common::{expect, solve};

#[test]
fn layers_are_those_of_one_process_after_faults_and_moves_of_shards() {
    after_faults_and_moves_of_shards("lx 9 --engine explicit --shards 16");
}

#[test]
fn dense_layers_are_those_of_one_process_after_faults_and_moves_of_shards() {
    after_faults_and_moves_of_shards("lx 9 --engine dense --shards 16");
}

fn after_faults_and_moves_of_shards(line: &str) {
    let dir = tempfile::tempdir().unwrap();
    let expected = expect(0, &mut solve(dir.path(), line));
    let mut cluster = Cluster::empty("--narrow 1");
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
    let follower = cluster.follow(&format!("submit {line} --checkpoint-interval 1ms"));
    follower.until_depth(6);
    cluster.kill("w2");
    cluster.start("w2");
    follower.until_depth(12);
    // Its shards go to the others, with the older layers.
    drain(&mut cluster, "w1", "w2,w3");
    follower.until_depth(16);
    cluster.kill_all();
    cluster.start_all();
    let job = follower.job();
    let ran = follower.expect(0);
    assert_eq!(table(&ran), expected.layers());
    assert_eq!(ran.event("result")["layers"], 45);
    assert_eq!(ran.event("result")["digest"], expected.event("result")["digest"]);
    let verified = expect(0, &mut cluster.client(&format!("verify {job}")));
    assert!(verified.stdout.contains("362,880"), "{}", verified.stdout);
    cluster.assert_no_panic();
}

/// Clockwise moves of tiles: some states stand for no position, and the last layers have no
/// positions.
#[test]
fn clockwise_walks_have_the_layers_of_one_process() {
    const LINE: &str = "tiles 3x3 --moves clockwise --exhaust --engine explicit --shards 16";
    let dir = tempfile::tempdir().unwrap();
    let expected = expect(0, &mut solve(dir.path(), LINE));
    let mut cluster = Cluster::empty("--narrow 1");
    (1..=2).for_each(|number| cluster.join(&format!("w{number}"), ""));
    let follower = cluster.follow(&format!("submit {LINE} --checkpoint-interval 1ms"));
    follower.until_depth(20);
    cluster.kill("w2");
    cluster.start("w2");
    let job = follower.job();
    let ran = follower.expect(0);
    assert_eq!(table(&ran), expected.layers());
    let result = ran.event("result");
    assert_eq!(result["positions"], 181_440);
    assert_eq!(result["farthest"], serde_json::json!({"depth": 46, "positions": 9}));
    assert_eq!(result["digest"], expected.event("result")["digest"]);
    expect(0, &mut cluster.client(&format!("verify {job}")));
    let status = expect(0, &mut cluster.client(&format!("status {job}"))).stdout;
    assert!(status.contains("tiles-3x3-clockwise: whole space\n"), "{status}");
    cluster.assert_no_panic();
}

#[test]
fn a_path_of_a_job_follows_the_moves() {
    let cluster = Cluster::of(2);
    let goal = cluster.path().join("goal");
    std::fs::write(&goal, "7 6 5 4 3 2 1\n").unwrap();
    let line = format!("lx 7 --engine explicit --goal @{} --keep-layers all", goal.display());
    let submit = &mut cluster.client(&format!("--json --progress none submit {line}"));
    let ran = expect(0, submit);
    let moves = ran.event("result")["moves"].as_u64().unwrap();
    let job = ran.event("job")["job"].as_str().unwrap().to_owned();
    let path = expect(0, &mut cluster.client(&format!("path {job} --progress none"))).stdout;
    let moved = |row: Vec<u32>, name: &str| match name {
        "L" => [&row[1..], &row[..1]].concat(),
        "X" => [&[row[1], row[0]], &row[2..]].concat(),
        other => panic!("{other} is no move of {line}"),
    };
    let end = path.lines().fold((1..=7).collect(), moved);
    assert_eq!((path.lines().count() as u64, end), (moves, vec![7, 6, 5, 4, 3, 2, 1]));
    cluster.assert_no_panic();
}

//! Dense jobs in a cluster: every worker makes the layers of its blocks from the files of all.

use rustix::process::Signal;

use crate::cluster::disks::layer_files;
use crate::cluster::follower::Follower;
use crate::cluster::harness::{COORDINATOR, Cluster};
use crate::common::{Finished, expect, solve};

/// A job of 51 layers and 4,194,304 states.
const HANOI: &str = "hanoi 11 --pegs 4 --exhaust --engine dense";

/// The layers of a search in one process.
fn layers_of_one_process(line: &str) -> Finished {
    let dir = tempfile::tempdir().unwrap();
    expect(0, &mut solve(dir.path(), line))
}

/// Waits for the end of a job, which has the layers of a search in one process.
fn expect_layers(cluster: &Cluster, follower: Follower, here: &Finished) {
    let job = follower.job();
    follower.expect(0);
    let watched = cluster.follow(&format!("watch {job}")).expect(0);
    assert_eq!((watched.layers(), watched.orbits()), (here.layers(), here.orbits()));
    assert_eq!(watched.event("result")["orbits"], here.event("result")["orbits"]);
    cluster.assert_no_panic();
}

#[test]
fn dense_jobs_of_one_to_three_workers_have_the_layers_of_solve() {
    let here = layers_of_one_process(HANOI);
    for workers in 1..=3 {
        let cluster = Cluster::of(workers);
        let there = cluster.follow(&format!("submit {HANOI}")).expect(0);
        assert_eq!(there.layers(), here.layers(), "{workers} workers");
        assert_eq!(there.event("job")["engine"], "dense");
        let job = there.event("job")["job"].as_str().unwrap().to_owned();
        // All workers took part; each has the files of the last two layers, the mark of the
        // journal, and nothing else.
        for worker in 1..=workers {
            let folder = cluster.data(&format!("w{worker}")).join(&job);
            let all = std::fs::read_dir(&folder).unwrap().count();
            let layers = layer_files(&folder).len();
            assert_eq!((layers, all), (2, 3), "worker {worker} of {workers}");
        }
        cluster.assert_no_panic();
    }
}

#[test]
fn a_dense_job_stops_at_its_goal_and_has_the_digests_of_an_explicit_one() {
    let cluster = Cluster::of(2);
    let goals = cluster.path().join("goals");
    std::fs::write(&goals, "1 7 5 3 6 2 8 4\n2 1 4 3 6 5 8 7\n").unwrap();
    let line = format!("pancake 8 --goal @{}", goals.display());
    let dense = cluster.follow(&format!("submit {line} --engine dense")).expect(0);
    let explicit = layers_of_one_process(&format!("{line} --engine explicit"));
    assert_eq!(dense.event("result")["moves"], explicit.event("result")["moves"]);
    let exhausted = "pancake 8";
    let dense = cluster.follow(&format!("submit {exhausted} --engine dense")).expect(0);
    let explicit = layers_of_one_process(&format!("{exhausted} --engine explicit"));
    assert_eq!(dense.layers(), explicit.layers());
    cluster.assert_no_panic();
}

#[test]
fn a_dense_job_survives_the_kill_of_any_node() {
    let here = layers_of_one_process(HANOI);
    let mut cluster = Cluster::of(3);
    let follower = cluster.follow(&format!("submit {HANOI} --checkpoint-interval 1ms"));
    let kills = [(8, &["w2"][..]), (20, &["w1", "w3"]), (28, &[COORDINATOR]), (34, &["w3"])];
    for (depth, killed) in kills {
        follower.until_depth(depth);
        killed.iter().for_each(|name| cluster.kill(name));
        killed.iter().for_each(|name| cluster.start(name));
    }
    expect_layers(&cluster, follower, &here);
}

#[test]
fn blocks_move_when_a_worker_leaves_or_joins() {
    let larger = HANOI.replace("11", "12");
    let here = layers_of_one_process(&larger);
    let mut cluster = Cluster::of(1);
    let follower = cluster.follow(&format!("submit {larger} --checkpoint-interval 1ms"));
    follower.until_depth(15);
    let mark = cluster.mark(COORDINATOR);
    cluster.join("w2", "");
    cluster.await_log(COORDINATOR, mark, "workers=w1,w2 from_layer=");
    cluster.signal("w1", Signal::TERM);
    assert!(cluster.ended("w1").success());
    cluster.await_log(COORDINATOR, mark, "workers=w2 from_layer=");
    expect_layers(&cluster, follower, &here);
}

#[test]
fn a_damaged_file_of_a_dense_job_is_detected() {
    let mut cluster = Cluster::of(2);
    let limited = format!("submit {HANOI} --max-layers 25");
    let job = cluster.follow(&limited).expect(4).event("job")["job"].as_str().unwrap().to_owned();
    cluster.kill_all();
    let (path, mut bytes) = layer_files(&cluster.data("w2").join(&job)).pop().unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    cluster.start_all();
    let ran = cluster.follow(&format!("resume {job}")).expect(12);
    let error = ran.event("failed")["error"].as_str().unwrap().to_owned();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(error.contains(name) && error.contains("w2"), "{error}");
    cluster.assert_no_panic();
}

#[test]
fn folded_blocks_of_several_workers_yield_a_path_to_the_goal_itself() {
    let mut cluster = Cluster::of(3);
    let goals = cluster.path().join("goals");
    std::fs::write(&goals, "UFR DBL UBL DFL2\n").unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../puzzles/data/skewb-diamond.tws");
    let line = format!("puzzle {file} --symmetry on --engine dense");
    let here = layers_of_one_process(&line);
    let follower = cluster.follow(&format!("submit {line} --checkpoint-interval 1ms"));
    follower.until_depth(3);
    cluster.kill("w2");
    cluster.start("w2");
    expect_layers(&cluster, follower, &here);
    assert!(here.orbits().iter().all(Option::is_some));
    let states: u64 = here.layers().iter().map(|layer| layer.1).sum();
    let positions: u64 = here.layers().iter().map(|layer| layer.4).sum();
    assert!(positions == 1_658_880 && 2 * states <= positions, "{states} of {positions}");

    let line = format!("{line} --goal @{} --keep-layers all", goals.display());
    let ran = cluster.follow(&format!("submit {line}")).expect(0);
    let (job, moves) = (ran.event("job")["job"].clone(), ran.event("result")["moves"].clone());
    let path = format!("--json path {} --progress none", job.as_str().unwrap());
    let path = expect(0, &mut cluster.client(&path)).event("path");
    assert_eq!(moves, path["moves"].as_array().unwrap().len());
    let plain = layers_of_one_process(&format!(
        "puzzle {file} --engine dense --path --goal @{}",
        goals.display()
    ));
    assert_eq!(plain.event("result")["moves"], moves);
    let ends = |path: &serde_json::Value| {
        let positions = path["positions"].as_array().unwrap();
        [positions.first().cloned(), positions.last().cloned()]
    };
    assert_eq!(ends(&plain.event("path")), ends(&path));
    cluster.assert_no_panic();
}

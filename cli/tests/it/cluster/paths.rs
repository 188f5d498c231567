//! Paths of a cluster's job, traced through layers that several workers have kept.

use std::io::Write;
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Instant;

use rustix::process::{Pid, Signal};

use crate::cluster::faults::SLOW;
use crate::cluster::harness::{COORDINATOR, Cluster, eventually, fails};
use crate::common::{Finished, expect, strata};

/// `strata replay` of some moves.
fn replay(line: &str, moves: &str) -> Finished {
    let mut command = strata(&format!("replay {line}"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(moves.as_bytes()).unwrap();
    Finished::of(child.wait_with_output().unwrap())
}

/// The number of connected workers.
fn alive(cluster: &Cluster) -> usize {
    let workers = expect(0, &mut cluster.client("status --json")).events("worker");
    workers.iter().filter(|worker| worker["alive"] == true).count()
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn a_path_is_traced_through_layers_of_several_workers() {
    let mut cluster = Cluster::of(3);
    let job = cluster.follow("submit panex 6 --keep-layers all").expect_answer();
    let job = job.event("job")["job"].as_str().unwrap().to_owned();
    let path = format!("path {job} --progress none");
    let ran = expect(0, &mut cluster.client(&path));
    assert_eq!(ran.stdout.lines().count(), 881);
    let replayed = replay("panex 6 --goal exchanged", &ran.stdout);
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    // A container has no folder for temporary files.
    let mut without = cluster.client(&path);
    let without = without.env("TMPDIR", "/no/such/folder").env("STRATA_DATA_DIR", "/dev/null");
    assert_eq!(expect(0, without).stdout, ran.stdout);
    // The path is the same after a restart of all nodes.
    cluster.kill_all();
    cluster.start_all();
    eventually("all workers", || alive(&cluster) == 3);
    assert_eq!(expect(0, &mut cluster.client(&path)).stdout, ran.stdout);
    let mut words = cluster.client(&format!("{path} --path-format words --json"));
    let moves = expect(0, &mut words).event("path")["moves"].clone();
    assert_eq!(moves.as_array().unwrap().len(), 881);
    cluster.assert_no_panic();

    let files = std::fs::read_dir(cluster.data("w1").join(&job)).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    let layers = files.iter().filter(|file| file.to_string_lossy().contains("/layer-"));
    layers.for_each(|layer| std::fs::write(layer, b"no layer").unwrap());
    fails(12, &mut cluster.client(&path), "worker w1: ");
    cluster.kill("w1");
    eventually("a lost worker", || alive(&cluster) == 2);
    fails(10, &mut cluster.client(&path), "is not connected");
}

#[test]
fn a_path_between_any_two_positions_is_traced() {
    let cluster = Cluster::of(2);
    let ends = ["b2 b4 / b1 o3 / o1 b3 o2 o4", "- / b1 b2 o3 / o1 o2 b3 b4 o4"];
    let mut submit = cluster.client("submit panex 4 --keep-layers all --json --progress none");
    let ran = expect(0, submit.args(["--start", ends[0], "--goal", ends[1]]));
    let (job, moves) = (ran.event("job")["job"].clone(), ran.event("result")["moves"].clone());
    let job = job.as_str().unwrap();
    let file = cluster.path().join("moves");
    let mut path = cluster.client(&format!("path {job} --progress none"));
    let ran = expect(0, path.arg("--path-file").arg(&file));
    assert!(ran.stdout.starts_with(&format!("  path        {moves} moves in ")), "{}", ran.stdout);
    let mut command = strata("replay panex 4");
    command.args(["--start", ends[0], "--goal", ends[1]]).stdin(std::fs::File::open(file).unwrap());
    expect(0, &mut command);
}

#[test]
fn moves_of_sliding_tiles_are_traced_back() {
    let cluster = Cluster::of(2);
    let start = "8 6 7 / 2 5 4 / 3 _ 1";
    let mut submit = cluster.client("submit tiles 3x3 --keep-layers all --json --progress none");
    let ran = expect(0, submit.args(["--start", start]));
    let job = ran.event("job")["job"].as_str().unwrap().to_owned();
    let ran = expect(0, &mut cluster.client(&format!("path {job} --progress none")));
    let mut board: strata_replay::tiles::Board = start.parse().unwrap();
    let word: strata_replay::tiles::Word =
        ran.stdout.split_whitespace().collect::<String>().parse().unwrap();
    assert!(word.iter().all(|mv| board.step(*mv)));
    assert_eq!((word.len(), board.to_string()), (31, "1 2 3 / 4 5 6 / 7 8 _".to_owned()));
}

#[test]
fn jobs_without_a_path_are_refused() {
    let cluster = Cluster::of(1);
    for (line, reason) in [
        ("panex 3", "has kept layers: last; a path needs one submitted with --keep-layers all"),
        ("panex 3 --keep-layers every:5", "has kept layers: every:5"),
        ("panex 3 --keep-layers all --exhaust", "has reached no goal"),
        ("panex 3 --keep-layers all --max-layers 5", "is stopped: it has no path"),
    ] {
        let ran = Finished::of(cluster.client(&format!("submit {line} --json")).output().unwrap());
        let job = ran.event("job")["job"].as_str().unwrap().to_owned();
        fails(2, &mut cluster.client(&format!("path {job}")), reason);
    }
    fails(11, &mut cluster.client("path weekly"), "weekly");
}

#[test]
fn a_path_of_a_dense_job_is_traced_through_files_of_several_workers() {
    let cluster = Cluster::of(3);
    let goals = cluster.path().join("goals");
    std::fs::write(&goals, "1 7 5 3 6 2 8 4\n").unwrap();
    let line = format!("pancake 8 --goal @{}", goals.display());
    let ran = cluster.follow(&format!("submit {line} --engine dense --keep-layers all")).expect(0);
    let (job, moves) = (ran.event("job")["job"].clone(), ran.event("result")["moves"].clone());
    let job = job.as_str().unwrap();
    let path = format!("path {job} --progress none");
    let ran = expect(0, &mut cluster.client(&path));
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert_eq!(moves, words.len());
    // Reversals of the first pancakes, by rules of its own.
    let mut stack: Vec<&str> = vec!["1", "2", "3", "4", "5", "6", "7", "8"];
    for word in words {
        let top: usize = word.strip_prefix('r').unwrap().parse().unwrap();
        stack[..top].reverse();
    }
    assert_eq!(stack.join(" "), "1 7 5 3 6 2 8 4");

    let job = cluster.follow("submit pancake 7 --goal r3 --engine dense").expect(0);
    let job = job.event("job")["job"].as_str().unwrap().to_owned();
    fails(2, &mut cluster.client(&format!("path {job}")), "--keep-layers all");
    cluster.assert_no_panic();
}

/// A symbolic job that is done.
fn symbolic(cluster: &Cluster, line: &str) -> String {
    let ran = cluster.follow(&format!("submit {line} --engine symbolic")).expect(0);
    ran.event("job")["job"].as_str().unwrap().to_owned()
}

#[test]
fn a_worker_searches_again_for_the_path_of_a_symbolic_job() {
    let cluster = Cluster::of(2);
    let job = symbolic(&cluster, "panex 6");
    let ran = expect(0, &mut cluster.client(&format!("path {job} --progress none")));
    assert_eq!(ran.stdout.lines().count(), 881);
    let replayed = replay("panex 6 --goal exchanged", &ran.stdout);
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    assert!(ran.stderr.contains("searches again, with all layers in memory"), "{}", ran.stderr);
    // Explicit jobs and whole spaces have no such search; a job that is not done has no path yet.
    for (line, reason) in [
        ("panex 3 --exhaust --engine symbolic", "has reached no goal"),
        ("panex 3 --max-layers 5 --engine symbolic", "is stopped: it has no path"),
        ("panex 3", "needs one submitted with --keep-layers all, or with --engine symbolic"),
    ] {
        let ran = Finished::of(cluster.client(&format!("submit {line} --json")).output().unwrap());
        let job = ran.event("job")["job"].as_str().unwrap().to_owned();
        fails(2, &mut cluster.client(&format!("path {job}")), reason);
    }
    cluster.assert_no_panic();
}

#[test]
fn a_search_for_a_path_waits_for_a_worker_without_a_job() {
    let cluster = Cluster::of(1);
    let done = symbolic(&cluster, "panex 5");
    let running = cluster.follow(&format!("submit {SLOW}"));
    running.until_depth(20);
    let mut path = cluster.client(&format!("path {done} --progress none"));
    let path = path.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    running.expect_answer();
    let ran = Finished::of(path.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(0), 343), "{}", ran.stderr);
    assert!(ran.stderr.contains("waiting until a worker runs no job"), "{}", ran.stderr);
    cluster.assert_no_panic();
}

/// The number of sockets of a process.
fn sockets(pid: Pid) -> usize {
    let files = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).unwrap();
    let targets = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    targets.filter(|target| target.to_string_lossy().starts_with("socket:")).count()
}

#[test]
fn a_search_for_the_page_ends_with_the_coordinator() {
    let mut cluster = Cluster::of(1);
    let done = symbolic(&cluster, "panex 5");
    let running = cluster.submit("panex 8");
    eventually("a running job", || cluster.status(&running)["depth"].as_u64() > Some(5));
    let mut page = TcpStream::connect(("127.0.0.1", cluster.http)).unwrap();
    let coordinator = cluster.pid(COORDINATOR);
    let before = sockets(coordinator);
    let request = format!("GET /api/jobs/{done}/solution HTTP/1.1");
    write!(page, "{request}\r\nHost: localhost\r\n\r\n").unwrap();
    // The coordinator calls itself, and waits for the worker.
    eventually("a search for the page", || sockets(coordinator) >= before + 2);
    let begun = Instant::now();
    cluster.signal(COORDINATOR, Signal::TERM);
    cluster.ended(COORDINATOR);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn layers_that_do_not_fit_a_worker_are_a_limit() {
    let mut cluster = Cluster::of(1);
    let job = symbolic(&cluster, "panex 8");
    cluster.kill("w1");
    cluster.join("w2", "--memory 32MiB");
    // The first one counts as idle until its lease ends.
    let path = &mut cluster.client(&format!("path {job}"));
    let ran = fails(4, path, "must all fit the --memory of a worker, 32 MiB here");
    assert!(ran.stderr.contains("--engine explicit and --keep-layers all"), "{}", ran.stderr);
    // The worker still works.
    cluster.follow("submit panex 6").expect_answer();
}

//! Several jobs at a time: on different workers, under faults, and in the order of their priorities.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::cluster::faults::SLOW;
use crate::cluster::harness::{COORDINATOR, Cluster, WORKER_READY, eventually, fails, free_port};
use crate::common::expect;

/// A job that runs until a test cancels it.
const LONG: &str = "panex 8 --checkpoint-interval 1ms";

/// Options of a job of several workers.
const WIDE: &str = "--engine explicit --shards 16";

/// Options of a job of one worker.
const SINGLE: &str = "--engine explicit --shards 1";

/// Waits until a job runs on `workers` workers.
fn until_on(cluster: &Cluster, job: &str, workers: u64) {
    let is_on = |status: &Value| {
        (&status["state"], &status["workers"]) == (&json!("running"), &json!(workers))
    };
    eventually(&format!("{job} runs on {workers} workers"), || is_on(&cluster.status(job)));
}

/// Three workers that take part in layers of any width.
fn three_workers() -> Cluster {
    let mut cluster = Cluster::empty("--narrow 1");
    (1..=3).for_each(|number| cluster.join(&format!("w{number}"), ""));
    cluster
}

#[test]
fn a_job_of_one_worker_runs_beside_one_of_several() {
    let cluster = three_workers();
    let wide = cluster.follow(&format!("submit {LONG} {WIDE}"));
    wide.until_depth(20);
    until_on(&cluster, &wide.job(), 3);
    let first = cluster.follow(&format!("submit {LONG} {SINGLE}"));
    let second = cluster.follow(&format!("submit {LONG} {SINGLE}"));
    first.until_depth(5);
    second.until_depth(5);
    let third = cluster.submit(&format!("{SLOW} {SINGLE}"));
    until_on(&cluster, &wide.job(), 1);
    // Each running job keeps a worker.
    let status = cluster.status(&third);
    assert_eq!((&status["state"], &status["queue_position"]), (&json!("queued"), &json!(3)));
    // A job that is cancelled does not stop the others.
    expect(0, &mut cluster.client(&format!("cancel {}", second.job())));
    second.expect(4);
    until_on(&cluster, &third, 1);
    let (_, metrics) = cluster.get("/metrics", "");
    for job in [&wide.job(), &first.job(), &third] {
        assert!(metrics.contains(job.as_str()), "no {job} in {metrics}");
    }
    cluster.follow(&format!("watch {third}")).expect_answer();
    // The job of several workers gets the workers of jobs that have ended.
    until_on(&cluster, &wide.job(), 2);
    expect(0, &mut cluster.client(&format!("cancel {}", first.job())));
    first.expect(4);
    until_on(&cluster, &wide.job(), 3);
    expect(0, &mut cluster.client(&format!("cancel {}", wide.job())));
    wide.expect(4);
    cluster.assert_no_panic();
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn jobs_that_run_beside_one_another_survive_the_kill_of_any_node() {
    let mut cluster = three_workers();
    let wide = cluster.follow(&format!("submit {SLOW} {WIDE}"));
    let single = cluster.follow(&format!("submit {SLOW} {SINGLE}"));
    for (depth, killed) in [(20, "w1"), (60, "w2"), (100, COORDINATOR), (140, "w3")] {
        wide.until_depth(depth);
        single.until_depth(depth);
        cluster.kill(killed);
        cluster.start(killed);
    }
    // All at once.
    cluster.kill_all();
    cluster.start_all();
    single.expect_answer();
    wide.expect_answer();
    cluster.assert_no_panic();
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn a_job_whose_worker_is_gone_waits_while_others_run() {
    let mut cluster = three_workers();
    let single = cluster.follow(&format!("submit {SLOW} {SINGLE}"));
    single.until_depth(50);
    let log = cluster.log(COORDINATOR);
    let has = |worker: &&str| {
        let word = format!("workers={worker}");
        log.lines().any(|line| line.split_whitespace().any(|found| found == word))
    };
    let worker = ["w1", "w2", "w3"].into_iter().find(has);
    let worker = worker.expect("a session of one worker");
    cluster.kill(worker);
    let job = single.job();
    eventually("it waits", || cluster.status(&job)["waiting_for"] == json!([worker]));
    let wide = cluster.follow(&format!("submit {SLOW} {WIDE}"));
    until_on(&cluster, &wide.job(), 2);
    cluster.start(worker);
    single.expect_answer();
    wide.expect_answer();
}

#[test]
fn a_worker_that_leaves_ends_only_the_session_that_has_it() {
    let mut cluster = three_workers();
    let wide = cluster.follow(&format!("submit {SLOW} {WIDE}"));
    let single = cluster.follow(&format!("submit {SLOW} {SINGLE}"));
    single.until_depth(20);
    until_on(&cluster, &wide.job(), 2);
    for worker in ["w1", "w2", "w3"] {
        cluster.signal(worker, Signal::TERM);
        assert!(cluster.ended(worker).success());
        cluster.start(worker);
    }
    single.expect_answer();
    wide.expect_answer();
    cluster.assert_no_panic();
}

#[test]
fn jobs_of_a_greater_priority_start_first() {
    let cluster = Cluster::of(1);
    let first = cluster.follow(&format!("submit {SLOW} {WIDE}"));
    first.until_depth(5);
    let low = cluster.submit("hanoi 4 --engine explicit --priority -1");
    let usual = cluster.submit("hanoi 4 --engine explicit");
    let high = cluster.submit("hanoi 5 --engine explicit --priority 7");
    let position = |job: &str| cluster.status(job)["queue_position"].as_u64().unwrap();
    assert_eq!([&high, &usual, &low].map(|job| position(job)), [1, 2, 3]);
    assert_eq!(cluster.status(&high)["priority"], 7);
    let text = expect(0, &mut cluster.client(&format!("status {high}"))).stdout;
    assert!(text.contains("priority=7"), "{text}");
    let text = expect(0, &mut cluster.client(&format!("status {usual}"))).stdout;
    assert!(!text.contains("priority"), "{text}");
    // A job that runs is not stopped for it.
    assert_eq!(cluster.status(&first.job())["state"], "running");
    first.expect_answer();
    cluster.follow(&format!("watch {low}")).expect(0);
    let log = cluster.log(COORDINATOR);
    let finished = |job: &str| log.find(&format!("done job=\"{job}\"")).expect(job);
    assert!(finished(&high) < finished(&usual) && finished(&usual) < finished(&low));
}

#[test]
fn workers_of_one_host_have_different_names() {
    let mut cluster = Cluster::empty("");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
    let start = |cluster: &mut Cluster, name: &str| {
        let port = free_port();
        let line = cluster.worker_line(name, &format!("--listen 127.0.0.1:{port}"));
        cluster.add(name, &line.replace(&format!(" --name {name}"), ""), WORKER_READY);
        port
    };
    let names = |cluster: &Cluster| -> Vec<String> {
        let ran = expect(0, &mut cluster.client("--json status"));
        let workers = ran.events("worker");
        workers.iter().map(|worker| worker["name"].as_str().unwrap().to_owned()).collect()
    };
    let first = start(&mut cluster, "w1");
    eventually("it has the host's name", || names(&cluster) == [&*host]);
    let second = start(&mut cluster, "w2");
    let expected = [format!("{host}:{first}"), format!("{host}:{second}")];
    eventually("both have their ports", || names(&cluster) == expected);
    let (_, metrics) = cluster.get("/metrics", "");
    for name in &expected {
        assert!(metrics.contains(&format!("worker=\"{name}\"")), "{metrics}");
    }
    let job = cluster.follow(&format!("submit {SLOW} {WIDE}"));
    job.until_depth(100);
    cluster.kill("w1");
    let waits = json!([expected[0]]);
    eventually("it waits", || cluster.status(&job.job())["waiting_for"] == waits);
    cluster.start("w1");
    job.expect_answer();
    // A name that a live worker has is not given twice.
    let line = cluster.worker_line(&expected[0], "--data-dir other");
    let data = cluster.path().join("other");
    let line = line.replace("--data-dir other", &format!("--data-dir {}", data.display()));
    cluster.add("w3", &line, WORKER_READY);
    let third = format!("{}#2", expected[0]);
    let text = format!("another worker has the name {}: this one is named {third}", expected[0]);
    cluster.await_log("w3", 0, &text);
    assert_eq!(names(&cluster), [&*expected[0], &*expected[1], &*third]);
}

#[test]
fn the_name_of_a_job_that_has_ended_is_not_taken_for_a_new_job() {
    let cluster = Cluster::of(1);
    let line = "submit hanoi 4 --engine explicit --name nightly";
    let first = cluster.follow(line).expect(0).event("job")["job"].clone();
    let ran = fails(2, &mut cluster.client(line), "--new starts another job of that name");
    assert!(ran.stderr.contains("\"watch nightly\" shows it"), "{}", ran.stderr);
    let second = cluster.follow(&format!("{line} --new")).expect(0).event("job")["job"].clone();
    assert_ne!(first, second);
    assert_eq!(cluster.status("nightly")["job"], second);
    expect(0, &mut cluster.client("rm nightly"));
    cluster.follow(line).expect(0);
    let running = cluster.submit(&format!("{SLOW} {WIDE} --name slow"));
    let reason = format!("job {running} has the name \"slow\" and has not ended");
    fails(2, &mut cluster.client(&format!("submit {SLOW} {WIDE} --name slow --new")), &reason);
    assert_eq!(cluster.submit(&format!("{SLOW} {WIDE} --name slow")), running);
}

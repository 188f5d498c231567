//! Clients of a healthy cluster: names, queues, limits, and detached jobs.

use rustix::process::Signal;

use crate::cluster::faults::SLOW;
use crate::cluster::follower::Follower;
use crate::cluster::harness::{COORDINATOR, Cluster, eventually, fails};
use crate::common::{expect, strata};

#[test]
fn an_interrupted_client_leaves_its_job_running() {
    let cluster = Cluster::of(2);
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let job = follower.job();
    follower.until_depth(100);
    follower.signal(Signal::INT);
    let ran = follower.expect(130);
    let message = format!("job {job} keeps running; strata watch {job}");
    assert!(ran.stderr.contains(&message), "{}", ran.stderr);
    assert_eq!(cluster.status(&job)["state"], "running");
    cluster.follow(&format!("watch {job}")).expect_answer();
    // A finished job can be watched too, and a prefix of its id identifies it.
    cluster.follow(&format!("watch {}", &job[..job.len() - 1])).expect_answer();
}

#[test]
fn a_name_identifies_a_job() {
    let cluster = Cluster::of(2);
    let line = format!("{SLOW} --name nightly");
    let first = cluster.submit(&line);
    assert_eq!(cluster.submit(&line), first);
    let follower = cluster.follow(&format!("submit {line}"));
    assert_eq!(follower.job(), first);
    fails(2, &mut cluster.client("submit panex 5 --name nightly --detach"), "nightly");
    follower.expect_answer();
    // The job is done: its result is not taken for a new one.
    fails(2, &mut cluster.client("submit panex 6 --name nightly"), "which has ended (done)");
    assert_eq!(expect(0, &mut cluster.client("list --json")).events("job_status").len(), 1);
    assert_eq!(cluster.status("nightly")["job"], first);
    fails(11, &mut cluster.client("status weekly"), "weekly");
    let there_is_none =
        format!("list --coordinator http://127.0.0.1:{}", crate::cluster::harness::free_port());
    fails(10, &mut strata(&there_is_none), "cannot reach");
}

#[test]
fn a_cancelled_job_can_be_resumed() {
    let cluster = Cluster::of(2);
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let job = follower.job();
    let before = follower.until_depth(150);
    expect(0, &mut cluster.client(&format!("cancel {job}")));
    let stopped = follower.expect(4).event("stopped");
    assert_eq!(stopped["reason"], "cancelled");
    let depth = stopped["depth"].as_u64().unwrap();
    assert!(depth >= before, "{depth} {before}");
    assert_eq!(cluster.status(&job)["state"], "cancelled");
    fails(2, &mut cluster.client(&format!("cancel {job}")), "has ended already");
    let ran = cluster.follow(&format!("resume {job}")).expect_answer();
    assert_eq!(ran.event("job")["resumed_from"], depth);
    let replayed = ran.events("layer").iter().filter(|layer| layer["replayed"] == true).count();
    assert_eq!(replayed as u64, depth + 1);
    fails(2, &mut cluster.client(&format!("resume {job}")), &job);
}

#[test]
fn a_limit_stops_resumably() {
    let cluster = Cluster::of(2);
    let ran = cluster.follow("submit panex 6 --max-layers 180").expect(4);
    let stopped = ran.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["depth"]), (&"max_layers".into(), &180.into()));
    assert_eq!(ran.layers().len(), 181);
    let job = ran.event("job")["job"].as_str().unwrap().to_owned();
    // The limit that stopped it does not stop it again.
    let ran = cluster.follow(&format!("resume {job}")).expect(0);
    assert_eq!(ran.event("result")["moves"], 881);
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn jobs_run_one_after_another() {
    let cluster = Cluster::of(2);
    let first = cluster.follow(&format!("submit {SLOW}"));
    first.until_depth(20);
    let second = cluster.submit("panex 6 --name second");
    let third = cluster.submit("panex 6 --name third");
    assert_eq!(cluster.status(&second)["queue_position"], 1);
    assert_eq!(cluster.status(&third)["queue_position"], 2);
    assert_eq!(cluster.status(&second)["state"], "queued");
    // A queued job is cancelled at once; when resumed, it goes to the end of the queue.
    expect(0, &mut cluster.client(&format!("cancel {second}")));
    assert_eq!(cluster.status(&second)["state"], "cancelled");
    assert_eq!(cluster.status(&third)["queue_position"], 1);
    let log = Follower::start(&mut cluster.client(&format!("--json logs -f {}", first.job())));
    expect(0, &mut cluster.client(&format!("resume {second} --detach")));
    let job = first.job();
    first.expect_answer();
    let ran = log.expect(0);
    let texts: Vec<String> =
        ran.events("log").iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts.first().map(String::as_str), Some("submitted"));
    assert_eq!(texts.last().map(String::as_str), Some("done"));
    assert!(texts.iter().any(|text| text.contains("session started epoch=")), "{texts:?}");
    let text = expect(0, &mut cluster.client(&format!("logs {job}"))).stdout;
    assert_eq!(text.lines().count(), texts.len());
    for job in ["second", "third"] {
        cluster.follow(&format!("watch {job}")).expect_answer();
    }
    let log = cluster.log(COORDINATOR);
    let finished = |job: &str| log.find(&format!("done job=\"{job}\"")).expect(job);
    assert!(finished(&job) < finished(&second) && finished(&job) < finished(&third));
}

#[test]
fn a_job_without_workers_waits_for_one() {
    let mut cluster = Cluster::empty("");
    let job = cluster.submit("panex 6");
    eventually("it waits", || cluster.status(&job)["state"] == "waiting");
    cluster.await_log(COORDINATOR, 0, "waiting for a worker");
    cluster.join("w1", "");
    cluster.follow(&format!("watch {job}")).expect_answer();
}

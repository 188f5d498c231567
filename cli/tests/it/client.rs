//! Client commands as processes, against a scripted coordinator.

pub(crate) mod fake;

use crate::common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use common::{Finished, expect, refused, solve, strata};
use fake::{Fake, Script, Step, done, event, job, line, lines, now};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use strata_proto::v1;
use strata_proto::v1::JobState;
use strata_proto::v1::job_event::Event as JobEvent;
use tempfile::tempdir;
use tonic::Status;

/// A client command for a coordinator.
fn at(fake: &Fake, line: &str) -> Command {
    let mut command = strata(line);
    command.arg("--coordinator").arg(fake.url());
    command
}

/// A coordinator with one job, and the steps of the first `Watch` call.
fn with(job: v1::Job, watch: impl IntoIterator<Item = Step>) -> Fake {
    Fake::start(Script {
        jobs: vec![job],
        watches: [watch.into_iter().collect()].into(),
        ..Script::default()
    })
}

/// The events of a job, from submission to the end, with layers up to a depth.
fn whole(depth: u32) -> Vec<Step> {
    let mut steps = vec![now(&job(JobState::Queued)), now(&job(JobState::Running))];
    steps.extend(lines(0..=depth));
    for (level, text) in [("INFO", "all is well"), ("WARN", "worker b is lost")] {
        let note = v1::LogLine {
            level: level.to_owned(),
            text: text.to_owned(),
            ..v1::LogLine::default()
        };
        steps.push(event(JobEvent::Note(note)));
    }
    let checkpoint = v1::CheckpointDone { depth, bytes: 200, seconds: 0.25 };
    steps.push(event(JobEvent::Checkpoint(checkpoint)));
    steps.push(now(&done(depth)));
    steps
}

/// A started command whose lines on standard output can be waited for.
struct Running {
    child: Child,
    lines: mpsc::Receiver<String>,
    seen: String,
}

impl Running {
    fn start(command: &mut Command) -> Running {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let _ = sender.send(line.unwrap());
            }
        });
        Running { child, lines, seen: String::new() }
    }

    /// Waits for a line that contains a text.
    fn wait_for(&mut self, text: &str) {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60));
            let line = line.unwrap_or_else(|_| panic!("no {text} in {}", self.seen));
            self.seen += &format!("{line}\n");
            if line.contains(text) {
                return;
            }
        }
    }

    fn interrupt(&self) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
    }

    fn end(mut self) -> Finished {
        self.seen.extend(self.lines.iter().map(|line| line + "\n"));
        let mut ran = Finished::of(self.child.wait_with_output().unwrap());
        ran.stdout = self.seen;
        ran
    }
}

fn depths(ran: &Finished) -> Vec<u64> {
    ran.events("layer").iter().map(|layer| layer["depth"].as_u64().unwrap()).collect()
}

#[test]
fn a_submitted_job_is_followed_to_its_result() {
    let fake = with(job(JobState::Queued), whole(21));
    let ran = expect(0, &mut at(&fake, "submit panex 3 --max-layers 99 --checkpoint-interval 2s"));
    assert_eq!(
        ran.stdout,
        "X(3) = 42\n  \
         engine      explicit\n  \
         depth       21\n  \
         states      253      (widest layer 22 at depth 21)\n  \
         generated   759\n  \
         time        2.50 s   (101 states/s)\n  \
         peak memory 61 MiB   (worker w2)\n  \
         disk        8.70 bytes per state (peak 1000 bytes)\n  \
         digest      00000000000000010000000000000002\n"
    );
    for text in ["job panex-3-aaaaaa submitted to http://", "is queued", "is running on 3 workers"]
    {
        assert!(ran.stderr.contains(text), "{text}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("WARN worker b is lost"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("all is well"), "{}", ran.stderr);
    let script = fake.script();
    let [request] = &*script.submitted else { panic!("{:?}", script.submitted) };
    assert_eq!(request.spec.as_ref().unwrap().parameters["level"], "3");
    assert_eq!(request.spec.as_ref().unwrap().shards, 0);
    let options = request.options.unwrap();
    assert_eq!((options.checkpoint_interval_ms, options.max_layers), (2000, Some(99)));
}

#[test]
fn events_have_the_fields_of_solve() {
    let dir = tempdir().unwrap();
    let solved = expect(0, &mut solve(dir.path(), "panex 3"));
    let fake = with(job(JobState::Queued), whole(21));
    let followed = expect(0, &mut at(&fake, "submit panex 3 --json --progress none"));
    for kind in ["job", "layer", "checkpoint", "result"] {
        let fields = |ran: &Finished| {
            let event = ran.events(kind).into_iter().next().unwrap();
            event.as_object().unwrap().keys().cloned().collect::<Vec<String>>()
        };
        assert_eq!(fields(&followed), fields(&solved), "{kind}");
    }
    let job = followed.event("job");
    let expected = solved.event("job");
    assert_eq!((&job["params"], &job["shards"]), (&expected["params"], &expected["shards"]));
    assert_eq!((&job["job"], &job["data_dir"]), (&"panex-3-aaaaaa".into(), &Value::Null));
    let result = followed.event("result");
    assert_eq!((&result["outcome"], &result["moves"]), (&"goal".into(), &42.into()));
    assert_eq!(depths(&followed), (0..=21).collect::<Vec<u64>>());
    let last = followed.events("layer").pop().unwrap();
    assert_eq!((&last["total_states"], &last["seconds"]), (&253.into(), &0.5.into()));
    assert_eq!(last["replayed"], false);
}

#[test]
fn detached_commands_print_the_job() {
    let fake = with(job(JobState::Queued), []);
    let ran = expect(0, &mut at(&fake, "submit panex 3 --detach --name night"));
    assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("panex-3-aaaaaa\n", 1));
    let choice = ": engine explicit; --engine symbolic selects another\n";
    assert!(ran.stderr.ends_with(choice), "{}", ran.stderr);
    assert_eq!(fake.script().submitted[0].name, "night");
    let ran = expect(0, &mut at(&fake, "submit panex 3 --detach --json"));
    assert_eq!(ran.event("job_status")["state"], "queued");
    let ran = expect(0, &mut at(&fake, "resume panex-3 --detach"));
    assert_eq!(ran.stdout, "panex-3-aaaaaa\n");
    assert!(fake.script().watched.is_empty());
}

#[test]
fn watching_replays_earlier_layers() {
    let mut steps = vec![now(&done(5))];
    steps.extend(lines(0..=5));
    let fake = with(done(5), steps);
    let ran = expect(0, &mut at(&fake, "watch panex-3 --json --progress none"));
    assert_eq!(depths(&ran), [0, 1, 2, 3, 4, 5]);
    assert!(ran.events("layer").iter().all(|layer| layer["replayed"] == true));
    assert_eq!(ran.event("result")["layers"], 5);
    assert_eq!(fake.script().watched[0].after, None);
}

#[test]
fn a_lost_connection_is_restored() {
    let mut before = vec![now(&job(JobState::Running))];
    before.extend(lines(0..=9));
    before.push(Step::Hang);
    let fake = with(job(JobState::Running), before);
    let mut running = Running::start(&mut at(&fake, "submit panex 3 --json"));
    running.wait_for("\"depth\":9");
    let address = fake.stop();
    std::thread::sleep(Duration::from_millis(700));
    let rest = v1::Job { depth: Some(9), ..job(JobState::Running) };
    // The client ignores layers that it has already received.
    let mut after = vec![now(&rest)];
    after.extend(lines(8..=21));
    after.push(now(&done(21)));
    let script = Script { jobs: vec![rest], watches: [after].into(), ..Script::default() };
    let fake = Fake::start_at(address, script);
    let ran = running.end();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(depths(&ran), (0..=21).collect::<Vec<u64>>());
    assert_eq!(ran.event("result")["layers"], 21);
    assert_eq!(ran.events("job").len(), 1);
    assert_eq!(ran.stderr.matches("reconnecting until").count(), 1, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("reconnected to the coordinator").count(), 1, "{}", ran.stderr);
    assert_eq!(fake.script().watched[0].after, Some(9));
}

#[test]
fn a_rollback_during_a_lost_connection_is_detected() {
    let mut before = vec![now(&job(JobState::Running))];
    before.extend(lines(0..=9));
    before.push(Step::Fail(Status::unavailable("shutting down")));
    let back = v1::Job { depth: Some(4), ..job(JobState::Running) };
    let mut again = vec![now(&back)];
    again.extend(lines(5..=10));
    again.push(event(JobEvent::RolledBack(v1::RolledBack { depth: None })));
    again.extend(lines(0..=21));
    again.push(now(&done(21)));
    let fake = Fake::start(Script {
        jobs: vec![back.clone()],
        watches: [before, vec![now(&back), Step::Hang], again].into(),
        ..Script::default()
    });
    let ran = expect(0, &mut at(&fake, "watch panex-3 --json"));
    let after: Vec<Option<u32>> = fake.script().watched.iter().map(|watch| watch.after).collect();
    assert_eq!(after, [None, Some(9), Some(4)]);
    assert_eq!(depths(&ran), (0..=9).chain(5..=10).chain(0..=21).collect::<Vec<u64>>());
    let back: Vec<Value> = ran.events("rolled_back").iter().map(|e| e["depth"].clone()).collect();
    assert_eq!(back, [Value::from(4), Value::Null]);
    assert!(ran.stderr.contains("search rolled back to a checkpoint"), "{}", ran.stderr);
}

#[test]
fn a_call_that_ends_early_is_repeated_without_a_warning() {
    let mut early = vec![now(&job(JobState::Running))];
    early.extend(lines(0..=21));
    let fake = Fake::start(Script {
        jobs: vec![job(JobState::Running)],
        watches: [early, vec![now(&done(21))]].into(),
        ..Script::default()
    });
    let ran = expect(0, &mut at(&fake, "watch panex-3 --json"));
    assert_eq!(ran.event("result")["layers"], 21);
    assert!(!ran.stderr.contains("WARN"), "{}", ran.stderr);
}

#[test]
fn repeated_invalid_replies_end_the_command() {
    let call = || vec![now(&job(JobState::Running)), event(JobEvent::Layer(line(7)))];
    let fake = Fake::start(Script {
        jobs: vec![job(JobState::Running)],
        watches: (0..4).map(|_| call()).collect(),
        ..Script::default()
    });
    let ran = expect(1, &mut at(&fake, "watch panex-3"));
    assert!(ran.stderr.contains("error: layers before layer 7 are missing"), "{}", ran.stderr);
}

#[test]
fn every_ending_has_its_exit_code() {
    let ended = |state, change: &dyn Fn(&mut v1::Job)| {
        let mut job = v1::Job { depth: Some(2), checkpoint: Some(2), ..job(state) };
        change(&mut job);
        let mut steps = vec![now(&fake::job(JobState::Running))];
        steps.extend(lines(0..=2));
        steps.push(now(&job));
        with(fake::job(JobState::Running), steps)
    };
    let fake = ended(JobState::Failed, &|job| {
        (job.exit_code, job.error) = (5, "worker b: the device is gone".to_owned());
    });
    let ran = expect(5, &mut at(&fake, "submit panex 3 --json"));
    let failed = ran.event("failed");
    assert_eq!((&failed["exit_code"], &failed["depth"]), (&5.into(), &2.into()));
    assert_eq!(failed["error"], "worker b: the device is gone");
    let last = ran.stderr.lines().last().unwrap();
    assert_eq!(last, "error: job panex-3-aaaaaa failed: worker b: the device is gone");

    let fake = ended(JobState::Failed, &|job| {
        (job.exit_code, job.error) = (12, "layer-2: corrupt".to_owned());
    });
    let ran = expect(12, &mut at(&fake, "submit panex 3"));
    assert_eq!(ran.stdout, "");

    let fake = ended(JobState::Stopped, &|job| {
        job.limit = v1::Limit::MaxLayers.into();
    });
    let ran = expect(4, &mut at(&fake, "submit panex 3 --json"));
    let stopped = ran.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["depth"]), (&"max_layers".into(), &2.into()));
    let command = format!("strata resume panex-3-aaaaaa --coordinator {}", fake.url());
    assert_eq!(stopped["resume_command"], command);
    assert!(ran.stderr.contains(&format!("resume with: {command}\n")), "{}", ran.stderr);

    let fake = ended(JobState::Cancelled, &|_| {});
    let ran = expect(4, &mut at(&fake, "submit panex 3 --json"));
    assert_eq!(ran.event("stopped")["reason"], "cancelled");

    let fake = ended(JobState::Done, &|job| job.result = Some(v1::JobResult::default()));
    let ran = expect(3, &mut at(&fake, "submit panex 3"));
    assert!(ran.stdout.starts_with("panex-3: the goal cannot be reached"), "{}", ran.stdout);
}

#[test]
fn refusals_are_one_line_with_an_exit_code() {
    let fake = Fake::start(Script::default());
    for line in ["watch", "status", "cancel", "logs"] {
        let ran = expect(11, &mut at(&fake, &format!("{line} nothing")));
        assert_eq!(ran.stderr, "error: there is no job nothing\n", "{line}");
    }
    for line in ["stats", "resume", "rm"] {
        let ran = expect(11, &mut at(&fake, &format!("{line} nothing")));
        let url = fake.url();
        let expected = format!("error: no such job: the cluster at {url} has no job nothing\n");
        assert_eq!(ran.stderr, expected, "{line}");
    }
    let refuse = |status| fake.script().refusal = Some(status);
    refuse(Status::already_exists("job night searches something else"));
    refused(&mut at(&fake, "submit panex 3 --name night"), "searches something else");
    refuse(Status::failed_precondition("job x is done"));
    refused(&mut at(&fake, "cancel x"), "job x is done");
    refuse(Status::invalid_argument("a bad name"));
    refused(&mut at(&fake, "watch x"), "a bad name");
    refuse(Status::internal("a bug"));
    let ran = expect(1, &mut at(&fake, "status x"));
    assert!(ran.stderr.contains("failed: a bug"), "{}", ran.stderr);
}

#[test]
fn a_job_is_looked_for_in_folders_and_then_in_the_cluster() {
    let fake = with(job(JobState::Running), []);
    fake.script().layers = vec![line(0)];
    let dir = tempdir().unwrap();
    let data = dir.path().join("strata-data");
    expect(0, &mut solve(&data, "hanoi 3"));
    let local = common::only_job(&data);
    let local = local.file_name().unwrap().to_str().unwrap();
    // The cluster is that of the environment: a flag would restrict the search to it.
    let run = |code: i32, line: &str| {
        let mut command = strata(line);
        command.current_dir(dir.path()).env("STRATA_COORDINATOR", fake.url());
        expect(code, &mut command)
    };
    let layers = |line: &str| run(0, &format!("stats --format growth {line}")).stdout;
    assert_eq!(layers("hanoi-3").lines().count(), 8);
    assert_eq!(layers(local).lines().count(), 8);
    assert_eq!(layers("strata-data").lines().count(), 8);
    assert_eq!(layers("strata-data/hanoi").lines().count(), 8);
    assert_eq!(layers("panex-3-aaaaaa").lines().count(), 1);
    let url = fake.url();
    assert_eq!(
        run(11, "stats tiles").stderr,
        format!(
            "error: no such job: there is no folder tiles, no job tiles in ./strata-data, \
             the cluster at {url} has no job tiles\n"
        )
    );
    let ran = run(11, &format!("stats {local} --coordinator {url}"));
    assert!(ran.stderr.ends_with(&format!(" has no job {local}\n")), "{}", ran.stderr);
    // A removal takes the whole id of a job in a folder.
    let ran = run(11, "rm hanoi-3");
    assert!(ran.stderr.contains("no job with the id hanoi-3 in ./strata-data, the cluster"));
    run(0, &format!("rm {local}"));
    assert!(!data.join(local).exists());
    let address = fake.stop();
    let mut command = strata("stats tiles");
    command.current_dir(dir.path()).env("STRATA_COORDINATOR", format!("http://{address}"));
    let ran = expect(10, &mut command);
    let places =
        "there is no folder tiles, no job tiles in ./strata-data, and cannot reach http://";
    assert!(ran.stderr.contains(places), "{}", ran.stderr);
}

#[test]
fn a_wrong_token_names_its_file() {
    let fake = Fake::start(Script {
        refusal: Some(Status::unauthenticated("wrong token")),
        ..Script::default()
    });
    refused(&mut at(&fake, "list"), "name the cluster's with --token-file");
    let dir = tempdir().unwrap();
    let file = dir.path().join("token");
    std::fs::write(&file, "correct-horse-battery-staple\n").unwrap();
    let mut command = at(&fake, "watch x");
    let line = refused(command.arg("--token-file").arg(&file), "wrong token");
    assert!(line.contains(&file.display().to_string()), "{line}");
    assert!(!line.contains("horse"), "{line}");
    let mut command = at(&fake, "list");
    refused(command.env("STRATA_TOKEN_FILE", dir.path().join("none")), "none");
}

#[test]
fn an_unreachable_coordinator_is_reported_at_once() {
    let address = Fake::start(Script::default()).stop();
    for line in ["submit panex 3", "list", "status", "watch x", "stats x", "health"] {
        let mut command = strata(line);
        let ran = expect(10, command.arg("--coordinator").arg(format!("http://{address}")));
        assert_eq!(ran.stderr.lines().count(), 1, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("cannot reach http://"), "{line}: {}", ran.stderr);
    }
}

#[test]
fn an_invalid_search_is_not_submitted() {
    let nowhere = "--coordinator http://127.0.0.1:9";
    for (line, reason) in [
        ("submit panex 99", "level must be between 1 and"),
        ("submit chess", "unknown space 'chess'"),
        ("submit panex 3 --pegs 4", "panex has no parameter 'pegs'"),
        ("submit panex 3 --name a/b", "invalid value 'a/b'"),
    ] {
        refused(&mut strata(&format!("{line} {nowhere}")), reason);
    }
}

#[test]
fn an_interrupt_only_detaches() {
    let mut steps = vec![now(&job(JobState::Running))];
    steps.extend(lines(0..=3));
    steps.push(Step::Hang);
    let fake = with(job(JobState::Running), steps);
    let mut running = Running::start(&mut at(&fake, "submit panex 3 --json --progress none"));
    running.wait_for("\"depth\":3");
    running.interrupt();
    let ran = running.end();
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let cluster = format!("--coordinator {}", fake.url());
    let line = format!(
        "job panex-3-aaaaaa keeps running; strata watch panex-3-aaaaaa {cluster} follows it, \
         strata cancel panex-3-aaaaaa {cluster} stops it"
    );
    assert_eq!(ran.stderr.lines().last(), Some(&*line));
}

#[test]
fn an_interrupt_detaches_without_a_connection() {
    let fake = with(job(JobState::Running), [now(&job(JobState::Running)), Step::Hang]);
    let mut running = Running::start(&mut at(&fake, "watch panex-3 --json"));
    running.wait_for("\"event\":\"job\"");
    fake.stop();
    std::thread::sleep(Duration::from_millis(800));
    running.interrupt();
    let ran = running.end();
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert!(ran.stderr.contains("reconnecting until the coordinator is back"), "{}", ran.stderr);
}

#[test]
fn jobs_and_workers_are_shown() {
    let running = v1::Job {
        id: "hanoi-10-4-bbbbbb".to_owned(),
        name: "night".to_owned(),
        depth: Some(7),
        states: 5678,
        ..job(JobState::Running)
    };
    let worker = v1::WorkerInfo { name: "host-1".to_owned(), alive: true, ..Default::default() };
    let fake = Fake::start(Script {
        jobs: vec![done(21), running],
        workers: vec![worker],
        ..Script::default()
    });
    let list = expect(0, &mut at(&fake, "list")).stdout;
    let rows: Vec<&str> = list.lines().collect();
    assert_eq!(rows.len(), 3, "{list}");
    assert!(rows[1].starts_with("panex-3-aaaaaa            done     explicit     21"), "{list}");
    assert!(
        rows[2].starts_with("hanoi-10-4-bbbbbb  night  running  explicit      7   5,678"),
        "{list}"
    );
    let ran = expect(0, &mut at(&fake, "list --json"));
    let names = ran.events("job_status").into_iter().map(|job| job["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), [Value::Null, "night".into()]);

    let status = expect(0, &mut at(&fake, "status")).stdout;
    assert!(status.contains("1 of 1 workers alive") && status.contains("hanoi-10"), "{status}");
    assert!(!status.contains("panex-3-aaaaaa"), "{status}");
    let ran = expect(0, &mut at(&fake, "status --json"));
    assert_eq!(ran.event("worker")["name"], "host-1");
    assert_eq!(ran.event("job_status")["state"], "running");

    let status = expect(0, &mut at(&fake, "status panex")).stdout;
    assert!(status.starts_with("panex-3-aaaaaa: done\n"), "{status}");
    assert!(status.contains("result      X(3) = 42\n"), "{status}");
    let ran = expect(0, &mut at(&fake, "status hanoi --json"));
    assert_eq!(ran.event("job_status")["depth"], 7);
    let cancel = expect(0, &mut at(&fake, "cancel hanoi")).stdout;
    assert_eq!(cancel, "hanoi-10-4-bbbbbb stops after its next layer\n");
}

#[test]
fn logs_and_layers_are_shown() {
    let text = |text: &str, level: &str, time_ms| v1::LogLine {
        time_ms,
        level: level.to_owned(),
        text: text.to_owned(),
        ..v1::LogLine::default()
    };
    let fake = Fake::start(Script {
        jobs: vec![done(2)],
        layers: (0..=2).map(line).collect(),
        logs: vec![
            text("job started", "INFO", 1_795_266_000_000),
            text("worker b is lost", "WARN", 1_795_266_061_500),
        ],
        ..Script::default()
    });
    for line in ["logs panex", "logs panex -f"] {
        assert_eq!(
            expect(0, &mut at(&fake, line)).stdout,
            "2026-11-21T13:00:00Z INFO job started\n2026-11-21T13:01:01Z WARN worker b is lost\n"
        );
    }
    let lines = expect(0, &mut at(&fake, "logs panex --json")).events("log");
    assert_eq!(lines[1]["time"], "2026-11-21T13:01:01.500Z");
    assert_eq!(
        expect(0, &mut at(&fake, "stats panex-3-aaaaaa --format csv")).stdout,
        "depth,states,positions,orbits,generated,regions,bytes,digest,seconds,read_bytes,written_bytes,\
         memo_hits,memo_misses,memo_miss_seconds\n\
         0,1,1,1,3,1,100,00000000000000000000000000000007,0.000000,0,0,0,2,0.000000\n\
         1,2,2,2,6,1,100,00000000000000010000000000000007,0.500000,0,1,1,2,0.250000\n\
         2,3,3,3,9,1,100,00000000000000020000000000000007,0.500000,0,2,2,2,0.500000\n"
    );
    let growth = expect(0, &mut at(&fake, "stats panex-3-aaaaaa --format growth")).stdout;
    assert_eq!(growth, "0 1\n1 2\n2 3\n");
    let table = expect(0, &mut at(&fake, "stats panex-3-aaaaaa")).stdout;
    assert!(table.ends_with("total: 6 states, 300 bytes, 1.00 s\n"), "{table}");
    let plot = expect(0, &mut at(&fake, "plot panex --what time --json"));
    let curve = plot.event("curve");
    assert_eq!((&curve["name"], &curve["points"][2][1]), (&"panex-3-aaaaaa".into(), &0.5.into()));
}

#[test]
fn health_is_one_line() {
    let fake = Fake::start(Script::default());
    let healthy = expect(0, &mut at(&fake, "health")).stdout;
    assert_eq!(healthy, format!("{} is healthy\n", fake.url()));
    let ran = expect(0, strata("health --json --url").arg(fake.url()));
    assert_eq!(ran.event("health")["healthy"], true);
    let url = format!("http://{}", fake.stop());
    let ran = expect(10, strata("health --json --url").arg(&url));
    assert_eq!(ran.event("health")["healthy"], false);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

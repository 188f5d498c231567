//! Choice of a job's engine.

use crate::cluster::harness::{Cluster, eventually, fails};
use crate::common::{Finished, expect};

/// Engine and reason of a job as `status` has them.
fn engine(cluster: &Cluster, job: &str) -> (String, String) {
    let status = cluster.status(job);
    let [engine, reason] = ["engine", "engine_reason"].map(|field| status[field].as_str().unwrap());
    (engine.to_owned(), reason.to_owned())
}

fn submit(cluster: &Cluster, line: &str) -> Finished {
    expect(0, &mut cluster.client(&format!("--json --progress none submit {line}")))
}

#[test]
fn submit_chooses_the_engine_as_solve_does() {
    let cluster = Cluster::of(2);
    let ran = submit(&cluster, "panex 5 --engine auto");
    let job = ran.event("job");
    assert_eq!(
        (&job["engine"], ran.event("result")["moves"].as_u64()),
        (&"symbolic".into(), Some(343))
    );
    // The first line says which engine, why, and the flag for another.
    let first = ran.stderr.lines().next().unwrap();
    let (reason, id) = (job["engine_reason"].as_str().unwrap(), job["job"].as_str().unwrap());
    assert!(first.contains(&format!("job {id} submitted to")), "{first}");
    let choice = format!(": engine symbolic, {reason}; --engine explicit selects another");
    assert!(first.ends_with(&choice), "{first}");
    assert!(reason.starts_with("the space is nested"), "{reason}");
    assert_eq!(engine(&cluster, id), ("symbolic".to_owned(), reason.to_owned()));
    let listed = expect(0, &mut cluster.client("list --json")).event("job_status");
    assert_eq!((&listed["engine"], &listed["engine_reason"]), (&job["engine"], &reason.into()));
    let text = expect(0, &mut cluster.client(&format!("status {id}"))).stdout;
    assert!(text.contains(&format!("engine      symbolic ({reason})\n")), "{text}");

    for (line, name, why) in [
        ("panex 4 --engine auto --keep-layers all", "explicit", "has no files for --keep-layers"),
        ("panex 4 --engine auto --disk-limit 1GiB", "explicit", "has no files for --disk-limit"),
        ("panex 4 --engine auto --shards 8", "explicit", "--shards needs it"),
        ("hanoi 3 --pegs 6 --engine auto", "dense", "states take"),
        ("panex 4 --engine explicit", "explicit", "the submission names it"),
    ] {
        let ran = submit(&cluster, line);
        let job = ran.event("job");
        let (name_of, reason) = engine(&cluster, job["job"].as_str().unwrap());
        assert_eq!(name_of, name, "{line}");
        assert!(reason.contains(why), "{line}: {reason}");
    }
    cluster.assert_no_panic();
}

#[test]
fn a_dry_run_queues_nothing() {
    let cluster = Cluster::of(1);
    let mut client = cluster.client("submit panex 10 --engine auto --dry-run --json");
    let forecast = expect(0, &mut client).event("forecast");
    assert_eq!(
        (&forecast["engine"], &forecast["search"]),
        (&"symbolic".into(), &"panex-10".into())
    );
    assert_eq!(forecast["expected_layers"], 15_769);
    assert!(forecast["engine_reason"].as_str().unwrap().starts_with("the space is nested"));
    let mut client = cluster.client("submit panex 10 --engine explicit --dry-run");
    let text = expect(0, &mut client).stdout;
    assert!(text.starts_with("panex-10: explicit engine (the submission names it)\n"), "{text}");
    assert_eq!(expect(0, &mut cluster.client("list --json")).stdout, "");
    // The same search, queued, is announced.
    let mut client = cluster.client("submit panex 10 --engine explicit --detach");
    let ran = expect(0, &mut client);
    let announced = ran.stderr.lines().find(|line| line.contains("expected: "));
    assert!(announced.is_some_and(|line| line.contains(" of memory, ")), "{}", ran.stderr);
    expect(0, &mut cluster.client(&format!("cancel {}", ran.stdout.trim())));
}

#[test]
fn unsupported_settings_are_refused_with_the_flag_of_a_supporting_engine() {
    let cluster = Cluster::of(1);
    for flags in ["--keep-layers all", "--keep-layers every:5", "--disk-limit 1GiB", "-k 2"] {
        for engine in ["symbolic", "symbolic-lean"] {
            let line = format!("submit panex 4 --engine {engine} {flags}");
            let why = format!("the {engine} engine does not support --");
            let ran = fails(2, &mut cluster.client(&line), &why);
            assert!(ran.stderr.contains(": --engine explicit does"), "{}", ran.stderr);
        }
    }
    // Variables may be meant for other searches.
    let mut submit = cluster.client("submit panex 3 --engine symbolic --json --progress none");
    let ran = expect(0, submit.env("STRATA_KEEP_LAYERS", "all").env("STRATA_DISK_LIMIT", "1GiB"));
    assert_eq!(ran.event("result")["moves"], 42);
    assert_eq!(expect(0, &mut cluster.client("list --json")).events("job_status").len(), 1);
}

#[test]
fn the_engine_is_chosen_again_when_the_first_worker_connects() {
    let mut cluster = Cluster::empty("");
    let job = cluster.submit("panex 4 --engine auto --name four");
    let (chosen, reason) = engine(&cluster, &job);
    assert_eq!(chosen, "symbolic");
    assert!(reason.ends_with("; to be chosen again when there is a worker"), "{reason}");
    assert_eq!(cluster.submit("panex 4 --engine auto --name four"), job);
    cluster.join("w1", "");
    cluster.follow(&format!("watch {job}")).expect(0);
    let (chosen, reason) = engine(&cluster, &job);
    assert_eq!(chosen, "symbolic");
    assert!(!reason.contains("to be chosen again"), "{reason}");
    let log = expect(0, &mut cluster.client(&format!("logs {job}"))).stdout;
    assert!(log.contains(&format!("engine symbolic: {reason}")), "{log}");
    // A coordinator that starts again still knows it.
    cluster.kill_all();
    cluster.start_all();
    eventually("the coordinator", || engine(&cluster, &job) == (chosen.clone(), reason.clone()));
}

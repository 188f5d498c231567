//! Tests of the metrics: names, formats, and the jobs that have series.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use strata_proto::v1;
use strata_run::catalogue::Registry;
use strata_store::{EngineKind, JobSpec};
use tempfile::TempDir;

use super::snapshot::{ENDED_JOBS, JobMetrics};
use super::*;
use crate::cluster::context::ClusterOptions;
use crate::cluster::job_view::JobViews;
use crate::cluster::membership::MemberView;
use crate::cluster::work::JobWork;
use crate::entry::{JobEntry, JobOptions, JobState, WorkerEntry};
use crate::journal::operations::Journal;

/// The page that lists the metrics.
const PAGE: &str = include_str!("../../../../docs/metrics.md");

/// A worker with a heartbeat.
pub(super) fn member(number: u16) -> MemberView {
    MemberView {
        entry: WorkerEntry {
            number,
            id: number.to_string(),
            name: format!("worker-{number}"),
            address: "http://127.0.0.1:7071".to_owned(),
            host: None,
            first_seen: 1,
        },
        threads: 2,
        memory_bytes: 1 << 30,
        machine: None,
        beat: v1::WorkerBeat { rss_bytes: 1 << 20, ..v1::WorkerBeat::default() },
        alive: true,
        silent: Duration::from_secs(1),
    }
}

/// A cluster in which every metric has a value.
fn full() -> Snapshot {
    let result = v1::JobResult { moves: Some(881), layers: 441, ..v1::JobResult::default() };
    let job = v1::Job {
        id: "panex-6-0".to_owned(),
        name: "a \"name\"\\".to_owned(),
        spec: Some(v1::JobSpec { space: "panex".to_owned(), ..v1::JobSpec::default() }),
        state: v1::JobState::Done.into(),
        depth: Some(441),
        // This value may occur, since sums saturate.
        states: u64::MAX,
        positions: 2,
        checkpoint: Some(441),
        ended: Some(7),
        expected_layers: Some(441),
        expected_states: Some(4e6),
        work_done: Some(0.5),
        eta_low_seconds: Some(8.0),
        eta_high_seconds: Some(10.0),
        result: Some(result),
        ..v1::Job::default()
    };
    let last_checkpoint = Some((4096, Duration::from_millis(20)));
    let work = Some(JobWork { sessions: 1, last_checkpoint, ..JobWork::default() });
    let metrics = JobMetrics { job, checkpoint_made: Some(6), checkpoint_interval: 30.0, work };
    Snapshot {
        now: 1e9,
        started: 9e8,
        is_journal_writable: true,
        counts: BTreeMap::from([(v1::JobState::Done, 1)]),
        jobs: BTreeMap::from([("panex-6-0".to_owned(), metrics)]),
        workers: vec![member(0)],
    }
}

/// The rows of a table of metrics, from text in the classic format.
fn rows(text: &str) -> Vec<String> {
    let after = |prefix: &str| {
        let lines = text.lines().filter_map(move |line| line.strip_prefix(prefix));
        lines.map(|rest| rest.split_once(' ').unwrap()).collect::<Vec<_>>()
    };
    let helps: BTreeMap<&str, &str> = after("# HELP ").into_iter().collect();
    let labels = |name: &str| {
        let sample = text
            .lines()
            .find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])));
        let sample = sample.unwrap_or_else(|| panic!("no sample of {name}"));
        let pairs = sample.split(['{', ',']).filter_map(|part| part.split_once("=\""));
        let labels: Vec<String> = pairs.map(|(label, _)| format!("`{label}`")).collect();
        labels.join(", ")
    };
    let row = |(name, kind): (&str, &str)| {
        let row = format!("| `{name}` | {kind} | {} | {} |", labels(name), helps[name]);
        row.replace("|  |", "| |")
    };
    after("# TYPE ").into_iter().map(row).collect()
}

#[test]
fn the_page_lists_exactly_the_metrics() {
    let text = write(full(), TextFormat::Classic).unwrap();
    let exported = rows(&text);
    let listed: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| `strata_")).collect();
    let missing: Vec<&String> =
        exported.iter().filter(|row| !listed.contains(&row.as_str())).collect();
    assert!(missing.is_empty(), "docs/metrics.md lacks the rows {missing:#?}");
    assert_eq!(listed.len(), exported.len(), "docs/metrics.md lists other metrics, too");
}

#[test]
fn the_page_states_the_limits_of_ended_jobs() {
    assert_eq!((snapshot::ENDED_SECONDS, ENDED_JOBS), (24 * 60 * 60, 64));
    assert!(PAGE.contains("for 24 hours after their end, the last 64"), "{PAGE}");
}

#[test]
fn both_formats_have_the_same_samples() {
    let classic = write(full(), TextFormat::Classic).unwrap();
    let open = write(full(), TextFormat::OpenMetrics).unwrap();
    let samples = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    assert_eq!(samples(&classic), samples(&open));
    assert!(open.ends_with("# EOF\n") && !classic.contains("# EOF"));
    let names: BTreeSet<&str> =
        classic.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    assert_eq!(names.len(), classic.matches("# TYPE ").count(), "a name occurs twice");
    assert!(classic.contains("# TYPE strata_states_new_total counter\n"), "{classic}");
    assert!(open.contains("# TYPE strata_states_new counter\n"), "{open}");
    assert!(classic.contains("strata_job_states{search_job=\"panex-6-0\"} 18446744073709551615\n"));
    assert!(classic.contains("name=\"a \\\"name\\\"\\\\\""), "{classic}");
}

fn cluster() -> (TempDir, Arc<Cluster>) {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal")).unwrap();
    let views = JobViews::new(folder.path());
    (folder, Cluster::new(ClusterOptions::for_tests(Registry::shipped()), journal, views, 1))
}

fn submit(cluster: &Cluster) -> JobEntry {
    let spec = JobSpec {
        space: "hanoi".to_owned(),
        params: Default::default(),
        shards: 1,
        engine: EngineKind::Explicit,
    };
    cluster.journal.submit("hanoi", None, spec, JobOptions::default(), 0, None).unwrap().0
}

fn end(cluster: &Cluster, job: &JobEntry, state: JobState) {
    cluster.journal.update(&job.id, |entry| entry.state = state).unwrap();
}

fn has(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "no line {line}\n{text}");
}

#[test]
fn a_failed_job_keeps_its_series_and_queued_ones_have_none() {
    let (_folder, cluster) = cluster();
    let (failed, queued) = (submit(&cluster), submit(&cluster));
    end(&cluster, &failed, JobState::Failed { corrupt: false, why: "a bug".to_owned() });
    let text = super::text(&cluster, TextFormat::Classic).unwrap();
    let of_job =
        |state: &str| format!("strata_job_state{{search_job=\"{}\",state=\"{state}\"}}", failed.id);
    has(&text, &format!("{} 1", of_job("failed")));
    has(&text, &format!("{} 0", of_job("running")));
    has(&text, "strata_jobs{state=\"failed\"} 1");
    has(&text, "strata_jobs{state=\"queued\"} 1");
    has(&text, "strata_jobs{state=\"running\"} 0");
    has(&text, "strata_journal_writable 1");
    assert!(!text.contains(&format!("search_job=\"{}\"", queued.id)), "{text}");
    // A resumed job does not count as failed.
    cluster.journal.requeue(&failed.id).unwrap();
    let text = super::text(&cluster, TextFormat::Classic).unwrap();
    has(&text, "strata_jobs{state=\"failed\"} 0");
    assert!(!text.contains(&of_job("failed")), "{text}");
}

#[test]
fn running_jobs_have_series_from_the_start() {
    let (_folder, cluster) = cluster();
    let job = submit(&cluster);
    end(&cluster, &job, JobState::Running);
    let view = cluster.job(&job.id);
    view.activate(None);
    view.set_workers(2, Vec::new());
    let text = super::text(&cluster, TextFormat::Classic).unwrap();
    has(&text, "strata_jobs{state=\"running\"} 1");
    let id = &job.id;
    has(&text, &format!("strata_job_workers{{search_job=\"{id}\"}} 2"));
    has(&text, &format!("strata_states_new_total{{search_job=\"{id}\"}} 0"));
    assert!(!text.contains("strata_job_depth{"), "there is no layer yet: {text}");
    cluster.work.add_session(id);
    view.set_workers(0, vec!["w1".to_owned()]);
    let text = super::text(&cluster, TextFormat::Classic).unwrap();
    has(&text, &format!("strata_sessions_total{{search_job=\"{id}\"}} 1"));
    has(&text, "strata_jobs{state=\"waiting\"} 1");
}

#[test]
fn a_job_that_ends_during_a_scrape_counts_once_and_has_series() {
    let (_folder, cluster) = cluster();
    let job = submit(&cluster);
    end(&cluster, &job, JobState::Running);
    let snapshot = std::thread::scope(|scope| {
        let mut scrape = None;
        let cancel = |entry: &mut JobEntry| {
            // The scrape reads the journal before the job's end is committed.
            scrape = Some(scope.spawn(|| Snapshot::take(&cluster).unwrap()));
            std::thread::sleep(Duration::from_millis(100));
            entry.state = JobState::Cancelled;
        };
        cluster.journal.update(&job.id, cancel).unwrap();
        scrape.unwrap().join().unwrap()
    });
    assert_eq!(snapshot.counts.values().sum::<u64>(), 1, "{:?}", snapshot.counts);
    assert!(snapshot.jobs.contains_key(&job.id), "{:?}", snapshot.jobs);
}

#[test]
fn ended_jobs_with_series_are_the_last_ones() {
    let (_folder, cluster) = cluster();
    let jobs: Vec<JobEntry> = (0..ENDED_JOBS + 3).map(|_| submit(&cluster)).collect();
    jobs.iter().for_each(|job| end(&cluster, job, JobState::Cancelled));
    let snapshot = Snapshot::take(&cluster).unwrap();
    assert_eq!(snapshot.counts[&v1::JobState::Cancelled], jobs.len() as u64);
    let shown: BTreeSet<&String> = snapshot.jobs.keys().collect();
    assert_eq!(shown, jobs[3..].iter().map(|job| &job.id).collect());
    // A day later none has series.
    let later = cluster.seconds() + snapshot::ENDED_SECONDS + 1;
    let (counts, jobs) = snapshot::jobs(&cluster, later).unwrap();
    assert_eq!(counts[&v1::JobState::Cancelled], ENDED_JOBS as u64 + 3);
    assert!(jobs.is_empty(), "{jobs:?}");
}

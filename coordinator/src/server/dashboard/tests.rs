//! Tests of the cluster as a data source of the dashboard.

use std::collections::BTreeMap;
use std::time::Duration;

use strata_run::catalogue::Registry;
use strata_store::{EngineKind, JobSpec};

use super::*;
use crate::cluster::context::ClusterOptions;
use crate::cluster::event::Level;
use crate::cluster::job_view::JobViews;
use crate::entry::{ClusterCheckpoint, JobOptions};
use crate::journal::operations::Journal;

fn source() -> (tempfile::TempDir, ClusterSource) {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal")).unwrap();
    let options = ClusterOptions::for_tests(Registry::shipped());
    let views = JobViews::new(folder.path());
    (folder, ClusterSource::new(Cluster::new(options, journal, views, 1)))
}

fn submit(source: &ClusterSource) -> String {
    let spec = JobSpec {
        space: "panex".to_owned(),
        params: BTreeMap::from([("level".to_owned(), "3".to_owned())]),
        shards: 1,
        engine: EngineKind::Explicit,
    };
    let journal = &source.cluster.journal;
    journal.submit("panex-3", None, spec, JobOptions::default(), 7, None).unwrap().0.id
}

#[test]
fn queued_jobs_are_listed_before_ended_ones() {
    let (_folder, source) = source();
    let ids: Vec<String> = (0..4).map(|_| submit(&source)).collect();
    source.change(&ids[0], Action::Cancel).unwrap();
    source.change(&ids[2], Action::Cancel).unwrap();
    let shown = |source: &ClusterSource| -> Vec<(String, JobState, u32)> {
        let jobs = source.overview().unwrap().jobs;
        jobs.into_iter().map(|job| (job.id, job.state, job.queue_position)).collect()
    };
    let [a, b, c, d] = [0, 1, 2, 3].map(|at: usize| ids[at].clone());
    let expected = [
        (b.clone(), JobState::Queued, 0),
        (d.clone(), JobState::Queued, 1),
        (c, JobState::Cancelled, 0),
        (a.clone(), JobState::Cancelled, 0),
    ];
    assert_eq!(shown(&source), expected);
    let again = source.change(&a, Action::Cancel).unwrap_err();
    assert_eq!(again, SourceError::Refused(format!("job {a} has ended already")));
    source.change(&a, Action::Resume).unwrap();
    assert_eq!(shown(&source)[2], (a, JobState::Queued, 2));
    assert!(matches!(source.change(&b, Action::Remove), Err(SourceError::Refused(_))));
    source.change(&b, Action::Cancel).unwrap();
    source.change(&b, Action::Remove).unwrap();
    assert!(matches!(source.job(&b), Err(SourceError::NoSuchJob(_))));
    assert_eq!(source.overview().unwrap().jobs.len(), 3);
    assert_eq!(source.job(&d).unwrap().params["level"], "3");
}

#[test]
fn a_page_needs_the_full_id_of_a_job() {
    let (_folder, source) = source();
    let id = submit(&source);
    assert!(source.job(&id).is_ok());
    let prefix = source.job("panex-3").unwrap_err();
    assert_eq!(prefix, SourceError::NoSuchJob("panex-3".to_owned()));
}

#[test]
fn the_overview_is_bounded() {
    let (_folder, source) = source();
    let ids: Vec<String> = (0..=ENDED).map(|_| submit(&source)).collect();
    assert!(!source.overview().unwrap().has_more_jobs);
    for id in &ids {
        source.change(id, Action::Cancel).unwrap();
    }
    let overview = source.overview().unwrap();
    assert_eq!((overview.jobs.len(), overview.has_more_jobs), (ENDED, true));
    assert_eq!(overview.jobs[0].id, ids[ENDED]);
}

fn line() -> LayerRecord {
    LayerRecord {
        depth: 0,
        states: 1,
        positions: 1,
        generated: 3,
        regions: 1,
        bytes: 10,
        digest: Weight([0, 0]),
        seconds: 0.0,
        ..LayerRecord::default()
    }
}

#[test]
fn layers_come_from_the_view_and_the_journal() {
    let (_folder, source) = source();
    let id = submit(&source);
    let line = |depth: u32| LayerRecord {
        depth,
        states: u64::from(depth) + 1,
        seconds: f64::from(depth),
        ..line()
    };
    assert_eq!(source.layers(&id, 0).unwrap(), []);
    let saved: Vec<LayerRecord> = (0..1500).map(line).collect();
    let (entry, ()) = source.cluster.journal.update(&id, |_| ()).unwrap();
    let entry = source.cluster.journal.checkpoint(&entry.id, &saved, |_| ()).unwrap();
    let depths = |source: &ClusterSource, from| {
        let layers = source.layers(&id, from).unwrap();
        (layers.first().map(|layer| layer.depth), layers.last().map(|layer| layer.depth))
    };
    assert_eq!(depths(&source, 0), (Some(0), Some(1023)));
    assert_eq!(depths(&source, 1024), (Some(1024), Some(1499)));
    assert_eq!(depths(&source, 1500), (None, None));
    let view = source.cluster.job(&id);
    view.activate(entry.progress);
    view.add_layer(line(1500), strata_run::Figures::default());
    assert_eq!(depths(&source, 1024), (Some(1024), Some(1499)));
    assert_eq!(depths(&source, 1500), (Some(1500), Some(1500)));
    assert_eq!(depths(&source, 1501), (None, None));
}

#[test]
fn log_entries_become_marks_in_the_charts() {
    let (_folder, source) = source();
    let id = submit(&source);
    let view = source.cluster.job(&id);
    for text in [
        "submitted".to_owned(),
        "session epoch=1 workers=w1 from the start".to_owned(),
        "checkpoint layer=7 bytes=10 took=0.1s".to_owned(),
        format!("{ROLLED_BACK}7"),
        format!("session started epoch=2 workers=w1{FROM_CHECKPOINT}7"),
        format!("session started epoch=3 workers=w1,w2{FROM_CHECKPOINT}9"),
        "checkpoint layer=x".to_owned(),
    ] {
        view.log(Level::Info, &text);
    }
    let part = source.log(&id, 0).unwrap();
    let marks: Vec<(MarkKind, u32)> = part.entries.iter().filter_map(|entry| entry.mark).collect();
    let expected = [(MarkKind::Checkpoint, 7), (MarkKind::Rollback, 7), (MarkKind::Resume, 9)];
    assert_eq!(marks, expected);
    assert_eq!(source.log(&id, part.next).unwrap().entries, []);
}

#[test]
fn a_running_job_has_its_figures_and_the_age_and_cost_of_its_checkpoint() {
    let (_folder, source) = source();
    let id = submit(&source);
    let line = LayerRecord { depth: 0, states: 1, ..line() };
    let made = source.cluster.seconds() - 40;
    let change = |entry: &mut JobEntry| {
        entry.state = crate::entry::JobState::Running;
        entry.expected_states = Some(1000.0);
        entry.checkpoint =
            Some(ClusterCheckpoint { depth: 0, records: Vec::new(), owners: vec![0], made });
    };
    let journal = &source.cluster.journal;
    let entry = journal.checkpoint(&id, std::slice::from_ref(&line), change).unwrap();
    source.cluster.work.add_checkpoint(&id, 4096, Duration::from_millis(250));
    let view = source.cluster.job(&id);
    view.activate(entry.progress);
    view.set_workers(1, Vec::new());
    let left = strata_run::forecast::Range { low: 8.0, high: 10.0 };
    let figures = strata_run::Figures {
        rate: 5.0,
        mean_rate: 4.0,
        share_of_work: Some(0.25),
        time_left: Some(left),
    };
    view.add_layer(LayerRecord { depth: 1, ..line }, figures);
    let shown = source.job(&id).unwrap();
    assert_eq!((shown.state, &*shown.engine), (JobState::Running, "explicit"));
    assert_eq!((shown.share, shown.expected_states), (Some(0.25), Some(1000.0)));
    let left = shown.eta_seconds.unwrap();
    assert!(left.low > 6.0 && left.high <= 10.0, "{left:?}");
    assert_eq!(shown.rate, Some(5.0));
    let checkpoint = shown.checkpoint.unwrap();
    assert!(checkpoint.age_seconds.is_some_and(|age| (40.0..60.0).contains(&age)));
    assert_eq!((checkpoint.cost_seconds, checkpoint.bytes), (Some(0.25), Some(4096)));
    let expected = source.expected(&id).unwrap();
    assert_eq!(expected.first().map(|(depth, _)| *depth), Some(2));
    assert_eq!(expected.last().map(|(depth, _)| *depth), Some(21));
}

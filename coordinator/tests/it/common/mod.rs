//! Fixtures for tests of the journal: jobs, layers, and a snapshot of a journal's content.

use std::collections::{BTreeMap, BTreeSet};

use strata_coordinator::{
    ClusterCheckpoint, EndState, EndedJob, JobEntry, JobOptions, Journal, JournalError,
    WorkerEntry, WorkerNumber,
};
use strata_store::{CheckpointFile, EngineKind, Hex64, JobSpec, LayerRecord, Weight};

/// All states of jobs that have ended.
pub(crate) const STATES: [EndState; 4] =
    [EndState::Stopped, EndState::Cancelled, EndState::Failed, EndState::Done];

pub(crate) fn spec(n: u32) -> JobSpec {
    let params = BTreeMap::from([("n".to_owned(), n.to_string())]);
    JobSpec { space: "panex".to_owned(), params, shards: 64, engine: EngineKind::Explicit }
}

pub(crate) fn line(depth: u32, salt: u64) -> LayerRecord {
    let states = salt.wrapping_mul(0x9e37_79b9).wrapping_add(u64::from(depth));
    LayerRecord {
        depth,
        states,
        positions: states,
        generated: states.wrapping_mul(3),
        regions: states / 7,
        bytes: 100 + states / 2,
        digest: Weight::hash(states),
        seconds: states as f64 / 997.0,
        ..LayerRecord::default()
    }
}

pub(crate) fn checkpoint(depth: u32) -> ClusterCheckpoint {
    let record = CheckpointFile {
        depth,
        worker: 0,
        file: format!("layer-{depth:06}-000.strata"),
        bytes: 4096,
        states: 17,
        positions: 17,
        regions: 3,
        generated: 51,
        digest: Weight([1, u64::from(depth)]),
        seal: Hex64(99),
    };
    let (records, owners) = (vec![record], vec![0; 64]);
    ClusterCheckpoint { depth, records, owners, made: 3 }
}

pub(crate) fn submit(journal: &Journal, name: Option<&str>, n: u32) -> JobEntry {
    let (entry, new) = journal
        .submit(
            &format!("panex-{n}"),
            name.map(Into::into),
            spec(n),
            JobOptions::default(),
            5,
            None,
        )
        .unwrap();
    assert!(new);
    entry
}

/// Everything in a journal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Content {
    pub(crate) workers: Vec<WorkerEntry>,
    pub(crate) jobs: Vec<JobEntry>,
    pub(crate) layers: BTreeMap<String, Vec<LayerRecord>>,
    /// The jobs that have ended, in the order of their ids.
    pub(crate) ended: Vec<EndedJob>,
    /// Removed jobs, of which workers may still hold files.
    pub(crate) removed: BTreeMap<WorkerNumber, BTreeSet<String>>,
}

pub(crate) fn content(journal: &Journal) -> Result<Content, JournalError> {
    let jobs = journal.jobs()?;
    let layers = jobs.iter().map(|job| Ok((job.id.clone(), journal.layers(&job.id)?)));
    let layers = layers.collect::<Result<_, JournalError>>()?;
    let workers = journal.workers()?;
    let mut ended = journal.ended_before(u64::MAX, &STATES)?;
    ended.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    let mut removed = BTreeMap::new();
    for worker in &workers {
        let jobs = journal.pending_removals(worker.number, usize::MAX)?;
        if !jobs.is_empty() {
            removed.insert(worker.number, jobs.into_iter().collect());
        }
    }
    Ok(Content { workers, jobs, layers, ended, removed })
}

//! Snapshot of the cluster for the metrics.

use std::collections::BTreeMap;
use std::time::SystemTime;

use strata_proto::v1;

use super::super::view;
use crate::cluster::context::Cluster;
use crate::cluster::membership::MemberView;
use crate::cluster::work::JobWork;
use crate::entry::{EndState, JobEntry};
use crate::journal::error::JournalError;
use crate::journal::lists::Census;

/// Time for which a job has series after its end, in seconds.
pub(super) const ENDED_SECONDS: u64 = 24 * 60 * 60;

/// Most ended jobs that have series: those that ended last.
pub(super) const ENDED_JOBS: usize = 64;

/// A running job, or one that ended a short time ago.
#[derive(Clone, Debug, Default)]
pub(super) struct JobMetrics {
    /// The job as clients see it.
    pub(super) job: v1::Job,
    /// When its last checkpoint was made, in seconds since 1970; `None` if that is unknown.
    pub(super) checkpoint_made: Option<u64>,
    /// Time between its checkpoints, in seconds.
    pub(super) checkpoint_interval: f64,
    /// Its work since the coordinator started; `None` if it had no session.
    pub(super) work: Option<JobWork>,
}

/// The cluster at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// Now, in seconds since 1970.
    pub(super) now: f64,
    /// When the coordinator started, in seconds since 1970.
    pub(super) started: f64,
    /// Whether no access of the journal has failed since its last successful write.
    pub(super) is_journal_writable: bool,
    /// Number of jobs in each state; empty if the journal cannot be read.
    pub(super) counts: BTreeMap<v1::JobState, u64>,
    /// Jobs that have series, by id.
    pub(super) jobs: BTreeMap<String, JobMetrics>,
    /// Workers that connected since the start, by number.
    pub(super) workers: Vec<MemberView>,
}

impl Snapshot {
    /// The cluster now. Reads the journal.
    ///
    /// # Errors
    /// If the journal is damaged. Without access to it there are no jobs.
    pub(super) fn take(cluster: &Cluster) -> Result<Snapshot, JournalError> {
        let now = cluster.platform().wall_time();
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let (counts, jobs) = match jobs(cluster, now as u64) {
            Err(error) if error.is_unavailable() => Default::default(),
            jobs => jobs?,
        };
        Ok(Snapshot {
            now,
            started: now - cluster.started.elapsed().as_secs_f64(),
            is_journal_writable: cluster.journal.fault().is_none(),
            counts,
            jobs,
            workers: cluster.membership.members(),
        })
    }
}

pub(super) type Jobs = (BTreeMap<v1::JobState, u64>, BTreeMap<String, JobMetrics>);

/// The number of jobs in each state, and the jobs that have series at the time `now`, in seconds
/// since 1970.
pub(super) fn jobs(cluster: &Cluster, now: u64) -> Result<Jobs, JournalError> {
    let since = now.saturating_sub(ENDED_SECONDS);
    let Census { queued, running, mut newest_ended, ended } = cluster.journal.census(ENDED_JOBS)?;
    newest_ended.retain(|job| job.ended >= Some(since));
    let entries = newest_ended.iter().chain(&running);
    let jobs = entries.map(|entry| (entry.id.clone(), job_metrics(cluster, entry)));
    let jobs: BTreeMap<String, JobMetrics> = jobs.collect();

    let mut counts: BTreeMap<v1::JobState, u64> = BTreeMap::new();
    counts.extend([(v1::JobState::Waiting, 0), (v1::JobState::Running, 0)]);
    counts.insert(v1::JobState::Queued, queued as u64);
    counts.extend(ended.iter().map(|(state, count)| (message_state(*state), *count)));
    for entry in &running {
        let state = jobs.get(&entry.id).map(|job| job.job.state());
        *counts.entry(state.unwrap_or_default()).or_default() += 1;
    }
    Ok((counts, jobs))
}

fn message_state(state: EndState) -> v1::JobState {
    match state {
        EndState::Stopped => v1::JobState::Stopped,
        EndState::Cancelled => v1::JobState::Cancelled,
        EndState::Failed => v1::JobState::Failed,
        EndState::Done => v1::JobState::Done,
    }
}

fn job_metrics(cluster: &Cluster, entry: &JobEntry) -> JobMetrics {
    let live = cluster.job_in_use(&entry.id).and_then(|view| view.snapshot());
    let interval = entry.options.checkpoint_interval.unwrap_or(cluster.options.checkpoint_interval);
    JobMetrics {
        job: view::job(entry, live, 0),
        checkpoint_made: entry.checkpoint.as_ref().map(|checkpoint| checkpoint.made),
        checkpoint_interval: interval.as_secs_f64(),
        work: cluster.work.of(&entry.id),
    }
}

//! The queue: one job at a time, in order, each session after session until it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Cluster;
use super::admission::{Admission, ClusterState, admit};
use super::error::ClusterError;
use super::job_view::{JobView, Level};
use super::session;
use super::worker_pool::is_passing;
use crate::entry::{JobEntry, JobState, Limit};
use crate::journal::JournalError;
use strata::{DriveError, Retryable};
use strata::{Outcome, Refusal, StopReason};
use strata_proto::v1::FailureKind;

/// How often the queue looks around without being rung for.
const ROUND: Duration = Duration::from_millis(500);

/// Before a session is tried again: the lost worker may be back at once.
const PAUSE: Duration = Duration::from_millis(200);

/// Works on jobs until the coordinator shuts down.
pub(crate) fn run(cluster: &Arc<Cluster>) {
    while !cluster.is_shutting_down() {
        match next(cluster) {
            Ok(Some(entry)) => {
                if let Err(error) = work(cluster, &entry) {
                    tracing::error!(job = entry.id, "{error}");
                    cluster.wait(ROUND);
                }
            }
            Ok(None) => cluster.wait(ROUND),
            Err(error) => {
                tracing::error!("{error}");
                cluster.wait(ROUND);
            }
        }
    }
}

/// The job that ran when the coordinator ended, or the first in the queue.
fn next(cluster: &Cluster) -> Result<Option<JobEntry>, JournalError> {
    let jobs = cluster.journal.jobs()?;
    let running = jobs.iter().find(|entry| entry.state == JobState::Running);
    Ok(running.or_else(|| jobs.iter().find(|entry| entry.state == JobState::Queued)).cloned())
}

/// Works on a job until it ends or the coordinator shuts down.
fn work(cluster: &Arc<Cluster>, entry: &JobEntry) -> Result<(), JournalError> {
    let job = cluster.job(&entry.id)?;
    job.begin();
    let worked = work_through(cluster, &job, entry);
    job.crew(0, Vec::new());
    job.end();
    worked
}

fn work_through(
    cluster: &Arc<Cluster>,
    job: &Arc<JobView>,
    entry: &JobEntry,
) -> Result<(), JournalError> {
    // In one transaction, as a cancellation is: neither can undo the other.
    let (entry, ()) = cluster.journal.update(&entry.id, |entry| {
        if entry.state == JobState::Queued {
            entry.state = JobState::Running;
        }
        job.set_cancelled(entry.cancel);
    })?;
    job.state();
    if entry.state != JobState::Running {
        return Ok(());
    }
    // It goes on when the coordinator is back, if there is no other state.
    if let Some(state) = sessions(cluster, job, &entry.id)? {
        tell(job, &state);
        set_state(cluster, job, &entry.id, state)?;
    }
    Ok(())
}

fn set_state(
    cluster: &Cluster,
    job: &JobView,
    id: &str,
    state: JobState,
) -> Result<(), JournalError> {
    cluster.journal.update(id, |entry| {
        if entry.state != JobState::Done {
            entry.state = state;
        }
    })?;
    job.state();
    Ok(())
}

fn tell(job: &JobView, state: &JobState) {
    match state {
        JobState::Done => job.note(Level::Info, "done"),
        JobState::Cancelled => job.note(Level::Info, "cancelled; it can be resumed"),
        JobState::Stopped(limit) => {
            job.note(Level::Warn, &format!("stopped: {limit}; it can be resumed"));
        }
        JobState::Failed { why, .. } => job.note(Level::Error, &format!("failed: {why}")),
        JobState::Queued | JobState::Running => {}
    }
}

/// Session after session. None if the coordinator is shutting down.
fn sessions(
    cluster: &Arc<Cluster>,
    job: &Arc<JobView>,
    id: &str,
) -> Result<Option<JobState>, JournalError> {
    loop {
        let entry = cluster.journal.find(id)?;
        if entry.state == JobState::Done {
            return Ok(Some(JobState::Done));
        }
        if job.is_cancelled() {
            return Ok(Some(JobState::Cancelled));
        }
        let owners = match wait_for_workers(cluster, job, &entry)? {
            Ready::Owners(owners) => owners,
            Ready::Stop => continue,
            Ready::Shutdown => return Ok(None),
            Ready::Failed(why) => {
                return Ok(Some(JobState::Failed { corrupt: false, why }));
            }
        };
        match session::run(cluster, job, &entry, owners) {
            Ok(Outcome::Stopped(StopReason::Moving)) => {}
            Ok(Outcome::Stopped(StopReason::Interrupted)) => {
                if cluster.is_shutting_down() {
                    return Ok(None);
                }
            }
            Ok(Outcome::Stopped(reason)) => return Ok(Some(stopped(reason))),
            Ok(Outcome::Goal(_) | Outcome::Exhausted) => return Ok(Some(JobState::Done)),
            Err(DriveError::Failed(ClusterError::Shutdown)) => return Ok(None),
            Err(DriveError::Failed(error)) if is_passing(&error) => {
                job.note(Level::Warn, &format!("{error}: back to the last checkpoint"));
                std::thread::sleep(PAUSE);
            }
            Err(DriveError::Failed(ClusterError::Journal(error))) => return Err(error),
            Err(DriveError::Failed(error)) => {
                let Some(reason) = error.exhausted() else {
                    return Ok(Some(why_failed(DriveError::Failed(error))));
                };
                job.note(Level::Error, &error.to_string());
                return Ok(Some(stopped(reason)));
            }
            Err(trouble) => return Ok(Some(why_failed(trouble))),
        }
    }
}

fn stopped(reason: StopReason) -> JobState {
    JobState::Stopped(match reason {
        StopReason::MaxLayers => Limit::MaxLayers,
        StopReason::DiskLimit => Limit::DiskLimit,
        StopReason::MemoryFull => Limit::MemoryFull,
        StopReason::DiskFull | StopReason::Interrupted | StopReason::Moving => Limit::DiskFull,
    })
}

fn why_failed(trouble: DriveError<ClusterError>) -> JobState {
    match trouble {
        DriveError::Failed(error) => {
            let corrupt = matches!(error, ClusterError::Failed { kind: FailureKind::Corrupt, .. });
            JobState::Failed { corrupt, why: error.to_string() }
        }
        DriveError::Refused(refusal) => {
            let corrupt = matches!(refusal, Refusal::Differs { .. });
            JobState::Failed { corrupt, why: refusal.to_string() }
        }
    }
}

/// What came of waiting for workers.
enum Ready {
    Owners(Vec<u16>),
    /// The job is cancelled.
    Stop,
    Shutdown,
    Failed(String),
}

fn wait_for_workers(
    cluster: &Cluster,
    job: &JobView,
    entry: &JobEntry,
) -> Result<Ready, JournalError> {
    let since = Instant::now();
    let timeout = cluster.options.worker_timeout;
    let mut told = None;
    loop {
        if cluster.is_shutting_down() {
            return Ok(Ready::Shutdown);
        }
        if job.is_cancelled() {
            return Ok(Ready::Stop);
        }
        let members = cluster.membership.members();
        let here = members.iter().filter(|member| member.alive && !member.beat.leaving);
        let situation = ClusterState {
            alive: &here.map(|member| member.entry.number).collect::<Vec<u16>>(),
            known: &cluster.journal.workers()?,
            checkpoint: entry.checkpoint.as_ref(),
            width: job.snapshot().last.map_or(0, |line| line.states),
            narrow: cluster.narrow(&entry.spec),
            shards: entry.spec.shards,
            early: cluster.started.elapsed() < cluster.options.lease.min(Duration::from_secs(3)),
            has_store: cluster.options.has_store,
            overdue: since.elapsed() >= timeout,
        };
        let names = match admit(&situation) {
            Admission::Start(owners) => return Ok(Ready::Owners(owners)),
            Admission::Wait(names) => names,
            Admission::Fail(names) => {
                let timeout = humantime(timeout);
                let why = format!("no sign of {} for {timeout}", names.join(", "));
                return Ok(Ready::Failed(why));
            }
        };
        if told.as_ref() != Some(&names) && !situation.early {
            let whom = if names.is_empty() { "a worker".to_owned() } else { names.join(", ") };
            job.note(Level::Warn, &format!("waiting for {whom}"));
            told = Some(names.clone());
        }
        job.crew(0, names);
        cluster.wait(ROUND);
    }
}

fn humantime(duration: Duration) -> String {
    format!("{:.0} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use strata_store::JobSpec;

    use super::*;
    use crate::cluster::ClusterOptions;
    use crate::cluster::job_view::JobViews;
    use crate::entry::JobOptions;
    use crate::journal::Journal;
    use strata::KeepLayers;

    #[test]
    fn a_job_that_is_cancelled_while_the_queue_takes_it_up_stays_so() {
        let folder = tempfile::tempdir().unwrap();
        let options = ClusterOptions {
            lease: Duration::from_secs(1),
            worker_timeout: Duration::from_secs(1),
            checkpoint_interval: Duration::from_secs(1),
            has_store: false,
            narrow: 1,
        };
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let cluster = Cluster::new(options, journal, JobViews::new(folder.path()));
        let spec = JobSpec {
            space: "panex".to_owned(),
            params: Default::default(),
            shards: 1,
            engine: strata_store::EngineKind::Explicit,
        };
        let options = JobOptions {
            checkpoint_interval: None,
            max_layers: None,
            disk_limit: None,
            keep: KeepLayers::Last,
        };
        let (taken, _) = cluster.journal.submit("panex", None, spec, options, 0).unwrap();
        let cancel = |entry: &mut JobEntry| {
            entry.cancel = true;
            entry.state = JobState::Cancelled;
        };
        cluster.journal.update(&taken.id, cancel).unwrap();
        // Whoever takes it up all the same does not wait for workers.
        cluster.shut_down();
        work(&cluster, &taken).unwrap();
        assert_eq!(cluster.journal.find(&taken.id).unwrap().state, JobState::Cancelled);
        assert!(!cluster.job(&taken.id).unwrap().is_at_work());
    }
}

//! Removal of jobs: of their logs at the coordinator, and of their files at workers.
//!
//! The journal's tombstones list what is left to remove. Connected workers are sent the jobs that
//! they may hold, at once and then once a lease until they confirm. Absent workers are sent them
//! when they reconnect.

use std::sync::Arc;
use std::time::Duration;

use strata_proto::net::limits;
use strata_proto::platform::{Instant, Panicked};
use strata_proto::v1;
use strata_store::check_name;

use super::context::Cluster;
use crate::entry::WorkerNumber;
use crate::journal::error::JournalError;

/// Time in which confirmations are collected for one transaction.
const COLLECT: Duration = Duration::from_millis(20);

/// Longest wait for a worker's list of jobs.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval at which [`holders`] reads the journal's tombstones.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Why the workers that hold files of removed jobs are unknown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HoldersError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The read panicked, which is a bug, or was dropped because the runtime ends.
    #[error("the read of the journal panicked: {0}")]
    Panicked(#[from] Panicked),
}

/// Sends removals to workers and records their confirmations, until the task is aborted.
pub(crate) async fn run(cluster: Arc<Cluster>) {
    let mut repeat = tokio::time::interval(cluster.membership.lease());
    loop {
        tokio::select! {
            biased;
            () = cluster.removals.notified() => tokio::time::sleep(COLLECT).await,
            _ = repeat.tick() => {}
        }
        let shared = Arc::clone(&cluster);
        let updated = cluster.platform().blocking(move || update(&shared)).await;
        match updated {
            Ok(Ok(())) => {}
            // The journal logs its own faults. The requests to workers are repeated.
            Ok(Err(error)) if error.is_unavailable() => {}
            Ok(Err(error)) => tracing::error!("removed jobs: {error}"),
            Err(panicked) => tracing::error!("removed jobs: {panicked}"),
        }
    }
}

/// Records the confirmations that have arrived, and sends the pending removals to connected
/// workers.
fn update(cluster: &Cluster) -> Result<(), JournalError> {
    let confirmed = cluster.removals.take_confirmed();
    if !confirmed.is_empty() {
        cluster.journal.confirm_removals(&confirmed)?;
    }
    for worker in cluster.membership.connected() {
        let jobs = cluster.journal.pending_removals(worker, limits::REMOVALS)?;
        if !jobs.is_empty() {
            let remove = v1::to_worker::Message::Remove(v1::RemoveJobs { jobs });
            cluster.membership.send(worker, remove);
        }
    }
    Ok(())
}

/// Deletes the logs of removed jobs. A log that cannot be deleted is tried again by the next call.
///
/// # Errors
/// Those of the journal.
pub(crate) fn remove_logs(cluster: &Cluster) -> Result<(), JournalError> {
    let mut gone = cluster.journal.pending_logs()?;
    gone.retain(|job| match cluster.remove_log(job) {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(job, "the log of the removed job stays: {error}");
            false
        }
    });
    if gone.is_empty() { Ok(()) } else { cluster.journal.confirm_logs(&gone) }
}

/// Waits until no live worker holds files of the removed jobs `jobs`, at most for `timeout`.
/// Returns the workers, live or not, that may still hold some.
///
/// # Errors
/// `Journal` if the journal cannot be read, `Panicked` if the read panics or is dropped.
pub(crate) async fn holders(
    cluster: &Arc<Cluster>,
    jobs: &Arc<Vec<String>>,
    timeout: Duration,
) -> Result<Vec<WorkerNumber>, HoldersError> {
    let begun = Instant::now();
    loop {
        let (shared, of) = (Arc::clone(cluster), Arc::clone(jobs));
        let holders = cluster.platform().blocking(move || shared.journal.holders(&of)).await;
        let holders = holders??;
        let is_awaited = |worker: &WorkerNumber| cluster.membership.is_alive(*worker);
        if begun.elapsed() >= timeout || !holders.iter().any(is_awaited) {
            return Ok(holders);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// The jobs of this journal that a worker has folders of, and whose files have not changed for
/// `idle`. `None` if the worker does not reply.
pub(crate) async fn held_jobs(
    cluster: &Cluster,
    worker: WorkerNumber,
    idle: Duration,
) -> Option<Vec<String>> {
    let idle_ms = u64::try_from(idle.as_millis()).unwrap_or(u64::MAX);
    let (mut held, mut after) = (Vec::new(), String::new());
    loop {
        let (request, replied) = cluster.removals.expect_list(worker);
        let list = v1::ListHeldJobs { request, after: after.clone(), idle_ms };
        cluster.membership.send(worker, v1::to_worker::Message::List(list));
        let replied = tokio::time::timeout(LIST_TIMEOUT, replied).await;
        cluster.removals.forget_list(request);
        let v1::HeldJobs { jobs, more, error, .. } = replied.ok()?.ok()?;
        if !error.is_empty() {
            tracing::warn!(worker, "the worker cannot list its jobs: {error}");
            return None;
        }
        let last = jobs.last().cloned();
        // The names become parts of paths.
        held.extend(jobs.into_iter().filter(|job| check_name("job id", job).is_ok()));
        match last.filter(|last| more && *last > after) {
            Some(last) => after = last,
            None => return Some(held),
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_proto::platform::System;
    use strata_run::catalogue::Registry;
    use tokio::runtime::Runtime;

    use super::*;
    use crate::cluster::context::ClusterOptions;
    use crate::cluster::job_view::JobViews;
    use crate::journal::operations::Journal;

    #[test]
    fn holders_are_unknown_if_the_read_of_the_journal_does_not_end() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let mut options = ClusterOptions::for_tests(Registry::shipped());
        // A runtime that has ended drops the work that it is given.
        let ended = Runtime::new().unwrap();
        options.platform = System::new(ended.handle());
        drop(ended);
        let cluster = Cluster::new(options, journal, JobViews::new(folder.path()), 1);
        let jobs = Arc::default();
        let holders = holders(&cluster, &jobs, Duration::ZERO);
        let error = Runtime::new().unwrap().block_on(holders).unwrap_err();
        assert!(matches!(error, HoldersError::Panicked(_)), "{error}");
    }
}

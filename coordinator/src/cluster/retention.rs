//! Retention: removal of jobs that ended long ago or before many others.

use super::context::{Cluster, Retention};
use super::removal::remove_logs;
use crate::entry::EndState;
use crate::journal::error::JournalError;

/// States of the jobs that are removed. A job that a limit stopped stays until it is removed by hand.
const STATES: [EndState; 3] = [EndState::Done, EndState::Failed, EndState::Cancelled];

/// Jobs that are removed in one transaction.
pub(crate) const BATCH: usize = 64;

/// Removes the jobs that the coordinator's settings do not retain.
///
/// # Errors
/// Those of the journal.
pub(crate) fn apply(cluster: &Cluster) -> Result<(), JournalError> {
    let Retention { jobs, age } = cluster.options.retention;
    let mut ended = Vec::new();
    if let Some(keep) = jobs {
        ended.extend(cluster.journal.ended_beyond(keep, &STATES)?);
    }
    if let Some(age) = age {
        let time = cluster.seconds().saturating_sub(age.as_secs());
        ended.extend(cluster.journal.ended_before(time, &STATES)?);
    }
    let mut ids: Vec<String> = ended.into_iter().map(|job| job.id).collect();
    ids.sort_unstable();
    ids.dedup();
    for ids in ids.chunks(BATCH) {
        for job in cluster.journal.remove_ended(ids)? {
            tracing::info!(job = job.id, "removed: not retained");
        }
        remove_logs(cluster)?;
        cluster.removals.wake();
    }
    if ids.len() >= BATCH {
        cluster.journal.shrink();
    }
    Ok(())
}

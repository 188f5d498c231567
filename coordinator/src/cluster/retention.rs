//! Retention: removal of jobs that ended too long ago, or are more than the number to keep.

use std::time::Duration;

use super::context::{Cluster, Retention};
use super::removal::remove_logs;
use crate::entry::EndState;
use crate::journal::error::JournalError;

/// States of the jobs that are removed. A job that a limit stopped stays until a user removes it.
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
        let last = last_end(cluster.seconds(), age);
        ended.extend(cluster.journal.ended_before(last, &STATES)?);
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

/// The last second, since 1970, of jobs that are at least `age` old at `now`. The journal stores whole
/// seconds, so a job is certain to be as old as `age` only a second later; an age of zero includes all
/// jobs.
fn last_end(now: u64, age: Duration) -> u64 {
    if age.is_zero() { now } else { now.saturating_sub(age.as_secs() + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_retained_for_at_least_the_age() {
        let is_retained = |ended, now, age| ended > last_end(now, Duration::from_secs(age));
        // It may have ended at the end of second 44, and now may be the beginning of second 45.
        assert!(is_retained(44, 45, 1) && !is_retained(44, 46, 1));
        assert!(is_retained(44, 104, 60) && !is_retained(44, 105, 60));
        assert!(!is_retained(44, 44, 0));
    }
}

//! Changes of jobs on request of users: cancel, resume, remove. They write the journal, so they run
//! on blocking threads.

use std::sync::Arc;

use super::removal::remove_ended;
use crate::cluster::context::Cluster;
use crate::cluster::event::Level;
use crate::entry::{JobEntry, JobState};
use crate::journal::error::JournalError;

/// Cancels a job. The job ends at the next layer, or at once if it is queued or its session has
/// only begun. Returns the job, and whether it had already ended.
///
/// # Errors
/// Those of the journal.
pub(super) fn cancel(cluster: &Cluster, id: &str) -> Result<(JobEntry, bool), JournalError> {
    let view = cluster.job(id);
    let before = view.is_cancelled();
    let updated = cluster.journal.update(id, |entry| {
        let had_ended = entry.state.has_ended();
        if !had_ended {
            entry.cancel = true;
            view.set_cancelled(true);
        }
        if entry.state == JobState::Queued {
            entry.state = JobState::Cancelled;
        }
        had_ended
    });
    match &updated {
        Ok((_, false)) => view.notify_state(),
        Ok((_, true)) => {}
        // A cancellation that is not in the journal has no effect.
        Err(_) => view.set_cancelled(before),
    }
    cluster.wake_queue();
    updated
}

/// Queues a job again.
///
/// # Errors
/// Those of the journal.
pub(super) fn resume(cluster: &Cluster, id: &str) -> Result<JobEntry, JournalError> {
    cluster.membership.forget_replaced();
    let entry = cluster.journal.requeue(id)?;
    let view = cluster.job(&entry.id);
    view.log(Level::Info, "queued again");
    view.notify_state();
    cluster.wake_queue();
    Ok(entry)
}

/// Removes a job that has ended. Workers remove their files later.
///
/// # Errors
/// `NotEnded` if the job has not ended or its last events are not written yet; those of the
/// journal.
pub(super) fn remove(cluster: &Arc<Cluster>, id: &str) -> Result<(), JournalError> {
    if cluster.job_in_use(id).is_some_and(|view| view.is_active()) {
        return Err(JournalError::NotEnded { job: id.to_owned() });
    }
    remove_ended(cluster, id)?;
    Ok(())
}

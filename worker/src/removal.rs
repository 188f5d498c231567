//! Removal of jobs that the coordinator's journal no longer has, and the list of jobs that this
//! worker holds.

use std::sync::Arc;
use std::time::Duration;

use strata_proto::v1;
use strata_store::{OwnedJob, StoreError, owned_jobs};
use tokio::sync::mpsc;

use crate::error::RemovalError;
use crate::folders::Taken;
use crate::state::NodeState;
use crate::task::Task;

/// Most jobs in the list of held jobs.
const HELD: usize = 4096;

/// Removes jobs in the background, and reports each. The coordinator repeats its request for those that
/// could not be removed.
pub(crate) fn remove(
    state: &Arc<NodeState>,
    tasks: &mpsc::UnboundedSender<Task>,
    jobs: Vec<String>,
) {
    if state.removals.add(jobs) {
        state.runtime.spawn(remove_queued(Arc::clone(state), tasks.clone()));
    }
}

async fn remove_queued(state: Arc<NodeState>, tasks: mpsc::UnboundedSender<Task>) {
    while let Some(job) = state.removals.next() {
        match remove_job(&state, &job).await {
            Ok(true) => {
                state.removals.succeeded(&job);
                let removed = v1::RemovedJobs { jobs: vec![job] };
                state.orders.send(v1::from_worker::Message::Removed(removed));
            }
            // The executor has the job prepared. The journal no longer has it, so its session is
            // over.
            Ok(false) => {
                state.fence_job(&job);
                let _ = tasks.send(Task::Abandon(job));
            }
            Err(error) => {
                if state.removals.is_new(&job) {
                    tracing::warn!(job, "the job cannot be removed: {error}; tried again");
                }
            }
        }
    }
}

/// Removes a job's folder, and its files in the shared store. Both stay if they belong to another
/// journal. Returns false if the executor has the job prepared.
async fn remove_job(state: &Arc<NodeState>, job: &str) -> Result<bool, RemovalError> {
    let (shared, name) = (Arc::clone(state), job.to_owned());
    let removed = state.platform().blocking(move || {
        let (fs, data_dir) = (shared.platform().fs(), &shared.options.data_dir);
        let journal = shared.seen_journal().id;
        match shared.active_folder.take(fs, data_dir, &journal, &name)? {
            Taken::Folder(folder) => {
                folder.delete()?;
                tracing::info!(job = name, "removed");
                Ok::<_, StoreError>(Taken::Absent)
            }
            other => Ok(other),
        }
    });
    let taken = removed.await.map_err(|panicked| RemovalError::Panicked(panicked.message))??;
    match (taken, &state.store) {
        (Taken::Active, _) => return Ok(false),
        (Taken::Absent | Taken::Folder(_), Some(store)) => {
            store.delete_job(state.platform(), job).await?;
        }
        (Taken::Foreign, _) | (_, None) => {}
    }
    Ok(true)
}

/// Replies with the list of jobs that this worker holds.
pub(crate) async fn list(state: Arc<NodeState>, request: v1::ListHeldJobs) {
    let number = request.request;
    let shared = Arc::clone(&state);
    let held = state.platform().blocking(move || held(&shared, &request)).await;
    let failed = |error: String| v1::HeldJobs { error, ..v1::HeldJobs::default() };
    let held = match held {
        Ok(Ok(held)) => held,
        Ok(Err(error)) => failed(error.to_string()),
        Err(panicked) => failed(panicked.message),
    };
    state.orders.send(v1::from_worker::Message::Held(v1::HeldJobs { request: number, ..held }));
}

fn held(state: &NodeState, request: &v1::ListHeldJobs) -> Result<v1::HeldJobs, StoreError> {
    let (platform, journal) = (state.platform(), state.seen_journal().id);
    let (now, idle) = (platform.wall_time(), Duration::from_millis(request.idle_ms));
    let owned = owned_jobs(&*platform.fs(), &state.options.data_dir, &journal)?;
    let is_idle = |job: &OwnedJob| {
        idle.is_zero() || now.duration_since(job.modified).is_ok_and(|since| since >= idle)
    };
    let wanted = owned.into_iter().filter(|job| job.job > request.after && is_idle(job));
    let mut jobs: Vec<String> = wanted.map(|job| job.job).take(HELD + 1).collect();
    let more = jobs.len() > HELD;
    jobs.truncate(HELD);
    Ok(v1::HeldJobs { jobs, more, ..v1::HeldJobs::default() })
}

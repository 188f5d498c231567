//! Executor thread: executes the coordinator's orders, one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use strata_proto::platform::Thread;
use strata_proto::v1;
use strata_proto::v1::answer::Outcome;
use tokio::sync::mpsc::{
    UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel,
};

use crate::error::{NodeError, OrderError};
use crate::job::ActiveJob;
use crate::orders::{EpochId, answer};
use crate::removal;
use crate::state::NodeState;
use crate::task::Task;

/// Starts the thread. It ends when the returned sender is dropped and the last task is done.
///
/// # Errors
/// [`NodeError::Thread`] if there are no more threads.
pub(crate) fn start(state: &Arc<NodeState>) -> Result<(UnboundedSender<Task>, Thread), NodeError> {
    let (tasks, received) = unbounded_channel();
    let executor = Arc::clone(state);
    let own = tasks.downgrade();
    let work = Box::new(move || run_loop(&executor, received, &own));
    let thread = state.platform().start("worker", work);
    Ok((tasks, thread.map_err(|source| NodeError::Thread { source })?))
}

fn run_loop(
    state: &Arc<NodeState>,
    mut tasks: UnboundedReceiver<Task>,
    own: &WeakUnboundedSender<Task>,
) {
    let mut active = None;
    while let Some(task) = state.platform().wait(tasks.recv()) {
        let order = match task {
            Task::Order(order) => *order,
            Task::Abandon(job) => {
                abandon(state, &mut active, &job);
                if let Some(tasks) = own.upgrade() {
                    removal::remove(state, &tasks, vec![job]);
                }
                continue;
            }
        };
        let (epoch, number) = (EpochId::of(&order), order.number);
        let done = catch_unwind(AssertUnwindSafe(|| execute(state, &mut active, order)));
        let mut done = done.unwrap_or(Err(OrderError::Panicked));
        if let Some(failure) = active.as_ref().and_then(|job| job.epoch.failure()) {
            // Replaces the order's result by the loss: a layer without the lost exits would be
            // wrong, and most other errors follow from the loss.
            done = Err(failure.clone().into());
        }
        if matches!(done, Err(OrderError::Panicked)) {
            // The job may be in any state.
            release(state, &mut active);
        }
        let outcome = done.unwrap_or_else(|error| {
            tracing::warn!(epoch = epoch.number, order = number, "{error}");
            Outcome::Failure(error.to_message())
        });
        state.orders.answer(answer(epoch, number, outcome));
    }
}

/// Releases the files and the memory of the active job.
fn release(state: &NodeState, active: &mut Option<ActiveJob>) {
    state.set_current(None);
    *active = None;
    state.active_folder.leave();
    state.memory_use.end_job();
}

/// Releases the active job if it has this id.
fn abandon(state: &NodeState, active: &mut Option<ActiveJob>, job: &str) {
    if active.as_ref().is_some_and(|active| active.epoch.folder.job() == job) {
        release(state, active);
    }
}

/// Executes an order.
fn execute(
    state: &Arc<NodeState>,
    active: &mut Option<ActiveJob>,
    order: v1::Order,
) -> Result<Outcome, OrderError> {
    use v1::order::What;
    let epoch = EpochId::of(&order);
    if epoch.is_over(state.orders.newest()) {
        return Err(OrderError::EpochOver { epoch: order.epoch });
    }
    match (order.what, active) {
        (Some(What::Prepare(prepare)), active) => {
            // Releases files and memory of the previous job first.
            release(state, active);
            state.memory_use.begin_job(state.platform());
            state.active_folder.enter(&prepare.job);
            let prepared = ActiveJob::prepare(state, epoch, prepare);
            let job = prepared.inspect_err(|_| release(state, active))?;
            state.set_current(Some(Arc::clone(&job.epoch)));
            *active = Some(job);
            Ok(Outcome::Noted(v1::Noted {}))
        }
        (Some(What::Release(_)), active) => {
            state.fence(EpochId { number: epoch.number.saturating_add(1), ..epoch });
            release(state, active);
            Ok(Outcome::Noted(v1::Noted {}))
        }
        (Some(what), Some(job)) if job.epoch.id == epoch => job.execute(state, what),
        _ => Err(OrderError::NotPrepared { epoch: order.epoch }),
    }
}

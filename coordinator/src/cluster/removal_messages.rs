//! Messages about removals of jobs, between the connections to workers and the tasks that remove jobs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use strata_proto::v1;
use tokio::sync::{Notify, oneshot};

use crate::entry::WorkerNumber;

/// A request that a worker has not replied to.
#[derive(Debug)]
struct PendingList {
    worker: WorkerNumber,
    reply: oneshot::Sender<v1::HeldJobs>,
}

/// Messages about removals between the coordinator's tasks and its workers.
#[derive(Debug, Default)]
pub(crate) struct Removals {
    /// Jobs whose removal workers have confirmed, until the journal has the confirmation.
    confirmed: Mutex<BTreeMap<WorkerNumber, BTreeSet<String>>>,
    /// Requests for lists of jobs, by number.
    lists: Mutex<HashMap<u64, PendingList>>,
    last_list: AtomicU64,
    /// There is something to send or to record.
    wake: Notify,
}

impl Removals {
    fn confirmed(&self) -> MutexGuard<'_, BTreeMap<WorkerNumber, BTreeSet<String>>> {
        self.confirmed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lists(&self) -> MutexGuard<'_, HashMap<u64, PendingList>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the confirmations that have arrived.
    pub(super) fn take_confirmed(&self) -> Vec<(WorkerNumber, Vec<String>)> {
        let confirmed = std::mem::take(&mut *self.confirmed()).into_iter();
        confirmed.map(|(worker, jobs)| (worker, jobs.into_iter().collect())).collect()
    }

    /// Ready when there is something to send or to record.
    pub(super) async fn notified(&self) {
        self.wake.notified().await;
    }

    /// Reserves a number for a request for a worker's jobs. Returns it and the receiver of the
    /// reply.
    pub(super) fn expect_list(
        &self,
        worker: WorkerNumber,
    ) -> (u64, oneshot::Receiver<v1::HeldJobs>) {
        let request = self.last_list.fetch_add(1, Ordering::Relaxed) + 1;
        let (reply, replied) = oneshot::channel();
        self.lists().insert(request, PendingList { worker, reply });
        (request, replied)
    }

    /// Ends the wait for a request's reply; a later reply is dropped.
    pub(super) fn forget_list(&self, request: u64) {
        self.lists().remove(&request);
    }

    /// Wakes the task that sends pending removals to the connected workers.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Records that a worker holds no files of these removed jobs.
    pub(crate) fn confirm(&self, worker: WorkerNumber, jobs: Vec<String>) {
        self.confirmed().entry(worker).or_default().extend(jobs);
        self.wake();
    }

    /// Takes a worker's reply to a request for its jobs.
    pub(crate) fn listed(&self, worker: WorkerNumber, held: v1::HeldJobs) {
        let mut lists = self.lists();
        if lists.get(&held.request).is_some_and(|pending| pending.worker == worker)
            && let Some(pending) = lists.remove(&held.request)
        {
            // The call that asked may be over.
            let _ = pending.reply.send(held);
        }
    }
}

//! Shared state of a worker process.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use strata_proto::net::Security;
use strata_proto::platform::Platform;
use strata_proto::v1;
use strata_store::BufferPool;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::checkpoint_store::CheckpointStore;
use crate::epoch::Epoch;
use crate::folders::{ActiveFolder, Removals};
use crate::identity::Identity;
use crate::memory_use::MemoryUse;
use crate::options::NodeOptions;
use crate::orders::{EpochId, OrderLog};
use crate::resources::ResourceSampler;

/// What a worker has seen of a coordinator's journal.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenJournal {
    /// Its id; empty before the first connection.
    pub(crate) id: String,
    /// The greatest epoch; 0 for none.
    pub(crate) epoch: u64,
}

/// Most buffers of pieces of files that are kept.
const KEPT_PIECES: usize = 64;

/// State that the modules of a worker process share.
pub(crate) struct NodeState {
    pub(crate) options: NodeOptions,
    /// URL at which other workers reach this one.
    pub(crate) address: String,
    pub(crate) security: Security,
    pub(crate) identity: Identity,
    pub(crate) store: Option<CheckpointStore>,
    /// Runtime of the tasks that threads start.
    pub(crate) runtime: Handle,
    pub(crate) orders: OrderLog,
    /// The folder of the job that the executor has prepared.
    pub(crate) active_folder: ActiveFolder,
    pub(crate) removals: Removals,
    /// The user of the memory budget.
    pub(crate) memory_use: Arc<MemoryUse>,
    resources: Arc<ResourceSampler>,
    /// The journal of the coordinator of the last connection, and the greatest epoch seen of it.
    journal: Mutex<SeenJournal>,
    /// The epoch whose job this worker runs.
    current: RwLock<Option<Arc<Epoch>>>,
    /// Depth of the last complete layer.
    pub(crate) depth: AtomicU32,
    /// Buffers of pieces of files that other workers fetch.
    pub(crate) pieces: Arc<BufferPool>,
    /// Bytes of exits that were sent.
    pub(crate) sent_bytes: AtomicU64,
    /// Bytes of exits that were received. Files are not counted.
    pub(crate) received_bytes: AtomicU64,
    /// The lease in milliseconds, set by the coordinator.
    pub(crate) lease_ms: AtomicU64,
    /// This worker's number, assigned by the coordinator.
    pub(crate) number: AtomicU32,
    /// The process is to end after the next checkpoint.
    leaving: AtomicBool,
    /// Conditions that delay the end of a leaving process.
    holds: watch::Sender<Holds>,
    /// Requests an immediate heartbeat.
    pub(crate) heartbeat_now: tokio::sync::Notify,
    /// Held by the running check of files.
    pub(crate) checks: tokio::sync::Semaphore,
}

/// Conditions that delay the end of a leaving process, and the dismissal that overrides them.
#[derive(Clone, Copy, Debug, Default)]
struct Holds {
    /// There is a current epoch.
    is_busy: bool,
    /// There is a connection to the coordinator. Other workers may need files of this one.
    is_connected: bool,
    /// The coordinator has dismissed the process.
    is_dismissed: bool,
}

impl Holds {
    fn may_end(&self) -> bool {
        self.is_dismissed || !(self.is_busy || self.is_connected)
    }
}

impl NodeState {
    /// The state of a process that has not registered yet.
    pub(crate) fn new(
        options: NodeOptions,
        address: String,
        security: Security,
        identity: Identity,
        store: Option<CheckpointStore>,
        runtime: Handle,
    ) -> Arc<NodeState> {
        Arc::new(NodeState {
            resources: ResourceSampler::new(
                Arc::clone(&options.platform),
                options.data_dir.clone(),
            ),
            options,
            address,
            security,
            identity,
            store,
            runtime,
            orders: OrderLog::default(),
            active_folder: ActiveFolder::default(),
            removals: Removals::default(),
            memory_use: Arc::default(),
            journal: Mutex::default(),
            current: RwLock::new(None),
            depth: AtomicU32::new(0),
            pieces: BufferPool::new(KEPT_PIECES),
            sent_bytes: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            lease_ms: AtomicU64::new(10_000),
            number: AtomicU32::new(0),
            leaving: AtomicBool::new(false),
            holds: watch::Sender::new(Holds::default()),
            heartbeat_now: tokio::sync::Notify::new(),
            checks: tokio::sync::Semaphore::new(1),
        })
    }

    /// The platform it runs on.
    pub(crate) fn platform(&self) -> &dyn Platform {
        &*self.options.platform
    }

    /// The current epoch.
    pub(crate) fn current(&self) -> Option<Arc<Epoch>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the current epoch.
    pub(crate) fn set_current(&self, epoch: Option<Arc<Epoch>>) {
        self.holds.send_modify(|holds| holds.is_busy = epoch.is_some());
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = epoch;
    }

    /// Ends all epochs before this one: their pending operations fail.
    pub(crate) fn fence(&self, epoch: EpochId) {
        self.orders.fence(epoch);
        self.fence_current();
    }

    /// Ends all epochs: the process is about to end.
    pub(crate) fn close(&self) {
        self.fence(EpochId { number: u64::MAX, ..self.orders.newest() });
        self.memory_use.end_search();
    }

    /// Ends the current epoch if it is this one. Its orders are still answered.
    pub(crate) fn end_session(&self, epoch: EpochId) {
        if let Some(current) = self.current().filter(|current| current.id == epoch) {
            current.fence();
        }
    }

    /// Ends the current epoch if it is one of this job.
    pub(crate) fn fence_job(&self, job: &str) {
        if let Some(current) = self.current().filter(|current| current.folder.job() == job) {
            current.fence();
        }
    }

    /// Ends the current epoch if a newer one is known.
    fn fence_current(&self) {
        let newest = self.orders.newest();
        if let Some(current) = self.current().filter(|current| current.id.is_over(newest)) {
            current.fence();
        }
    }

    /// What this worker has seen of the coordinator's journal.
    pub(crate) fn seen_journal(&self) -> SeenJournal {
        self.journal().clone()
    }

    /// Records that an epoch of the coordinator's journal has begun.
    pub(crate) fn saw_epoch(&self, number: u64) {
        let mut journal = self.journal();
        journal.epoch = journal.epoch.max(number);
    }

    fn journal(&self) -> MutexGuard<'_, SeenJournal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the journal and the incarnation of the coordinator of a new connection. The epochs
    /// of other incarnations end: their orders are no longer executed or answered, and their
    /// batches no longer accepted.
    pub(crate) fn enter(&self, journal: &str, incarnation: u64) {
        let ended = self.orders.enter(incarnation);
        self.removals.clear();
        let mut seen = self.journal();
        if !seen.id.is_empty() && seen.id != journal {
            tracing::warn!(
                "the coordinator has another journal now ({journal}, not {}): the jobs of the \
                 other one stay on disk and are not used",
                seen.id
            );
        } else if ended {
            tracing::warn!("the coordinator was restarted: the session of before has ended");
        }
        if seen.id != journal {
            *seen = SeenJournal { id: journal.to_owned(), epoch: 0 };
        }
        drop(seen);
        self.fence_current();
    }

    /// Records whether this worker is registered over a connection.
    pub(crate) fn set_connected(&self, connected: bool) {
        self.holds.send_modify(|holds| holds.is_connected = connected);
    }

    /// Requests the end of the process after the next checkpoint.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Release);
        self.heartbeat_now.notify_one();
    }

    /// Lets a leaving process end: the coordinator no longer needs it. This also covers a process
    /// that a session which is over has not released.
    pub(crate) fn dismiss(&self) {
        if self.leaving.load(Ordering::Acquire) {
            self.holds.send_modify(|holds| holds.is_dismissed = true);
        }
    }

    /// Returns when the process is dismissed, or has neither an epoch nor a connection to the
    /// coordinator, which would dismiss it.
    pub(crate) async fn may_end(&self) {
        let mut holds = self.holds.subscribe();
        // This cannot fail: `self` holds the sender.
        let _ = holds.wait_for(Holds::may_end).await;
    }

    /// A heartbeat message.
    pub(crate) async fn heartbeat(&self) -> v1::WorkerBeat {
        let resources = self.resources.sample().await;
        v1::WorkerBeat {
            epoch: self.current().map_or(0, |epoch| epoch.id.number),
            depth: self.depth.load(Ordering::Relaxed),
            rss_bytes: resources.rss,
            peak_rss_bytes: resources.peak_rss,
            disk_free_bytes: resources.disk_free,
            exchange_sent_bytes: self.sent_bytes.load(Ordering::Relaxed),
            exchange_received_bytes: self.received_bytes.load(Ordering::Relaxed),
            leaving: self.leaving.load(Ordering::Acquire),
        }
    }
}

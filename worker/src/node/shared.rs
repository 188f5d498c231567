//! What the parts of a worker's process share.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use strata_net::Security;
use strata_proto::v1;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::NodeOptions;
use super::epoch::Epoch;
use super::identity::Identity;
use super::store::CheckpointStore;

/// See the module.
pub(crate) struct Shared {
    pub(crate) options: NodeOptions,
    /// Where the other workers reach this one.
    pub(crate) address: String,
    pub(crate) security: Security,
    pub(crate) identity: Identity,
    pub(crate) store: Option<CheckpointStore>,
    pub(crate) runtime: Handle,
    /// What is worked on.
    current: RwLock<Option<Arc<Epoch>>>,
    /// The greatest epoch that was heard of: older ones are over.
    newest: AtomicU64,
    progress: Mutex<Progress>,
    /// Depth of the last complete layer.
    pub(crate) depth: AtomicU32,
    pub(crate) sent_bytes: AtomicU64,
    pub(crate) received_bytes: AtomicU64,
    /// The lease in milliseconds, once the coordinator has told.
    pub(crate) lease_ms: AtomicU64,
    /// Own number, once the coordinator has told.
    pub(crate) number: AtomicU32,
    leaving: AtomicBool,
    /// Whether an epoch is worked on.
    busy: watch::Sender<bool>,
    /// Wakes the sender of beats.
    pub(crate) beat_now: tokio::sync::Notify,
}

/// Which orders were taken, and what was answered.
#[derive(Debug, Default)]
struct Progress {
    epoch: u64,
    taken: u64,
    answer: Option<v1::Answer>,
    /// To the coordinator, while there is a connection.
    outbound: Option<mpsc::UnboundedSender<v1::FromWorker>>,
}

/// What to do with an order.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Carry it out.
    New,
    /// It is being carried out.
    Running,
    /// It has been answered, or cannot be carried out any more.
    Answered(Box<v1::Answer>),
}

impl Shared {
    pub(crate) fn new(
        options: NodeOptions,
        address: String,
        security: Security,
        identity: Identity,
        store: Option<CheckpointStore>,
        runtime: Handle,
    ) -> Arc<Shared> {
        Arc::new(Shared {
            options,
            address,
            security,
            identity,
            store,
            runtime,
            current: RwLock::new(None),
            newest: AtomicU64::new(0),
            progress: Mutex::default(),
            depth: AtomicU32::new(0),
            sent_bytes: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            lease_ms: AtomicU64::new(10_000),
            number: AtomicU32::new(0),
            leaving: AtomicBool::new(false),
            busy: watch::Sender::new(false),
            beat_now: tokio::sync::Notify::new(),
        })
    }

    /// What is worked on.
    pub(crate) fn current(&self) -> Option<Arc<Epoch>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Something else is worked on, or nothing.
    pub(crate) fn set_current(&self, epoch: Option<Arc<Epoch>>) {
        self.busy.send_replace(epoch.is_some());
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = epoch;
    }

    /// Everything older than this epoch is over, and is to fail soon.
    pub(crate) fn fence(&self, epoch: u64) {
        self.newest.fetch_max(epoch, Ordering::AcqRel);
        if let Some(current) = self.current().filter(|current| current.number < epoch) {
            current.fence();
        }
    }

    /// The greatest epoch that was heard of.
    pub(crate) fn newest(&self) -> u64 {
        self.newest.load(Ordering::Acquire)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where answers go from now on.
    pub(crate) fn connect(&self, outbound: Option<mpsc::UnboundedSender<v1::FromWorker>>) {
        self.progress().outbound = outbound;
    }

    /// Decides about an order.
    pub(crate) fn take(&self, order: &v1::Order) -> Taken {
        let mut progress = self.progress();
        let fenced = order.epoch < self.newest();
        if order.epoch == progress.epoch && order.number <= progress.taken && !fenced {
            return match &progress.answer {
                Some(answer) if answer.order == order.number => {
                    Taken::Answered(Box::new(answer.clone()))
                }
                _ => Taken::Running,
            };
        }
        if fenced {
            let outcome = v1::answer::Outcome::Failure(v1::Failure {
                kind: v1::FailureKind::Fenced.into(),
                message: format!("epoch {} is over", order.epoch),
            });
            let (epoch, order) = (order.epoch, order.number);
            let answer = v1::Answer { epoch, order, outcome: Some(outcome) };
            return Taken::Answered(Box::new(answer));
        }
        self.newest.fetch_max(order.epoch, Ordering::AcqRel);
        (progress.epoch, progress.taken, progress.answer) = (order.epoch, order.number, None);
        Taken::New
    }

    /// Sends an answer, and remembers it: the order may come again.
    pub(crate) fn answer(&self, answer: v1::Answer) {
        let mut progress = self.progress();
        if (progress.epoch, progress.taken) == (answer.epoch, answer.order) {
            progress.answer = Some(answer.clone());
        }
        if let Some(outbound) = &progress.outbound {
            let message = Some(v1::from_worker::Message::Answer(answer));
            let _ = outbound.send(v1::FromWorker { message });
        }
    }

    /// The process was asked to end.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Release);
        self.beat_now.notify_one();
    }

    /// Returns when nothing is worked on.
    pub(crate) async fn idle(&self) {
        let mut busy = self.busy.subscribe();
        let _ = busy.wait_for(|busy| !busy).await;
    }

    /// A sign of life.
    pub(crate) fn beat(&self) -> v1::WorkerBeat {
        let memory = super::work::resident();
        v1::WorkerBeat {
            epoch: self.current().map_or(0, |epoch| epoch.number),
            depth: self.depth.load(Ordering::Relaxed),
            rss_bytes: memory.0,
            peak_rss_bytes: memory.1,
            disk_free_bytes: super::work::disk_free(&self.options.data_dir),
            exchange_sent_bytes: self.sent_bytes.load(Ordering::Relaxed),
            exchange_received_bytes: self.received_bytes.load(Ordering::Relaxed),
            leaving: self.leaving.load(Ordering::Acquire),
        }
    }
}

//! One epoch at a worker: the job, the inbox, the links to other workers, and how it ends.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use strata_engine::explicit::{Bounds, Inbox, InboxError};
use strata_proto::platform::Platform;
use strata_space::ExitEdge;
use strata_store::JobDir;
use tokio::sync::watch;

use crate::error::{EpochFailure, LinkError};
use crate::link::Link;
use crate::orders::EpochId;

/// The parts of an [`Epoch`].
pub(crate) struct EpochParts {
    pub(crate) id: EpochId,
    /// This worker's number.
    pub(crate) own: u16,
    pub(crate) folder: JobDir,
    pub(crate) inbox: Arc<Inbox>,
    /// Owner of each shard: worker numbers, by shard.
    pub(crate) owners: Arc<[u16]>,
    /// Exclusive bound of local parts.
    pub(crate) locals: u128,
    /// Number of exit edges of the space.
    pub(crate) exit_edges: ExitEdge,
    /// Links by the other worker's number.
    pub(crate) links: BTreeMap<u16, Arc<Link>>,
}

/// An epoch in which this worker runs a job.
pub(crate) struct Epoch {
    pub(crate) id: EpochId,
    /// This worker's number.
    pub(crate) own: u16,
    pub(crate) folder: JobDir,
    pub(crate) inbox: Arc<Inbox>,
    /// Owner of each shard: worker numbers, by shard.
    pub(crate) owners: Arc<[u16]>,
    pub(crate) locals: u128,
    exit_edges: ExitEdge,
    /// Links by the other worker's number.
    pub(crate) links: BTreeMap<u16, Arc<Link>>,
    /// Depth of the layer in progress: exits of shallower layers are consumed.
    floor: AtomicU32,
    over: watch::Sender<bool>,
    /// Number of the last accepted batch by sender, locked while a batch is being accepted.
    received: Mutex<HashMap<u16, Arc<tokio::sync::Mutex<u64>>>>,
    failure: OnceLock<EpochFailure>,
}

impl Epoch {
    pub(crate) fn new(parts: EpochParts) -> Epoch {
        let EpochParts { id, own, folder, inbox, owners, locals, exit_edges, links } = parts;
        Epoch {
            id,
            own,
            folder,
            inbox,
            owners,
            locals,
            exit_edges,
            links,
            floor: AtomicU32::new(0),
            over: watch::Sender::new(false),
            received: Mutex::default(),
            failure: OnceLock::new(),
        }
    }

    /// Ends the epoch: its pending operations fail.
    pub(crate) fn fence(&self) {
        self.over.send_replace(true);
        self.close_links(&LinkError::EpochOver { epoch: self.id.number });
    }

    /// Whether the epoch has ended.
    pub(crate) fn is_over(&self) -> bool {
        *self.over.borrow()
    }

    /// Blocks the executor's thread until a future is ready or the epoch ends, whichever is first.
    /// `None` if the epoch has ended; the future is dropped then. The executor waits for other
    /// nodes and for the shared store only in this way, so that no wait outlasts its session.
    pub(crate) fn wait<T>(
        &self,
        platform: &dyn Platform,
        future: impl Future<Output = T>,
    ) -> Option<T> {
        let mut over = self.over.subscribe();
        platform.wait(async {
            tokio::select! {
                biased;
                // This cannot fail: `self` holds the sender.
                _ = over.wait_for(|over| *over) => None,
                output = future => Some(output),
            }
        })
    }

    /// Records that accepted exits may be lost. The order in progress and all later ones fail.
    pub(crate) fn fail(&self, failure: EpochFailure) {
        tracing::warn!(epoch = self.id.number, "accepted exits may be lost: {failure}");
        let _ = self.failure.set(failure);
        self.close_links(&LinkError::EpochFailed { epoch: self.id.number });
    }

    /// The recorded failure.
    pub(crate) fn failure(&self) -> Option<&EpochFailure> {
        self.failure.get()
    }

    fn close_links(&self, error: &LinkError) {
        self.links.values().for_each(|link| link.close(error.clone()));
    }

    /// Marks the exits of layers before `depth` as consumed: later batches of them are refused.
    pub(crate) fn set_floor(&self, depth: u32) {
        self.floor.store(depth, Ordering::Release);
    }

    /// Whether exits of a layer may still arrive.
    pub(crate) fn expects(&self, depth: u32) -> bool {
        let floor = self.floor.load(Ordering::Acquire);
        (floor..=floor + 1).contains(&depth)
    }

    /// Number of the last batch accepted from a worker.
    pub(crate) fn received(&self, from: u16) -> Arc<tokio::sync::Mutex<u64>> {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.entry(from).or_default().clone()
    }

    /// Puts a batch into the inbox.
    ///
    /// # Errors
    /// [`InboxError::Refused`] if it is damaged or not for this worker, [`InboxError::Incomplete`]
    /// if exits are lost.
    pub(crate) fn accept(&self, depth: u32, run: &[u8], from: u16) -> Result<(), InboxError> {
        let owns = |shard: u32| self.owners.get(shard as usize) == Some(&self.own);
        let Epoch { locals, exit_edges, .. } = *self;
        let bounds = Bounds { owns: &owns, locals, exit_edges };
        self.inbox.accept_encoded(depth, run, &format!("batch of worker {from}"), &bounds)
    }
}

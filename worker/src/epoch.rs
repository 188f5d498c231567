//! One epoch at a worker: the job, the inbox, the links to other workers, and how it ends.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use strata_engine::explicit::{Bounds, Inbox, InboxError};
use strata_proto::platform::Platform;
use strata_space::ExitEdge;
use strata_store::JobDir;
use tokio::sync::{Notify, watch};

use crate::barrier::{Barrier, LayerEnd};
use crate::error::{BarrierError, EpochFailure, LinkError};
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
    /// Notified when a link is closed.
    pub(crate) changed: Arc<Notify>,
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
    barrier: Mutex<Barrier>,
    /// Notified when the layer in progress may be complete, or can never be.
    changed: Arc<Notify>,
    over: watch::Sender<bool>,
    /// Number of the last accepted batch by sender, locked while a batch is being accepted.
    received: Mutex<HashMap<u16, Arc<tokio::sync::Mutex<u64>>>>,
    failure: OnceLock<EpochFailure>,
}

impl Epoch {
    pub(crate) fn new(parts: EpochParts) -> Epoch {
        let EpochParts { id, own, folder, inbox, owners, locals, exit_edges, links, changed } =
            parts;
        Epoch {
            id,
            own,
            folder,
            inbox,
            owners,
            locals,
            exit_edges,
            barrier: Mutex::new(Barrier::new(links.len())),
            links,
            changed,
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

    fn barrier(&self) -> MutexGuard<'_, Barrier> {
        self.barrier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a layer the one in progress. The exits of layers before it are consumed: later batches of
    /// them are refused.
    pub(crate) fn begin_layer(&self, depth: u32) {
        self.barrier().begin(depth);
    }

    /// Whether exits of a layer may still come from a worker.
    pub(crate) fn expects(&self, from: u16, depth: u32) -> bool {
        self.barrier().expects(from, depth)
    }

    /// Takes the end of a layer, after all exits of it from this worker.
    pub(crate) fn receive_end(&self, from: u16, depth: u32, end: LayerEnd) {
        let is_complete = self.barrier().receive(from, depth, end);
        // It had all batches of the layers before, otherwise it could not have made this one.
        if let Some(link) = self.links.get(&from) {
            link.acknowledge_before(depth);
        }
        if is_complete {
            self.changed.notify_waiters();
        }
    }

    /// Tells the other workers that this one has made its part of the layer in progress, and waits until
    /// all have. On return all exits that lead to this worker are in the inbox. Returns whether the window
    /// ends; `widths` are the states of layers after which it may go on. If the window ends here, also waits until the others have received this worker's end:
    /// while no order is executed, nobody would notice that a link fails.
    ///
    /// # Errors
    /// [`BarrierError::EpochOver`] if the epoch ends, [`BarrierError::Link`] if a link is closed,
    /// [`BarrierError::Failed`] if exits are lost.
    pub(crate) fn end_layer(
        &self,
        platform: &dyn Platform,
        depth: u32,
        own: LayerEnd,
        widths: &RangeInclusive<u64>,
    ) -> Result<bool, BarrierError> {
        for (to, link) in &self.links {
            let sent = link.send_end(depth, own);
            sent.map_err(|source| BarrierError::Link { to: *to, source })?;
        }
        let complete = async {
            loop {
                // Enabled before the look, so that no notification is missed.
                let mut changed = pin!(self.changed.notified());
                changed.as_mut().enable();
                if let Some(failure) = self.failure() {
                    return Err(BarrierError::Failed(failure.clone()));
                }
                if let Some(sum) = self.barrier().complete(own) {
                    return Ok(sum);
                }
                let closed = self.links.iter().find_map(|(to, link)| Some((*to, link.closed()?)));
                if let Some((to, source)) = closed {
                    return Err(BarrierError::Link { to, source });
                }
                changed.await;
            }
        };
        let over = BarrierError::EpochOver { epoch: self.id.number };
        let sum = self.wait(platform, complete).unwrap_or(Err(over))?;
        let ends_window = sum.ends_window(widths);
        if ends_window {
            for (to, link) in &self.links {
                link.flush().map_err(|source| BarrierError::Link { to: *to, source })?;
            }
        }
        Ok(ends_window)
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

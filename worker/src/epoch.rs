//! One epoch at a worker: the job, the inbox, the links to other workers, and how it ends.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use strata_engine::explicit::{Bounds, Inbox, InboxError};
use strata_proto::platform::Platform;
use strata_proto::v1;
use strata_space::ExitEdge;
use strata_store::JobDir;
use tokio::sync::{Notify, watch};

use crate::barrier::{Barrier, Carried, EndMessage, LayerEnd, NotDue};
use crate::error::{BarrierError, EpochFailure, LinkError};
use crate::grid::Grid;
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
    /// Workers in a row of the grid; 0 for all.
    pub(crate) columns: usize,
    /// The most bytes of expansions from other workers that wait for the next layer.
    pub(crate) learned: usize,
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
    /// Numbers of all workers, ascending: their places in the grid.
    members: Vec<u16>,
    grid: Grid,
    barrier: Mutex<Barrier>,
    learned: Mutex<Learned>,
    /// Notified when the layer in progress may be complete, or can never be.
    changed: Arc<Notify>,
    over: watch::Sender<bool>,
    /// Number of the last accepted batch by sender, locked while a batch is being accepted.
    received: Mutex<HashMap<u16, Arc<tokio::sync::Mutex<u64>>>>,
    failure: OnceLock<EpochFailure>,
}

/// Expansions from other workers that wait for the next layer.
#[derive(Debug, Default)]
struct Learned {
    parts: Vec<Bytes>,
    bytes: usize,
    /// The most bytes. What does not fit is left out: it is computed when it is needed.
    most: usize,
}

impl Learned {
    fn add(&mut self, parts: &[Bytes]) {
        for part in parts {
            if self.bytes + part.len() <= self.most {
                self.bytes += part.len();
                self.parts.push(part.clone());
            }
        }
    }
}

impl Epoch {
    pub(crate) fn new(parts: EpochParts) -> Epoch {
        let EpochParts { id, own, folder, inbox, owners, locals, exit_edges, .. } = parts;
        let EpochParts { links, columns, changed, learned: most, .. } = parts;
        let mut members: Vec<u16> = links.keys().copied().chain([own]).collect();
        members.sort_unstable();
        let grid = Grid::new(members.len(), columns);
        let place = members.partition_point(|member| *member < own);
        Epoch {
            id,
            own,
            folder,
            inbox,
            owners,
            locals,
            exit_edges,
            barrier: Mutex::new(Barrier::new(grid, place)),
            learned: Mutex::new(Learned { most, ..Learned::default() }),
            members,
            grid,
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

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Expansions that other workers have learned since the last call.
    pub(crate) fn take_learned(&self) -> Vec<Bytes> {
        let mut learned = self.learned();
        learned.bytes = 0;
        std::mem::take(&mut learned.parts)
    }

    fn barrier(&self) -> MutexGuard<'_, Barrier> {
        self.barrier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a layer the one in progress. The exits of layers before it are consumed: later batches of
    /// them are refused.
    pub(crate) fn begin_layer(&self, depth: u32) {
        self.barrier().begin(depth);
    }

    /// The place of a worker in the grid.
    fn place(&self, worker: u16) -> Option<usize> {
        self.members.binary_search(&worker).ok()
    }

    /// Whether exits of a layer may still come from a worker.
    pub(crate) fn expects(&self, from: u16, depth: u32) -> bool {
        self.place(from).is_some_and(|from| self.barrier().expects(from, depth))
    }

    /// Checks the end of a layer from a worker.
    ///
    /// # Errors
    /// [`NotDue`].
    pub(crate) fn check_end(
        &self,
        from: u16,
        depth: u32,
        end: v1::LayerEnd,
    ) -> Result<EndMessage, NotDue> {
        let v1::LayerEnd { states, ends_window, of_row, carried, learned } = end;
        let place = |number: u32| {
            u16::try_from(number).ok().and_then(|number| self.place(number)).ok_or(NotDue)
        };
        let part = |part: v1::CarriedExits| {
            let v1::CarriedExits { from, to, run, direct } = part;
            Ok(Carried { from: place(from)?, to: place(to)?, run, direct })
        };
        let carried = carried.into_iter().map(part).collect::<Result<_, _>>()?;
        let end = LayerEnd { states, is_last: ends_window };
        let message = EndMessage { is_of_row: of_row, end, carried, learned };
        self.barrier().check(place(from.into())?, depth, &message)?;
        Ok(message)
    }

    /// The exits in an end that are for this worker, and who has found them.
    pub(crate) fn carried_here<'a>(
        &self,
        end: &'a EndMessage,
    ) -> impl Iterator<Item = (u16, &'a Bytes)> {
        let parts = end.carried.iter().filter(|part| end.is_of_row && !part.run.is_empty());
        parts.map(|part| (self.members[part.from], &part.run))
    }

    /// Notes that a batch, whose exits are in the inbox, has been accepted, and takes the end in it.
    pub(crate) fn received_batch(
        &self,
        from: u16,
        sequence: u64,
        depth: u32,
        end: Option<EndMessage>,
    ) {
        let Some(place) = self.place(from) else { return };
        let has_end = end.is_some();
        let mut barrier = self.barrier();
        barrier.accepted(place, sequence);
        if let Some(end) = end {
            self.learned().add(&end.learned);
            let messages = barrier.receive(place, depth, end);
            // A link that is closed is noticed by who waits for the layer.
            let _ = self.send_ends(depth, messages);
        }
        let is_complete = barrier.complete().is_some();
        drop(barrier);
        if has_end && let Some(link) = self.links.get(&from) {
            // It had all batches of the layers before, otherwise it could not have made this one.
            link.acknowledge_before(depth);
        }
        if is_complete {
            self.changed.notify_waiters();
        }
    }

    /// Sends ends of a layer, by place of the receiver.
    fn send_ends(
        &self,
        depth: u32,
        messages: Vec<(usize, EndMessage)>,
    ) -> Result<(), BarrierError> {
        for (place, EndMessage { is_of_row, end, carried, learned }) in messages {
            let to = self.members[place];
            let number = |place: usize| self.members[place].into();
            let part = |Carried { from, to, run, direct }| v1::CarriedExits {
                from: number(from),
                to: number(to),
                run,
                direct,
            };
            let end = v1::LayerEnd {
                states: end.states,
                ends_window: end.is_last,
                of_row: is_of_row,
                carried: carried.into_iter().map(part).collect(),
                learned,
            };
            let link = self.links.get(&to).ok_or(LinkError::NoAddress);
            let sent = link.and_then(|link| link.send_end(depth, end));
            sent.map_err(|source| BarrierError::Link { to, source })?;
        }
        Ok(())
    }

    /// The exits of the layer in progress for workers of other rows that are not on their way.
    fn withdraw(&self) -> Vec<Carried> {
        let Some(own) = self.place(self.own) else { return Vec::new() };
        let row = self.grid.row_of(own);
        let mut carried = Vec::new();
        for (place, to) in self.members.iter().enumerate() {
            let Some(link) = self.links.get(to).filter(|_| self.grid.row_of(place) != row) else {
                continue;
            };
            let (runs, direct) = link.withdraw();
            let part = |run, direct| Carried { from: own, to: place, run, direct };
            if direct > 0 {
                carried.push(part(Bytes::new(), direct));
            }
            carried.extend(runs.into_iter().map(|run| part(run, 0)));
        }
        carried
    }

    /// Tells the other workers that this one has made its part of the layer in progress, and waits until
    /// all have; `learned` is for all of them. On return all exits that lead to this worker are in the inbox.
    /// Returns whether the window ends; `widths` are the states of layers after which it may go on.
    ///
    /// If the window ends, also waits until everything that this worker has sent is acknowledged: while no
    /// order is executed, nobody would notice that a link fails.
    ///
    /// # Errors
    /// [`BarrierError::EpochOver`] if the epoch ends, [`BarrierError::Link`] if a link is closed,
    /// [`BarrierError::Failed`] if exits are lost.
    pub(crate) fn end_layer(
        &self,
        platform: &dyn Platform,
        depth: u32,
        (own, learned): (LayerEnd, &[Bytes]),
        widths: &RangeInclusive<u64>,
    ) -> Result<bool, BarrierError> {
        let carried = self.withdraw();
        {
            // Held while the messages are queued, so that their order is that of the layers.
            let mut barrier = self.barrier();
            let messages = barrier.made(own, carried, learned);
            self.send_ends(depth, messages)?;
        }
        let complete = async {
            loop {
                // Enabled before the look, so that no notification is missed.
                let mut changed = pin!(self.changed.notified());
                changed.as_mut().enable();
                if let Some(failure) = self.failure() {
                    return Err(BarrierError::Failed(failure.clone()));
                }
                if let Some(sum) = self.barrier().complete() {
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

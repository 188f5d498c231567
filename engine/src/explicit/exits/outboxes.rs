//! Outboxes: exits of one pass task, collected by receiving worker.

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_space::ExitEdge;
use strata_store::{EntryKey, Word};

use super::exchange::Exchange;
use super::run::{MAX_BYTES, MemoryRun, SortBuffers};
use crate::explicit::error::Result;
use crate::explicit::kernel::ExitSink;

/// Collects exits by the worker that owns the target's shard, and sends them as sorted runs.
pub struct Outboxes {
    exchange: Arc<dyn Exchange>,
    worker: usize,
    /// Depth of the layer that the exits belong to.
    depth: u32,
    /// Shard to worker.
    owners: Arc<[u16]>,
    /// Worker number to index in `runs`. Worker numbers may have gaps.
    slots: Vec<u16>,
    /// The number and the run of each worker that owns shards.
    runs: Vec<(usize, MemoryRun)>,
    /// Bytes of a run at which it is sent.
    limit: usize,
    buffers: SortBuffers,
}

impl Outboxes {
    /// Outboxes of a worker. `owners` maps each shard to its worker. A run is sent when it has
    /// `limit` bytes.
    pub fn new(
        exchange: Arc<dyn Exchange>,
        worker: usize,
        owners: Arc<[u16]>,
        limit: usize,
    ) -> Outboxes {
        let receivers: BTreeSet<u16> = owners.iter().copied().collect();
        let mut slots = vec![0; receivers.last().map_or(0, |last| usize::from(*last) + 1)];
        for (slot, receiver) in (0..).zip(&receivers) {
            slots[usize::from(*receiver)] = slot;
        }
        let runs = receivers.into_iter().map(|to| (to.into(), MemoryRun::default())).collect();
        let (buffers, limit) = (SortBuffers::default(), limit.min(MAX_BYTES));
        Outboxes { exchange, worker, depth: 0, owners, slots, runs, limit, buffers }
    }

    fn send_run(&mut self, slot: usize) -> Result<()> {
        let empty = self.exchange.recycled_run(self.worker);
        let (to, run) = &mut self.runs[slot];
        let mut run = std::mem::replace(run, empty);
        run.sort(&mut self.buffers);
        // It grew by doubling, and an inbox counts what is allocated.
        run.shrink(self.limit / SPARE);
        self.exchange.send(*to, self.depth, run)
    }

    /// Starts collecting the exits of a layer.
    pub(crate) fn begin(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// Sends all runs that are not empty.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let mut slots = 0..self.runs.len();
        slots.try_for_each(
            |slot| {
                if self.runs[slot].1.is_empty() { Ok(()) } else { self.send_run(slot) }
            },
        )
    }

    /// Drops all collected exits.
    pub(crate) fn clear(&mut self) {
        self.runs.iter_mut().for_each(|(_, run)| run.clear());
    }
}

impl ExitSink for Outboxes {
    #[inline]
    fn send(&mut self, target: EntryKey, inverse: Option<ExitEdge>, words: &[Word]) -> Result<()> {
        let to = usize::from(self.owners[target.shard as usize]);
        let slot = usize::from(self.slots[to]);
        let (_, run) = &mut self.runs[slot];
        run.push(target, inverse, words);
        if run.bytes() >= self.limit {
            self.send_run(slot)?;
        }
        Ok(())
    }
}

/// A run gives memory back if more than its limit divided by this is unused.
const SPARE: usize = 8;

/// Drops exits, for callers that only count states.
#[derive(Copy, Clone, Debug)]
pub struct DiscardExits;

impl ExitSink for DiscardExits {
    fn send(&mut self, _: EntryKey, _: Option<ExitEdge>, _: &[Word]) -> Result<()> {
        Ok(())
    }

    fn wants_exits(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::exits::exchange::LocalExchange;

    /// Locals of a run have positions of 32 bits, however much memory there is.
    #[test]
    fn a_run_is_sent_before_its_positions_overflow() {
        let exchange = Arc::new(LocalExchange::new(Vec::new()));
        let outboxes = Outboxes::new(exchange, 0, Arc::from([0]), usize::MAX);
        // A batch has less than a quarter of these locals.
        assert!(outboxes.limit / size_of::<Word>() <= (u32::MAX / 4) as usize + 1);
    }
}

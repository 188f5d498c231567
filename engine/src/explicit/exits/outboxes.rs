//! Outboxes: the exits of one pass task, collected by receiving worker.

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
    /// For each shard, the number of the worker that owns it.
    owners: Arc<[u16]>,
    /// For each worker number, the index in `runs`. Worker numbers may have gaps.
    slots: Vec<u16>,
    /// The number and the run of each worker that owns shards.
    runs: Vec<(usize, MemoryRun)>,
    /// Bytes at which a run is sent.
    limit: usize,
    buffers: SortBuffers,
}

impl Outboxes {
    /// Outboxes of the worker `worker`. `owners` has the number of the owning worker for each shard. A run
    /// is sent when it has `limit` bytes.
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
        // The run has grown by doubling, and an inbox counts allocated bytes.
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

/// A run frees unused memory if that is more than 1/8 of its limit.
const SPARE: usize = 8;

/// A sink that drops exits, for callers that only count states.
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

    /// Positions of locals in a run have 32 bits, whatever the memory limit is.
    #[test]
    fn a_run_is_sent_before_its_positions_overflow() {
        let exchange = Arc::new(LocalExchange::new(Vec::new()));
        let outboxes = Outboxes::new(exchange, 0, Arc::from([0]), usize::MAX);
        // A batch has less than a quarter of the locals that positions allow.
        assert!(outboxes.limit / size_of::<Word>() <= (u32::MAX / 4) as usize + 1);
    }
}

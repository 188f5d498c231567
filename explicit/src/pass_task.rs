//! What one thread needs for its part of a pass, and the pass itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_space::{ExitEdge, LayerStats, Local, State};
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, FilePart, KeyRange, Layer, LayerCursor, LayerWriter,
    List, StoreError,
};

use crate::inbox::{Exchange, Merge};
use crate::kernel::{Batches, ExitSink, Inputs, Kernel, Output};
use crate::run::{MemoryRun, Run, SortBuffers};
use crate::{Error, Result};

/// The inputs and the output of a pass, shared by all tasks.
#[derive(Copy, Clone)]
pub struct Pass<'a> {
    /// Depth d.
    pub depth: u32,
    /// Layer d.
    pub current: &'a Layer,
    /// Layer d-1; None at depth 0.
    pub previous: Option<&'a Layer>,
    /// Exits of layer d.
    pub inbox: &'a [Run],
    /// Takes layer d+1.
    pub writer: &'a LayerWriter,
    /// The state that ends the search.
    pub goal: Option<State>,
}

/// One thread's kernel, encoder, cursors and outboxes; they live as long as the job.
pub struct PassTask {
    kernel: Box<dyn Kernel>,
    encoder: BlockEncoder,
    current: LayerCursor,
    previous: LayerCursor,
    outboxes: Outboxes,
    inbox: Batches,
}

impl PassTask {
    /// A task; exits leave through `outboxes`.
    ///
    /// # Errors
    /// If there is no memory for compression.
    pub fn new(
        kernel: Box<dyn Kernel>,
        encode: EncodeOptions,
        outboxes: Outboxes,
    ) -> Result<PassTask> {
        Ok(PassTask {
            kernel,
            encoder: BlockEncoder::new(encode)?,
            current: LayerCursor::new()?,
            previous: LayerCursor::new()?,
            outboxes,
            inbox: Batches::default(),
        })
    }

    /// The regions of a pass in a range of keys. All exits have been sent on return.
    ///
    /// # Errors
    /// If an input is damaged or an output cannot be written. The task can be used again.
    pub fn advance(&mut self, pass: Pass<'_>, range: KeyRange) -> Result<(FilePart, LayerStats)> {
        let mut stats = LayerStats::default();
        let result = self.advance_regions(pass, range, &mut stats);
        self.current.stop();
        self.previous.stop();
        let finished = result.and_then(|()| {
            self.outboxes.flush()?;
            self.encoder.finish(pass.writer)
        });
        let part = finished.inspect_err(|_| {
            self.kernel.discard();
            self.encoder.discard();
            self.outboxes.clear();
        })?;
        Ok((part, stats))
    }

    fn advance_regions(
        &mut self,
        pass: Pass<'_>,
        range: KeyRange,
        stats: &mut LayerStats,
    ) -> Result<()> {
        self.outboxes.depth = pass.depth + 1;
        // What was current is previous now: the cursor may still hold a block of it.
        std::mem::swap(&mut self.current, &mut self.previous);
        let (encoder, outboxes) = (&mut self.encoder, &mut self.outboxes);
        let mut output = PassOutput { pass, encoder, outboxes, stats };
        self.current.start(pass.current, range)?;
        if let Some(previous) = pass.previous {
            self.previous.start(previous, range)?;
        }
        let mut inbox = Merge::new(pass.inbox, range)?;
        loop {
            let at = match (self.current.key(), inbox.key()) {
                (None, None) => return self.kernel.finish(&mut output),
                (Some(key), None) | (None, Some(key)) => key,
                (Some(a), Some(b)) => a.min(b),
            };
            self.inbox.clear();
            inbox.take(at, &mut self.inbox)?;
            while self.previous.key().is_some_and(|key| key < at) {
                self.previous.advance()?;
            }
            let is_current = self.current.key() == Some(at);
            let is_previous = self.previous.key() == Some(at);
            let inputs = Inputs {
                current: if is_current { self.current.list() } else { List::EMPTY },
                previous: if is_previous { self.previous.list() } else { List::EMPTY },
                inbox: &self.inbox,
            };
            self.kernel.expand(at, inputs, &mut output)?;
            if is_current {
                self.current.advance()?;
            }
        }
    }

    /// Sends the exits of states that already are a layer, and counts them: for the seeds, and
    /// for the last layer when a job is resumed.
    ///
    /// # Errors
    /// If the layer is damaged or exits have to be spilled and that fails.
    pub fn emit(&mut self, layer: &Layer, range: KeyRange) -> Result<LayerStats> {
        self.outboxes.depth = layer.header().depth;
        let mut stats = LayerStats::default();
        self.current.start(layer, range)?;
        while let Some(at) = self.current.key() {
            self.kernel.emit(at, self.current.locals()?, &mut stats, &mut self.outboxes)?;
            self.current.advance()?;
        }
        self.outboxes.flush()?;
        Ok(stats)
    }
}

/// Writes a task's part of a layer.
struct PassOutput<'a> {
    pass: Pass<'a>,
    encoder: &'a mut BlockEncoder,
    outboxes: &'a mut Outboxes,
    stats: &'a mut LayerStats,
}

impl Output for PassOutput<'_> {
    #[inline]
    fn put(&mut self, at: EntryKey, states: List<'_>) -> Result<()> {
        if let Some(goal) = self.pass.goal.filter(|goal| goal.region.0 == at.region) {
            let mut locals = Vec::new();
            states.decode(&mut locals).ok_or_else(|| self.damaged(at))?;
            self.stats.found |= locals.binary_search(&goal.local).is_ok();
        }
        self.encoder.push_list(self.pass.writer, at, states)
    }

    fn stats(&mut self) -> &mut LayerStats {
        self.stats
    }

    fn damaged(&self, at: EntryKey) -> Error {
        // The block's checksum was right; a look at all of the file tells where it is wrong.
        let files = [Some(self.pass.current), self.pass.previous];
        let found = files.into_iter().flatten().find_map(|file| file.verify(&mut |_, _| ()).err());
        found.unwrap_or_else(|| StoreError::Inconsistent {
            file: self.pass.current.name(),
            what: format!("the states of region {at} could be read the second time only"),
        })
    }
}

impl ExitSink for PassOutput<'_> {
    #[inline]
    fn send(&mut self, target: EntryKey, back: Option<ExitEdge>, locals: &[Local]) -> Result<()> {
        self.outboxes.send(target, back, locals)
    }
}

/// Drops exits: for those who only count.
#[derive(Copy, Clone, Debug)]
pub struct DiscardExits;

impl ExitSink for DiscardExits {
    fn send(&mut self, _: EntryKey, _: Option<ExitEdge>, _: &[Local]) -> Result<()> {
        Ok(())
    }
}

/// Counts the regions of a layer that `keep` accepts, without sending their exits.
///
/// # Errors
/// If the layer is damaged.
pub fn count(
    kernel: &mut dyn Kernel,
    layer: &Layer,
    keep: impl Fn(EntryKey) -> bool,
) -> Result<LayerStats> {
    let mut stats = LayerStats::default();
    let mut cursor = LayerCursor::new()?;
    cursor.start(layer, KeyRange::ALL)?;
    while let Some(at) = cursor.key() {
        if keep(at) {
            kernel.emit(at, cursor.locals()?, &mut stats, &mut DiscardExits)?;
        }
        cursor.advance()?;
    }
    Ok(stats)
}

/// Gathers exits by the worker that owns the target's shard and sends them as sorted runs.
pub struct Outboxes {
    exchange: Arc<dyn Exchange>,
    worker: usize,
    /// Depth of the layer whose exits these are.
    depth: u32,
    /// Shard to worker.
    owners: Arc<[u16]>,
    /// Worker to its place below; the numbers of workers may have gaps.
    slots: Vec<u16>,
    /// A run for each worker that has shards, by its number.
    runs: Vec<(usize, MemoryRun)>,
    limit: usize,
    room: SortBuffers,
}

impl Outboxes {
    /// Outboxes of a worker; `owners` gives each shard's worker, `limit` the bytes to gather.
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
        let room = SortBuffers::default();
        Outboxes { exchange, worker, depth: 0, owners, slots, runs, limit, room }
    }

    fn send_run(&mut self, slot: usize) -> Result<()> {
        let spare = self.exchange.recycled_run(self.worker);
        let (to, run) = &mut self.runs[slot];
        let mut run = std::mem::replace(run, spare);
        run.sort(&mut self.room);
        self.exchange.send(*to, self.depth, run)
    }

    fn flush(&mut self) -> Result<()> {
        let mut slots = 0..self.runs.len();
        slots.try_for_each(
            |slot| {
                if self.runs[slot].1.is_empty() { Ok(()) } else { self.send_run(slot) }
            },
        )
    }

    fn clear(&mut self) {
        self.runs.iter_mut().for_each(|(_, run)| run.clear());
    }
}

impl ExitSink for Outboxes {
    #[inline]
    fn send(&mut self, target: EntryKey, back: Option<ExitEdge>, locals: &[Local]) -> Result<()> {
        let to = usize::from(self.owners[target.shard as usize]);
        let slot = usize::from(self.slots[to]);
        let (_, run) = &mut self.runs[slot];
        run.push(target, back, locals);
        if run.bytes() >= self.limit {
            self.send_run(slot)?;
        }
        Ok(())
    }
}

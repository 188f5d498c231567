//! A pass over a layer, and its tasks.

use strata_space::{ExitEdge, LayerStats, State};
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, FilePart, KeyRange, Layer, LayerCursor, LayerWriter,
    List, StoreError, Word,
};

use crate::explicit::error::{Error, Result};
use crate::explicit::exits::{DiscardExits, MergedRuns, Outboxes, Run};
use crate::explicit::kernel::{Batches, ExitSink, Inputs, Kernel, MemoUse, Output, check_width};
use crate::explicit::merge::merge;

/// The inputs and the output of a pass, shared by all tasks.
#[derive(Debug)]
pub struct Pass {
    /// Depth d.
    pub depth: u32,
    /// Layer d.
    pub current: Layer,
    /// Layer d-1; None at depth 0.
    pub previous: Option<Layer>,
    /// The layers before, in files of which each may hold several. Empty if moves can be undone.
    pub older: Vec<Layer>,
    /// Exits of layer d.
    pub inbox: Vec<Run>,
    /// Receives layer d+1.
    pub writer: LayerWriter,
    /// The goal, if a single state ends the search.
    pub goal: Option<State>,
    /// Whether the search stops at layer d+1, so that its exits are not needed.
    pub is_last: bool,
}

/// A part of a pass: a kernel, an encoder, cursors and outboxes.
///
/// A task is used for all passes of a job, so that its kernel keeps its caches. It does its part in steps
/// ([`Self::begin`], [`Self::step`], [`Self::finish`]), so that threads can share tasks evenly.
pub struct PassTask {
    kernel: Box<dyn Kernel>,
    encoder: BlockEncoder,
    current: LayerCursor,
    previous: LayerCursor,
    older: Vec<LayerCursor>,
    outboxes: Outboxes,
    /// The exits that the pass reads.
    runs: MergedRuns,
    /// Exits into the current region.
    inbox: Batches,
    stats: LayerStats,
}

impl PassTask {
    /// A task that encodes blocks with the options `encode` and sends exits through `outboxes`.
    ///
    /// # Errors
    /// If there is no memory for a compression context.
    pub fn new(
        kernel: Box<dyn Kernel>,
        encode: EncodeOptions,
        outboxes: Outboxes,
    ) -> strata_store::Result<PassTask> {
        Ok(PassTask {
            kernel,
            encoder: BlockEncoder::new(encode)?,
            current: LayerCursor::new()?,
            previous: LayerCursor::new()?,
            older: Vec::new(),
            outboxes,
            runs: MergedRuns::default(),
            inbox: Batches::default(),
            stats: LayerStats::default(),
        })
    }

    /// Begins a pass over the regions in a range of keys.
    ///
    /// # Errors
    /// If an input is damaged or cannot be read. The task can be used again.
    pub fn begin(&mut self, pass: &Pass, range: KeyRange) -> Result<()> {
        self.outboxes.begin(pass.depth + 1);
        self.stats = LayerStats::default();
        // The current layer of the last pass is now the previous one, and its cursor may still hold a
        // decompressed block.
        std::mem::swap(&mut self.current, &mut self.previous);
        let started = self.start(pass, range);
        started.inspect_err(|_| self.abandon())
    }

    fn start(&mut self, pass: &Pass, range: KeyRange) -> Result<()> {
        self.current.start(&pass.current, range)?;
        if let Some(previous) = &pass.previous {
            self.previous.start(previous, range)?;
        }
        start_all(&mut self.older, &pass.older, range)?;
        self.runs = MergedRuns::new(&pass.inbox, range)?;
        Ok(())
    }

    /// Expands regions until they have at least `states` states of the current layer. A region without
    /// such states, which only exits reach, counts as one state. Returns the number of states expanded, or
    /// None if no region is left, also if this call has expanded the last regions.
    ///
    /// # Errors
    /// If an input is damaged or cannot be read, the layer cannot be written, exits cannot be delivered, or
    /// a move leads into the reserved region. The task can be used again.
    pub fn step(&mut self, pass: &Pass, states: u64) -> Result<Option<u64>> {
        let expanded = self.expand(pass, states);
        expanded.inspect_err(|_| self.abandon())
    }

    /// Writes the remaining states and sends the remaining exits, after the last step. Returns the task's
    /// part of the layer file and its statistics.
    ///
    /// # Errors
    /// Those of [`Self::step`].
    pub fn finish(&mut self, pass: &Pass) -> Result<(FilePart, LayerStats)> {
        let finished = self.pause(pass).and_then(|()| {
            self.stop();
            self.outboxes.flush()?;
            Ok(self.encoder.finish(&pass.writer)?)
        });
        let part = finished.inspect_err(|_| self.abandon())?;
        Ok((part, std::mem::take(&mut self.stats)))
    }

    /// The use of the memo table since the last call.
    pub fn take_memo_use(&mut self) -> MemoUse {
        self.kernel.take_memo_use()
    }

    /// The expansions learned since the last call, for other processes: see [`Kernel::take_learned`].
    pub fn take_learned(&mut self) -> Vec<u64> {
        self.kernel.take_learned()
    }

    /// Adds expansions that another process has learned, between passes.
    ///
    /// # Errors
    /// See [`Kernel::learn`].
    pub fn learn(&mut self, expansions: &[u64]) -> Result<()> {
        self.kernel.learn(expansions)
    }

    /// Expands the regions that the kernel holds, and releases what it shares with other tasks. Call it
    /// before other tasks run in place of this one.
    ///
    /// # Errors
    /// Those of [`Self::step`].
    pub fn pause(&mut self, pass: &Pass) -> Result<()> {
        let PassTask { kernel, encoder, outboxes, stats, .. } = self;
        let finished = kernel.finish(&mut PassOutput { pass, encoder, outboxes, stats });
        finished.inspect_err(|_| self.abandon())
    }

    /// Drops all inputs.
    fn stop(&mut self) {
        self.current.stop();
        self.previous.stop();
        self.older.iter_mut().for_each(LayerCursor::stop);
        self.runs = MergedRuns::default();
    }

    /// Drops a pass that cannot be finished.
    fn abandon(&mut self) {
        self.stop();
        self.kernel.discard();
        self.encoder.discard();
        self.outboxes.clear();
    }

    fn expand(&mut self, pass: &Pass, states: u64) -> Result<Option<u64>> {
        let (encoder, outboxes, stats) = (&mut self.encoder, &mut self.outboxes, &mut self.stats);
        let mut output = PassOutput { pass, encoder, outboxes, stats };
        let mut expanded = 0;
        while expanded < states {
            let at = match (self.current.key(), self.runs.key()) {
                (None, None) => return Ok(None),
                (Some(key), None) | (None, Some(key)) => key,
                (Some(a), Some(b)) => a.min(b),
            };
            self.inbox.clear();
            self.runs.take(at, &mut self.inbox)?;
            while self.previous.key().is_some_and(|key| key < at) {
                self.previous.advance()?;
            }
            let mut older = Vec::new();
            for cursor in &mut self.older {
                while cursor.key().is_some_and(|key| key < at) {
                    cursor.advance()?;
                }
                // A file that has the region contributes its list.
                if cursor.key() == Some(at) {
                    older.push(cursor.list());
                }
            }
            let is_current = self.current.key() == Some(at);
            let is_previous = self.previous.key() == Some(at);
            let inputs = Inputs {
                current: if is_current { self.current.list() } else { List::EMPTY },
                previous: if is_previous { self.previous.list() } else { List::EMPTY },
                older: &older,
                inbox: &self.inbox,
            };
            // A region that only exits reach takes time, too.
            expanded += inputs.current.len().max(1) as u64;
            self.kernel.expand(at, inputs, &mut output)?;
            if is_current {
                self.current.advance()?;
            }
        }
        Ok(Some(expanded))
    }

    /// Sends the exits of a finished layer in a range of keys, and returns the statistics of its states.
    /// It is used for the seeds, and for the last layer of a resumed job.
    ///
    /// # Errors
    /// If the layer is damaged or cannot be read, exits cannot be delivered, or a move leads into the
    /// reserved region. Exits that were not sent are dropped, and the task can be used again.
    pub fn emit(&mut self, layer: &Layer, range: KeyRange) -> Result<LayerStats> {
        let emitted = self.emit_regions(layer, range);
        self.current.stop();
        emitted.inspect_err(|_| {
            self.kernel.discard();
            self.outboxes.clear();
        })
    }

    /// Writes the states of several layers in a range of keys as one layer. The layers must not have
    /// common states.
    ///
    /// # Errors
    /// If a layer is damaged or cannot be read, or the file cannot be written. The task can be used again.
    pub fn merge(
        &mut self,
        layers: &[Layer],
        writer: &LayerWriter,
        range: KeyRange,
    ) -> strata_store::Result<FilePart> {
        let started = start_all(&mut self.older, layers, range);
        let merged = started.and_then(|()| {
            merge(&mut self.older[..layers.len()], &mut self.encoder, writer)?;
            self.encoder.finish(writer)
        });
        self.older.iter_mut().for_each(LayerCursor::stop);
        merged.inspect_err(|_| self.encoder.discard())
    }

    fn emit_regions(&mut self, layer: &Layer, range: KeyRange) -> Result<LayerStats> {
        self.outboxes.begin(layer.header().depth);
        let mut stats = LayerStats::default();
        check_width(layer, self.kernel.width())?;
        self.current.start(layer, range)?;
        while let Some(at) = self.current.key() {
            self.kernel.emit(at, self.current.locals()?, &mut stats, &mut self.outboxes)?;
            self.current.advance()?;
        }
        self.outboxes.flush()?;
        Ok(stats)
    }
}

/// Starts a cursor for each layer. Surplus cursors stay at the end.
fn start_all(
    cursors: &mut Vec<LayerCursor>,
    layers: &[Layer],
    range: KeyRange,
) -> strata_store::Result<()> {
    while cursors.len() < layers.len() {
        cursors.push(LayerCursor::new()?);
    }
    cursors.iter_mut().zip(layers).try_for_each(|(cursor, layer)| cursor.start(layer, range))
}

/// Output of a task: its part of the new layer, and its exits.
struct PassOutput<'a> {
    pass: &'a Pass,
    encoder: &'a mut BlockEncoder,
    outboxes: &'a mut Outboxes,
    stats: &'a mut LayerStats,
}

impl Output for PassOutput<'_> {
    #[inline]
    fn put(&mut self, at: EntryKey, states: List<'_>) -> Result<()> {
        if let Some(goal) = self.pass.goal.filter(|goal| goal.region.0 == at.region) {
            let mut words = Vec::new();
            states.decode(&mut words).ok_or_else(|| self.damaged(at))?;
            self.stats.found |= states.width.contains(&words, goal.local);
        }
        Ok(self.encoder.push_list(&self.pass.writer, at, states)?)
    }

    fn stats(&mut self) -> &mut LayerStats {
        self.stats
    }

    fn damaged(&self, at: EntryKey) -> Error {
        // The block's checksum matched, so its content is malformed. Verifying the whole file gives the
        // offset.
        let newest = [&self.pass.current].into_iter().chain(&self.pass.previous);
        let mut files = newest.chain(&self.pass.older);
        let found = files.find_map(|file| file.verify(&mut |_, _| ()).err());
        let error = found.unwrap_or_else(|| StoreError::Inconsistent {
            file: self.pass.current.name(),
            what: format!(
                "the states of region {at} could not be decoded, but the file verified without \
                 an error"
            ),
        });
        error.into()
    }
}

impl ExitSink for PassOutput<'_> {
    #[inline]
    fn send(&mut self, target: EntryKey, inverse: Option<ExitEdge>, words: &[Word]) -> Result<()> {
        if self.pass.is_last { Ok(()) } else { self.outboxes.send(target, inverse, words) }
    }

    fn wants_exits(&self) -> bool {
        !self.pass.is_last
    }
}

/// The statistics of the regions of a layer for which `keep` is true. Exits are dropped.
///
/// # Errors
/// If the layer is damaged.
pub fn count(
    kernel: &mut dyn Kernel,
    layer: &Layer,
    keep: impl Fn(EntryKey) -> bool,
) -> strata_store::Result<LayerStats> {
    check_width(layer, kernel.width())?;
    let mut stats = LayerStats::default();
    let mut cursor = LayerCursor::new()?;
    cursor.start(layer, KeyRange::ALL)?;
    while let Some(at) = cursor.key() {
        if keep(at) {
            let counted = kernel.emit(at, cursor.locals()?, &mut stats, &mut DiscardExits);
            counted.map_err(|error| match error {
                Error::Store(error) => error,
                // Dropping exits cannot fail, so the error is one of the layer.
                other => StoreError::Inconsistent { file: layer.name(), what: other.to_string() },
            })?;
        }
        cursor.advance()?;
    }
    Ok(stats)
}

//! Kernel for spaces without tables: it finds the new states in a region's inbox, and their successors.

use std::sync::Arc;

use strata_space::{LayerStats, RegionKey, StateSpace};
use strata_store::{EntryKey, ListBuf, LocalWidth, LocalWord, Word};

use super::new_states::NewStates;
use super::targets::Targets;
use crate::explicit::error::Result;
use crate::explicit::kernel::{ExitSink, Inputs, Kernel, Output};

/// Kernel of a space without tables, for locals of one width.
pub(crate) struct SparseKernel<S: StateSpace, N: NewStates> {
    space: Arc<S>,
    shards: u32,
    new_states: N,
    targets: Targets<N::Local>,
    next: Vec<N::Local>,
    encoded: ListBuf,
}

impl<S: StateSpace, N: NewStates> SparseKernel<S, N> {
    pub(crate) fn new(space: Arc<S>, shards: u32) -> SparseKernel<S, N> {
        let (new_states, targets, next, encoded) = Default::default();
        SparseKernel { space, shards, new_states, targets, next, encoded }
    }

    /// Counts states of a region, without counting the region, and collects their successors if `exits`
    /// needs them.
    fn add(
        &mut self,
        at: EntryKey,
        states: &[N::Local],
        stats: &mut LayerStats,
        wants_exits: bool,
    ) {
        let region = RegionKey(at.region);
        stats.add(&self.space.count(region, states, !wants_exits));
        if !wants_exits {
            return;
        }
        let before = self.targets.count();
        self.space.successors(region, states, &mut self.targets);
        stats.generated += (self.targets.count() - before) as u64;
    }

    fn send(&mut self, exits: &mut dyn ExitSink) -> Result<()> {
        self.targets.send(&*self.space, self.shards, exits)
    }
}

impl<S: StateSpace, N: NewStates> Kernel for SparseKernel<S, N> {
    fn width(&self) -> LocalWidth {
        N::Local::WIDTH
    }

    fn expand(&mut self, at: EntryKey, inputs: Inputs<'_>, output: &mut dyn Output) -> Result<()> {
        if inputs.inbox.words().is_empty() {
            return Ok(());
        }
        let mut stats = LayerStats { regions: 1, ..LayerStats::default() };
        let mut next = std::mem::take(&mut self.next);
        let found = self.new_states.find(inputs, &mut next, &mut stats);
        found.ok_or_else(|| output.damaged(at))?;
        if !next.is_empty() {
            output.put(at, self.encoded.encode_locals(&next))?;
            // In parts, so that the successors of a long list do not fill the memory.
            for part in next.chunks(PART) {
                self.add(at, part, &mut stats, output.wants_exits());
                if self.targets.is_full() {
                    self.send(output)?;
                }
            }
            output.stats().add(&stats);
        }
        self.next = next;
        Ok(())
    }

    fn finish(&mut self, output: &mut dyn Output) -> Result<()> {
        self.send(output)
    }

    fn discard(&mut self) {
        self.targets.clear();
        self.new_states.discard();
    }

    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Word],
        stats: &mut LayerStats,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        stats.regions += u64::from(!states.is_empty());
        let words = N::Local::WIDTH.words();
        let mut locals = Vec::new();
        for part in states.chunks(PART * words) {
            locals.clear();
            locals.extend(part.chunks_exact(words).map(N::Local::read));
            self.add(at, &locals, stats, exits.wants_exits());
            self.send(exits)?;
        }
        Ok(())
    }
}

/// Number of states whose successors are collected together.
const PART: usize = 1 << 12;

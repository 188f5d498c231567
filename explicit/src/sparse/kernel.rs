//! The kernel: new states among a region's exits, and their successors.

use std::sync::Arc;

use strata_space::{LayerStats, Local, RegionKey, State, StateSpace};
use strata_store::{EntryKey, List, ListBuf};

use super::targets::Targets;
use crate::dedup;
use crate::error::Result;
use crate::kernel::{ExitSink, Inputs, Kernel, Output};
use crate::local_set::LocalSet;

/// Kernel of a space without tables.
pub(crate) struct SparseKernel<S: StateSpace> {
    space: Arc<S>,
    shards: u32,
    set: LocalSet,
    targets: Targets,
    /// States of the current layer, and of one before.
    current: Vec<Local>,
    known: Vec<Local>,
    next: Vec<Local>,
    encoded: ListBuf,
}

impl<S: StateSpace> SparseKernel<S> {
    pub(crate) fn new(space: Arc<S>, shards: u32) -> SparseKernel<S> {
        let (set, targets, encoded) = Default::default();
        let [current, known, next] = Default::default();
        SparseKernel { space, shards, set, targets, current, known, next, encoded }
    }

    /// Finds the new states of a region: those of the inbox that no layer has. Records in `stats`
    /// whether two searches have met. None if a list cannot be decoded.
    fn find_new(&mut self, inputs: Inputs<'_>, stats: &mut LayerStats) -> Option<()> {
        inputs.current.decode(&mut self.current)?;
        let inbox = inputs.inbox.locals();
        let before = || [inputs.previous].into_iter().chain(inputs.older.iter().copied());
        let before = || before().filter(|list: &List<'_>| !list.is_empty());
        self.next.clear();
        if LocalSet::suits(inbox) {
            self.set.add(inbox);
            self.set.remove(&self.current);
            for list in before() {
                list.decode(&mut self.known)?;
                self.set.remove(&self.known);
            }
            stats.odd |= self.current.iter().any(|local| self.set.has(local ^ 1));
            stats.even |= self.set.take(&mut self.next);
        } else {
            self.next.extend_from_slice(inbox);
            self.next.sort_unstable();
            self.next.dedup();
            dedup::subtract(&mut self.next, &self.current);
            for list in before() {
                list.decode(&mut self.known)?;
                dedup::subtract(&mut self.next, &self.known);
            }
            dedup::find_meetings(&self.next, &self.current, stats);
        }
        Some(())
    }

    /// Counts states of a region, but not the region, and collects their successors.
    fn add(&mut self, at: EntryKey, states: &[Local], stats: &mut LayerStats) {
        let region = RegionKey(at.region);
        for local in states {
            let state = State { region, local: *local };
            stats.digest += self.space.weight(state);
            let positions = self.space.positions(state).unwrap_or(0);
            stats.positions = stats.positions.saturating_add(positions);
        }
        self.space.successors(region, states, |state| {
            stats.generated += 1;
            self.targets.add(state);
        });
        stats.states += states.len() as u64;
    }

    fn send(&mut self, exits: &mut dyn ExitSink) -> Result<()> {
        self.targets.send(&*self.space, self.shards, exits)
    }
}

impl<S: StateSpace> Kernel for SparseKernel<S> {
    fn expand(&mut self, at: EntryKey, inputs: Inputs<'_>, output: &mut dyn Output) -> Result<()> {
        if inputs.inbox.locals().is_empty() {
            return Ok(());
        }
        let mut stats = LayerStats { regions: 1, ..LayerStats::default() };
        self.find_new(inputs, &mut stats).ok_or_else(|| output.damaged(at))?;
        if self.next.is_empty() {
            return Ok(());
        }
        output.put(at, self.encoded.encode(&self.next))?;
        let next = std::mem::take(&mut self.next);
        // In parts, so that a long list does not fill the memory with successors.
        for part in next.chunks(PART) {
            self.add(at, part, &mut stats);
            if self.targets.is_full() {
                self.send(output)?;
            }
        }
        self.next = next;
        output.stats().add(&stats);
        Ok(())
    }

    fn finish(&mut self, output: &mut dyn Output) -> Result<()> {
        self.send(output)
    }

    fn discard(&mut self) {
        self.targets.clear();
        self.next.clear();
        self.set.take(&mut self.next);
    }

    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Local],
        stats: &mut LayerStats,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        stats.regions += u64::from(!states.is_empty());
        for part in states.chunks(PART) {
            self.add(at, part, stats);
            self.send(exits)?;
        }
        Ok(())
    }
}

/// States whose successors are collected together.
const PART: usize = 1 << 12;

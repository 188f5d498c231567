//! Direct kernel, for spaces without tables: it computes the moves of every state and sorts the
//! successors of each region.

use std::sync::Arc;

use strata_space::{LayerStats, Local, RegionKey, State, StateSpace};
use strata_store::{EntryKey, ListBuf};

use crate::dedup::keep_new;
use crate::error::{Result, check_region};
use crate::kernel::{Decoded, ExitSink, Inputs, Kernel, Output};

/// Kernel of a space without tables.
pub(crate) struct DirectKernel<S: StateSpace> {
    space: Arc<S>,
    shards: u32,
    moves: Vec<State>,
    /// Exits of one region, not yet grouped by target.
    leaving: Vec<State>,
    batch: Vec<Local>,
    /// A region's current, previous and new states.
    lists: [Vec<Local>; 3],
    encoded: ListBuf,
}

impl<S: StateSpace> DirectKernel<S> {
    pub(crate) fn new(space: Arc<S>, shards: u32) -> DirectKernel<S> {
        let (moves, leaving, batch) = Default::default();
        let (lists, encoded) = Default::default();
        DirectKernel { space, shards, moves, leaving, batch, lists, encoded }
    }

    fn key(&self, region: RegionKey) -> EntryKey {
        EntryKey::in_shards(region.0, self.space.shard_hash(region), self.shards)
    }
}

impl<S: StateSpace> Kernel for DirectKernel<S> {
    fn expand(&mut self, at: EntryKey, inputs: Inputs<'_>, output: &mut dyn Output) -> Result<()> {
        let [current, previous, next] = &mut self.lists;
        let decoded = inputs.current.decode(current).and(inputs.previous.decode(previous));
        decoded.ok_or_else(|| output.damaged(at))?;
        let region = RegionKey(at.region);
        next.clear();
        for local in &*current {
            self.moves.clear();
            self.space.moves(State { region, local: *local }, &mut self.moves);
            let inside = self.moves.iter().filter(|state| state.region == region);
            next.extend(inside.map(|state| state.local));
        }
        let mut stats = LayerStats::default();
        keep_new(Decoded { current, previous, inbox: inputs.inbox }, next, &mut stats);
        if next.is_empty() {
            return Ok(());
        }
        let next = std::mem::take(next);
        output.put(at, self.encoded.encode(&next))?;
        self.emit(at, &next, &mut stats, output)?;
        self.lists[2] = next;
        output.stats().add(&stats);
        Ok(())
    }

    fn finish(&mut self, _: &mut dyn Output) -> Result<()> {
        // `expand` leaves nothing pending.
        Ok(())
    }

    fn discard(&mut self) {}

    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Local],
        stats: &mut LayerStats,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        if states.is_empty() {
            return Ok(());
        }
        let region = RegionKey(at.region);
        self.leaving.clear();
        for local in states {
            let state = State { region, local: *local };
            stats.digest += self.space.weight(state);
            let positions = self.space.positions(state).unwrap_or(0);
            stats.positions = stats.positions.saturating_add(positions);
            self.moves.clear();
            self.space.moves(state, &mut self.moves);
            stats.generated += self.moves.len() as u64;
            self.leaving.extend(self.moves.iter().filter(|state| state.region != region));
        }
        stats.regions += 1;
        stats.states += states.len() as u64;
        self.leaving.sort_unstable();
        self.leaving.dedup();
        for group in self.leaving.chunk_by(|a, b| a.region == b.region) {
            check_region(&*self.space, group[0])?;
            self.batch.clear();
            self.batch.extend(group.iter().map(|state| state.local));
            exits.send(self.key(group[0].region), None, &self.batch)?;
        }
        Ok(())
    }
}

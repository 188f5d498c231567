//! The kernel for spaces without tables: every state's moves are computed anew, and a region's
//! successors are sorted.

use std::sync::Arc;

use strata_space::{LayerStats, Local, RegionKey, State, StateSpace};
use strata_store::{EntryKey, ListBuf};

use crate::Result;
use crate::kernel::{Decoded, ExitSink, Inputs, Kernel, Output};

/// See the module.
pub(crate) struct DirectKernel<S: StateSpace> {
    space: Arc<S>,
    shards: u32,
    moves: Vec<State>,
    /// Exits of one region before they are grouped by target.
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
        let shard = (self.space.shard_hash(region) % u64::from(self.shards)) as u32;
        EntryKey { shard, region: region.0 }
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
        // None has waited.
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
            self.batch.clear();
            self.batch.extend(group.iter().map(|state| state.local));
            exits.send(self.key(group[0].region), None, &self.batch)?;
        }
        Ok(())
    }
}

/// Makes the new layer's states out of the inside successors: adds the inbox, removes what is
/// not new, and notes whether two searches have met.
pub(crate) fn keep_new(inputs: Decoded<'_>, next: &mut Vec<Local>, stats: &mut LayerStats) {
    next.extend_from_slice(inputs.inbox.locals());
    next.sort_unstable();
    next.dedup();
    subtract(next, inputs.current);
    subtract(next, inputs.previous);
    stats.even |= next.windows(2).any(|pair| pair[0] ^ 1 == pair[1]);
    stats.odd |= next.iter().any(|local| inputs.current.binary_search(&(local ^ 1)).is_ok());
}

/// Removes from one sorted list what is in another.
fn subtract(from: &mut Vec<Local>, what: &[Local]) {
    let mut rest = what.iter().peekable();
    from.retain(|local| {
        while rest.next_if(|other| *other < local).is_some() {}
        rest.peek() != Some(&local)
    });
}

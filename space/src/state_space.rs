//! The trait of all state spaces.

use crate::digest::Weight;
use crate::sink::SuccessorSink;
use crate::state::{Finish, Local, RegionKey, State};
use crate::stats::LayerStats;

/// An implicit graph, split into regions.
///
/// Where edges are undirected, a successor of layer d lies in layer d-1, d or d+1, and engines subtract
/// only the two last layers. Otherwise they subtract all layers. All functions are pure.
///
/// The space defines its states, their canonical form and the side bit. Equal states must have
/// equal `(region, local)`, and [`Self::moves`] must return canonical states.
pub trait StateSpace: Send + Sync + 'static {
    /// The states of depth 0.
    fn seeds(&self) -> Vec<State>;

    /// How a search of this space ends.
    fn finish(&self) -> Finish;

    /// Appends the state behind each legal move. Two moves to the same state give it twice.
    fn moves(&self, state: State, out: &mut Vec<State>);

    /// Whether each move can be undone by another: a state is among the successors of each of its
    /// successors. If this wrongly returns true, counts are wrong;
    /// [`check_reversible`](crate::check_reversible) detects that by samples.
    fn is_undirected(&self) -> bool {
        true
    }

    /// Bits of the greatest local, with the side; at most 127. Locals of more than 32 bits take more
    /// memory.
    fn local_bits(&self) -> u32 {
        Local::BITS
    }

    /// Passes to `to` the successors of each state of a region, one for each legal move as in
    /// [`Self::moves`], in any order.
    fn successors<L>(&self, region: RegionKey, locals: &[L], to: &mut impl SuccessorSink<State>)
    where
        Self: Sized,
        L: Copy + Into<u128>,
    {
        let mut moves = Vec::new();
        for local in locals {
            self.moves(State { region, local: (*local).into() }, &mut moves);
            moves.drain(..).for_each(|state| to.add(state));
        }
    }

    /// Figures of some states of a region: their number, digest and positions; if `successors`, also the
    /// number that [`Self::successors`] finds. The number of regions is left 0.
    fn count<L>(&self, region: RegionKey, locals: &[L], successors: bool) -> LayerStats
    where
        Self: Sized,
        L: Copy + Into<u128>,
    {
        let mut stats = LayerStats { states: locals.len() as u64, ..LayerStats::default() };
        for local in locals {
            let state = State { region, local: (*local).into() };
            stats.digest += self.weight(state);
            let positions = self.positions(state).unwrap_or(0);
            stats.positions = stats.positions.saturating_add(positions);
        }
        if successors {
            self.successors(region, locals, &mut |_: State| stats.generated += 1);
        }
        stats
    }

    /// Hash of the coarse part of a region. States with equal hashes are in one shard.
    fn shard_hash(&self, region: RegionKey) -> u64;

    /// The state's term in a layer's [`Digest`](crate::Digest): the sum of the weights of the
    /// positions that it stands for.
    fn weight(&self, state: State) -> Weight;

    /// How many positions the state stands for: 1 without symmetry. None, for all states, if the
    /// space does not count them.
    fn positions(&self, _state: State) -> Option<u64> {
        Some(1)
    }

    /// A position that the state stands for, in the space's text form.
    fn text(&self, state: State) -> String;

    /// The state on the side of the start that stands for the position with this text. None if there is no
    /// such state, or the space does not read texts, which is the default.
    fn parse(&self, _text: &str) -> Option<State> {
        None
    }
}

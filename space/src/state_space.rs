//! The trait of all state spaces.

use crate::digest::Weight;
use crate::state::{Finish, Local, RegionKey, State};

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
    /// successors. If it says so and it is not true, counts are wrong;
    /// [`check_reversible`](crate::check_reversible) finds it by samples.
    fn is_undirected(&self) -> bool {
        true
    }

    /// Calls `visit` with the state behind each legal move of each of a region's states, as
    /// [`Self::moves`] gives them.
    fn successors<V: FnMut(State)>(&self, region: RegionKey, locals: &[Local], mut visit: V)
    where
        Self: Sized,
    {
        let mut moves = Vec::new();
        for local in locals {
            self.moves(State { region, local: *local }, &mut moves);
            moves.drain(..).for_each(&mut visit);
        }
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
}

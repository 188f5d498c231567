//! The trait of all state spaces.

use crate::digest::Weight;
use crate::state::{Finish, RegionKey, State};

/// An implicit graph, split into regions.
///
/// Edges must be undirected: a successor of layer d lies in layer d-1, d or d+1. Engines therefore
/// subtract only the two last layers. All functions are pure.
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

//! Figures of one layer, or of a part of it.

use crate::digest::Digest;

/// Figures of one layer, or of a part of it. Parts are combined with [`LayerStats::add`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct LayerStats {
    /// Regions with at least one state in the layer.
    pub regions: u64,
    /// States in the layer.
    pub states: u64,
    /// Positions that the states stand for, see
    /// [`StateSpace::positions`](crate::StateSpace::positions): as many as states without symmetry,
    /// and 0 if the space does not count them.
    pub positions: u64,
    /// If a dense space counts orbits, the number of pairs (s, p) where p is a position of the layer and
    /// s is a symmetry, other than the identity, that fixes p; else 0. The number of orbits is
    /// (`positions` + `fixed`) / number of symmetries.
    pub fixed: u64,
    /// Number of legal moves of the layer's states, or, if the blocks of a dense space are folded, of
    /// the positions that they stand for. Several moves to one state all count.
    pub generated: u64,
    /// Sum of the weights of the layer's states.
    pub digest: Digest,
    /// Two searches met after an odd number of moves: the layer has one side of an index, and the layer
    /// before has the other.
    pub odd: bool,
    /// Two searches met after an even number of moves: the layer has both sides of an index.
    pub even: bool,
    /// The layer contains the goal state.
    pub found: bool,
}

impl LayerStats {
    /// Adds the figures of another part of the same layer.
    pub fn add(&mut self, other: &LayerStats) {
        self.regions += other.regions;
        self.states += other.states;
        // A space may count too many positions; the plan refuses a sum of `u64::MAX`.
        self.positions = self.positions.saturating_add(other.positions);
        self.fixed = self.fixed.saturating_add(other.fixed);
        self.generated += other.generated;
        self.digest += other.digest;
        self.odd |= other.odd;
        self.even |= other.even;
        self.found |= other.found;
    }
}

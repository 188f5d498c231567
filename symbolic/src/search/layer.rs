//! Layer.

use strata_space::Digest;

/// What was found in a layer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// Distance from the start.
    pub depth: u32,
    /// States; a state and its flip are one if the space counts orbits.
    pub states: u64,
    /// Legal moves of the states; 0 without digests.
    pub generated: u64,
    /// Digest of the layer's positions; zero without digests.
    pub digest: Digest,
    /// The layer meets the exchanged one before: the goal is `2 * depth - 1` moves away.
    pub odd: bool,
    /// The layer meets itself exchanged: the goal is `2 * depth` moves away, if `odd` is not set.
    pub even: bool,
    /// The goal is in the layer.
    pub found: bool,
    /// Nodes made for the layer.
    pub nodes: u64,
}

/// What a search takes.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Nodes.
    pub nodes: usize,
    /// Sets of exits.
    pub exits: usize,
    /// Classes.
    pub classes: usize,
    /// Bytes of all of them.
    pub bytes: usize,
    /// How often everything but the last layer was forgotten.
    pub collections: u32,
}

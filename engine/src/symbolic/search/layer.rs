//! Figures of a layer and of a search.

use strata_space::LayerStats;

/// One layer of a search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// Distance from the start.
    pub depth: u32,
    /// Figures of the layer.
    ///
    /// `regions` is 1, or 0 if the layer is empty. A state and its flip count as one if the space counts
    /// orbits. Without digests, `generated` and `digest` are zero.
    pub stats: LayerStats,
    /// Number of nodes created for the layer.
    pub nodes: u64,
}

impl Layer {
    /// Whether the search ends at this layer: it is empty, contains the goal, or meets the search from the
    /// goal.
    pub fn is_last(&self) -> bool {
        let LayerStats { states, odd, even, found, .. } = self.stats;
        odd || even || found || states == 0
    }
}

/// Size of a search in memory.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of exit sets.
    pub exit_sets: usize,
    /// Number of classes.
    pub classes: usize,
    /// Memory in bytes.
    pub bytes: usize,
    /// Number of times that everything but the last layer was dropped to free memory.
    pub collections: u32,
}

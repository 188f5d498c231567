//! The layers that a search by parts needs: something else stores them.

use std::ops::Range;

/// The stored layers that a search by parts reads, and the one that it writes.
///
/// A range of blocks has a word for each row.
pub trait PartLayers: Sync {
    /// Failure of a read or a write.
    type Error: Send;

    /// At least as many states as the current layer has in a range of blocks. 0 if it has none
    /// nearby.
    fn current_states(&self, blocks: Range<u32>) -> u64;

    /// Reads the states of the current layer in blocks from `first` on.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read_current(&self, first: u32, words: &mut [u64]) -> Result<(), Self::Error>;

    /// Reads the states of earlier layers to which moves from the current one may lead: of the layer
    /// before if edges are undirected, else of all.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read_earlier(&self, first: u32, words: &mut [u64]) -> Result<(), Self::Error>;

    /// Writes new states in blocks from `first` on. Several threads write at the same time, in any
    /// order; ranges do not overlap.
    ///
    /// # Errors
    /// If they cannot be written.
    fn write(&self, first: u32, words: &[u64]) -> Result<(), Self::Error>;
}

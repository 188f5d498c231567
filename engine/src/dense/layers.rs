//! Interface to the stored layers that a search by parts reads and writes.

use std::ops::Range;

/// The stored layers that a search by parts reads, and the layer that it writes.
///
/// The words of a range of blocks are one word for each row. A read must set all words.
pub trait PartLayers: Sync {
    /// Failure of a read or a write.
    type Error: Send;

    /// Upper bound of the number of states that the current layer has in a range of blocks.
    fn current_states(&self, blocks: Range<u32>) -> u64;

    /// Reads the states of the current layer in blocks from `first` on.
    ///
    /// # Errors
    /// If the states cannot be read.
    fn read_current(&self, first: u32, words: &mut [u64]) -> Result<(), Self::Error>;

    /// Reads the states of the earlier layers to which moves from the current layer may lead, in blocks
    /// from `first` on: of the layer before if edges are undirected, otherwise of all earlier layers.
    ///
    /// # Errors
    /// If the states cannot be read.
    fn read_earlier(&self, first: u32, words: &mut [u64]) -> Result<(), Self::Error>;

    /// Writes the states of the next layer in blocks from `first` on. Several threads write at the same
    /// time, in any order; their ranges do not overlap.
    ///
    /// # Errors
    /// If the states cannot be written.
    fn write(&self, first: u32, words: &[u64]) -> Result<(), Self::Error>;
}

//! Errors of the tables of a dense space.

use super::shape::{DenseShape, MAX_LANES, MAX_ROWS};

/// The tables of a dense space are inconsistent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DenseError {
    /// Blocks, rows or lanes are out of range.
    #[error(
        "{} blocks of {} rows of {} lanes: at least 1 each, rows at most {MAX_ROWS}, lanes at most {MAX_LANES}",
        .0.blocks, .0.rows, .0.lanes
    )]
    Shape(DenseShape),
    /// A table does not have one entry for each block and move, or ends within a class.
    #[error("a table of {what} has {given} entries")]
    Length {
        /// The table.
        what: &'static str,
        /// The number of its entries.
        given: usize,
    },
    /// A number is out of range.
    #[error("entry {index} of the table of {what} is out of range")]
    Entry {
        /// The table.
        what: &'static str,
        /// The index of the entry.
        index: usize,
    },
    /// An edge has no way back: no converse undoes a move, or no move undoes a converse.
    #[error("move {index} of state {number} has no converse")]
    Converse {
        /// The index of the move or converse.
        index: usize,
        /// The number of the state at which the edge starts.
        number: u64,
    },
}

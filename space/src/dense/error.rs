//! Why tables are refused.

use super::shape::{DenseShape, MAX_LANES, MAX_ROWS};

/// Tables are not consistent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DenseError {
    /// Blocks, rows or lanes are out of range.
    #[error(
        "{} blocks of {} rows of {} lanes: at least 1 each, rows at most {MAX_ROWS}, lanes at most {MAX_LANES}",
        .0.blocks, .0.rows, .0.lanes
    )]
    Shape(DenseShape),
    /// A table does not have an entry for each block and move, or whole classes.
    #[error("a table of {what} has {given} entries")]
    Length {
        /// The table.
        what: &'static str,
        /// Its entries.
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
    /// The moves lead along an edge that has no way back.
    #[error("move {index} of state {number} has no converse")]
    Converse {
        /// The move.
        index: usize,
        /// The state's number.
        number: u64,
    },
}

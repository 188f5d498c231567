//! Limits of the search, and why it has no result.

use thiserror::Error;

/// More than any number of moves; two of them can be added.
pub(crate) const UNREACHED: u32 = u32::MAX / 2;

/// The greatest level. Beyond it sums of numbers of moves might not fit into 31 bits; every run
/// checks that they do.
pub const MAX_LEVEL: u8 = 21;

/// Why there is no result.
#[derive(Error, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChokeError {
    /// The puzzle has at least one tile of each colour.
    #[error("the level must be between 1 and {MAX_LEVEL}, not {level}")]
    Level {
        /// The requested level.
        level: u8,
    },
    /// Sums of distances came too close to the greatest number.
    #[error("the numbers of moves of level {level} do not fit into 31 bits")]
    CostTooLarge {
        /// The level whose tables were to be made.
        level: u8,
    },
    /// The run's flag was set.
    #[error("cancelled")]
    Cancelled,
}

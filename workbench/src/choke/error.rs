//! Limits of the search, and why it has no result.

use thiserror::Error;

/// A number greater than any number of moves. The sum of two of them does not overflow.
pub(crate) const UNREACHED: u32 = u32::MAX / 2;

/// The greatest level. Beyond it sums of numbers of moves might not fit into 31 bits; every run
/// checks that they do.
pub const MAX_LEVEL: u8 = 21;

/// Error of a search without a result.
#[derive(Error, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChokeError {
    /// The level is not from 1 to [`MAX_LEVEL`].
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

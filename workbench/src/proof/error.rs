//! Why a certificate or a list of moves cannot be made.

use thiserror::Error;

/// Error of a certificate or a list of moves that cannot be made.
#[derive(Error, Clone, PartialEq, Eq, Debug)]
pub enum ProofError {
    /// A sequence of the certificate has no closed form.
    #[error("{what} have no closed form from level {level} on: {values:?} ...")]
    NoForm {
        /// What the values are.
        what: &'static str,
        /// The level of the first value.
        level: u32,
        /// The first values.
        values: Vec<i64>,
    },
    /// The prices are too high: a cycle of segments has a negative cost.
    #[error("at level {level} a cycle of segments has a negative sum of lengths and prices")]
    NegativeCycle {
        /// The level that the segments make up.
        level: u32,
    },
    /// A distance of a level is not the sum of an edge and another distance.
    #[error("a distance of level {level} has no chain of segments that leads to it")]
    NoChain {
        /// The level.
        level: u32,
    },
    /// A price exceeds 63 bits.
    #[error("the price of level {level} has more than 63 bits")]
    PriceTooLarge {
        /// The level.
        level: u32,
    },
    /// A level for which there are no moves.
    #[error("the level must be between {least} and {greatest}, not {level}")]
    Level {
        /// The requested level.
        level: u32,
        /// The least level.
        least: u32,
        /// The greatest level.
        greatest: u32,
    },
}

//! Positions of Panex Gold on the command line: read where only one order of levels is legal.

use strata_panex::{GoldError, GoldPosition, Position};

/// Why a Gold position cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GoldEndError {
    /// It is none, or its levels are not determined.
    #[error(transparent)]
    Gold(#[from] GoldError),
    /// It has another number of tiles.
    #[error("a position of level {found}, not {level}: so many tiles are there of a colour")]
    Level {
        /// Its level.
        found: u8,
        /// The puzzle's.
        level: u8,
    },
}

/// The position of a puzzle's level that a Gold position stands for.
pub(crate) fn read(text: &str, level: u8) -> Result<Position, GoldEndError> {
    let position = text.parse::<GoldPosition>()?.to_position()?;
    match position.level() {
        found if found == level => Ok(position),
        found => Err(GoldEndError::Level { found, level }),
    }
}

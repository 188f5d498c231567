//! Positions of Panex Gold on the command line, which must determine the levels of the tiles.

use strata_replay::{GoldError, GoldPosition, Position};

/// Why a Gold position was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GoldEndError {
    /// It is malformed, or does not determine the levels.
    #[error(transparent)]
    Gold(#[from] GoldError),
    /// It has another number of tiles.
    #[error(
        "a position of level {found}, not {level}: the level is the number of tiles of a colour"
    )]
    Level {
        /// Its level.
        found: u8,
        /// The puzzle's.
        level: u8,
    },
}

/// Reads a Gold position as a position of a level.
///
/// # Errors
/// If it is malformed, ambiguous, or of another level.
pub(crate) fn read(text: &str, level: u8) -> Result<Position, GoldEndError> {
    let position = text.parse::<GoldPosition>()?.to_position()?;
    match position.level() {
        found if found == level => Ok(position),
        found => Err(GoldEndError::Level { found, level }),
    }
}

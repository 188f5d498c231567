//! Replay of solutions: positions and moves of Panex and of sliding tiles, and the rules that every
//! move must keep. Pure functions; shares no code with the search engine, whose results it checks.
//!
//! ```
//! use strata_replay::{CentreTop, Position, parse_moves, replay};
//!
//! let moves = parse_moves("LC RL CR")?;
//! let end = replay(&Position::start(1)?, moves, CentreTop::Forbidden, |_, _| {})?;
//! assert_eq!(end.into_position(), Position::goal(1)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/panex.md` and `docs/tiles.md` explain the puzzles. The algorithms of the papers are in
//! `strata-panex`.
#![forbid(unsafe_code)]

pub mod draw;
mod gold;
mod moves;
mod position;
mod replay;
mod text;
mod tile;
pub mod tiles;

pub use gold::{GoldError, GoldPlace, GoldPosition};
pub use moves::{Move, MoveFault, MoveTextError, NamedMove, Word, parse_moves};
pub use position::{CentreTop, MoveError, Position, PositionError, RuleError};
pub use replay::{Replay, ReplayError, name_moves, positions_every, replay};
pub use text::TextError;
pub use tile::{Colour, Column, MAX_LEVEL, NotATile, Tile};

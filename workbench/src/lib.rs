//! The Panex workbench: positions, moves, replay, drawing, and the algorithms and formulas of the
//! literature as values. Pure functions; shares no code with the search engine, whose results it
//! checks.
//!
//! Sources, cited as *the paper* and *Baxter*: M. Manasse, D. Sleator, V. K. Wei, N. Baxter, "The
//! Panex Puzzle" (1983, edited later); N. Baxter, "Recent Results for the Panex Puzzle" (2002,
//! revised 2008). `docs/panex.md` explains the puzzle.
#![deny(unsafe_code)]

pub mod choke;
pub mod draw;
pub mod formulas;
mod gold;
mod moves;
pub mod operations;
mod position;
pub mod proof;
mod replay;
pub mod table;
mod text;
mod tile;
pub mod tiles;

pub use gold::{GoldError, GoldPlace, GoldPosition};
pub use moves::{Move, MoveFault, MoveTextError, NamedMove, Word, parse_moves};
pub use position::{CentreTop, MoveError, Position, PositionError, RuleError};
pub use replay::{Replay, ReplayError, name_moves, positions_every, replay};
pub use text::TextError;
pub use tile::{Colour, Column, MAX_LEVEL, NotATile, Tile};

//! The N×P sliding-tile puzzle: boards, moves of the blank, and checkers of walks in which it never
//! turns counterclockwise.
//!
//! Source, cited as *the paper*: M. Almulla, M. Newborn, "Restricting Moves When Solving the
//! NxP-Puzzle". Squares are numbered from 1, row by row, as there. `docs/tiles.md` explains the
//! rules and lists the paper's errors.

mod board;
mod check;
mod clockwise;
mod moves;
mod orders;
mod text;
mod word;

pub use board::{Board, BoardError, MAX_SIDE, MIN_SIDE, Shape, ShapeError};
pub use check::{Side, Violation, Walked, check, choice_squares};
pub use clockwise::{Choices, Clockwise, ClockwiseError, Level, follow};
pub use moves::{Move, Turn};
pub use text::TextError;
pub use word::{Word, WordError};

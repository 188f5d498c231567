//! The N×P sliding-tile puzzle: boards, which of them can be solved, and solutions in which the
//! blank never turns counterclockwise. Pure functions; shares no code with the search engine, whose
//! results it checks.
//!
//! Source, cited as *the paper*: M. Almulla, M. Newborn, "Restricting Moves When Solving the
//! NxP-Puzzle". Squares are numbered from 1, row by row, as there. `docs/tiles.md` explains the
//! rules and lists the paper's errors.
#![forbid(unsafe_code)]

mod board;
mod check;
mod clockwise;
mod inversions;
mod moves;
mod orders;
mod text;
mod walk;
mod word;

pub use board::{Board, BoardError, MAX_SIDE, MIN_SIDE, Shape, ShapeError};
pub use check::{Side, Violation, Walked, check, choice_squares};
pub use clockwise::{Choices, Clockwise, ClockwiseError, Level, follow};
pub use inversions::{Solvability, inversions};
pub use moves::{Move, Turn};
pub use text::TextError;
pub use walk::{WalkError, walk};
pub use word::{Word, WordError};

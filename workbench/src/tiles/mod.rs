//! The N×P sliding-tile puzzle: which boards can be solved, and solutions in which the blank never
//! turns counterclockwise, to be checked by [`strata_replay::tiles::check`].
//!
//! Source, cited as *the paper*: M. Almulla, M. Newborn, "Restricting Moves When Solving the
//! NxP-Puzzle". `docs/tiles.md` explains the rules and lists the paper's errors.
#![forbid(unsafe_code)]

mod inversions;
mod walk;

pub use inversions::{Solvability, inversions};
pub use walk::{WalkError, walk};

//! The puzzles that ship with Strata, as state spaces: pure functions without I/O or threads.
#![forbid(unsafe_code)]

mod drawing;
pub mod group;
mod hanoi;
pub mod panex;
pub mod permutation;
pub mod tiles;

pub use hanoi::{DenseHanoi, Hanoi, NestedHanoi};

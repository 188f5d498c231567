//! Tests of the shipped puzzles and of puzzles from files.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod drawings;
mod group;
mod permutation;

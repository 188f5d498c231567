//! `strata tiles`: facts on sliding-tile puzzles that need no search of positions.

pub(crate) mod args;
pub(crate) mod run;

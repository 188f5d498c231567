//! `strata puzzle`: facts about puzzles from files.

pub(crate) mod args;
pub(crate) mod run;

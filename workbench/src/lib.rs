//! The Panex workbench: the algorithms and formulas of the literature as values. Pure functions; shares
//! no code with the search engine, whose results it checks.
//!
//! Sources, cited as *the paper* and *Baxter*: M. Manasse, D. Sleator, V. K. Wei, N. Baxter, "The
//! Panex Puzzle" (1983, edited later); N. Baxter, "Recent Results for the Panex Puzzle" (2002,
//! revised 2008). `docs/panex.md` explains the puzzle.
#![deny(unsafe_code)]

pub mod choke;
pub mod formulas;
pub mod operations;
pub mod proof;
pub mod table;
pub mod tiles;

//! `strata panex`: operations, tables, comparisons, proof and drawings of the Panex puzzle.

pub(crate) mod args;
mod bound;
mod check;
mod choke;
mod operation;
mod proof;
pub(crate) mod run;
mod table;
mod words;

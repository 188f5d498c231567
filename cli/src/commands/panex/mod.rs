//! `strata panex`: operations, tables, comparisons and drawings of the Panex puzzle.

pub(crate) mod args;
mod check;
mod choke;
mod operation;
pub(crate) mod run;
mod table;
mod words;

//! `strata solve`: a search with all its workers in this process.

pub(crate) mod args;
mod clockwise;
pub(crate) mod embedded;
mod engine;
mod path;
mod prepared;
mod report;
pub(crate) mod run;

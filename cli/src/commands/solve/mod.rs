//! `strata solve`: a search with coordinator and workers in this process.

mod clockwise;
pub(crate) mod embedded;
mod engine;
mod path;
mod report;
pub(crate) mod run;
mod signals;

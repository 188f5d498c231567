//! `strata solve`: a search with coordinator and workers in this process.

mod clockwise;
mod crew;
pub(crate) mod embedded;
mod engine;
mod jobs;
mod path;
mod report;
pub(crate) mod run;
mod session;
mod signals;

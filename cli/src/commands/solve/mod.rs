//! `strata solve`: a search with all its workers in this process.

mod antipodes;
pub(crate) mod args;
pub(crate) mod embedded;
mod engine;
mod job_run;
mod page;
mod path;
mod prepared;
pub(crate) mod resume;
pub(crate) mod run;
mod ui;

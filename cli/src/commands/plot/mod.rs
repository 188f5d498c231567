//! `strata plot`: charts of jobs.

pub(crate) mod args;
mod event;
pub(crate) mod run;

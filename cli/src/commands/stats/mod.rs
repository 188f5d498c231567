//! `strata stats`: the layer table of a job.

pub(crate) mod run;
mod table;

//! `strata stats`: the layer table of a job.

pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod table;

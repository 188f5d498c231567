//! `strata stats`: the layer table of a job.

pub(crate) mod table;

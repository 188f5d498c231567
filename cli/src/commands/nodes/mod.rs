//! `strata coordinator` and `strata worker`: the nodes of a cluster.

pub(crate) mod args;
pub(crate) mod run;

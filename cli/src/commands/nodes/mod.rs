//! `strata coordinator` and `strata worker`: the nodes of a cluster.

pub(crate) mod coordinator;
mod node;
pub(crate) mod worker;

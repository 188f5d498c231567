//! `strata coordinator`, `strata worker` and `strata tls-init`: the nodes of a cluster.

pub(crate) mod coordinator;
mod node;
mod presenter;
pub(crate) mod tls_init;
pub(crate) mod worker;

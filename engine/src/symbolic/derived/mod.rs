//! Data derived from each new node: exit sets and statistics, on one thread or two.

pub(crate) mod data;
pub(crate) mod executor;
pub(crate) mod helper;
pub(crate) mod node_exits;
pub(crate) mod stats;
pub(crate) mod wait;

//! A worker: its shards of every layer, its threads, its share of memory and its files.
//! Synchronous; whoever embeds it decides how commands and reports travel. [`Node`] is a worker as a
//! process of a cluster, the only part with a runtime and a network.
#![forbid(unsafe_code)]

mod budget;
mod files;
mod node;
mod restore;
mod symbolic;
mod threads;
mod work;
mod worker;

pub use budget::{Budget, BudgetError};
pub use files::Keep;
pub use node::{Node, NodeError, NodeOptions};
pub use restore::Restore;
pub use symbolic::{SymbolicWorker, load_frontier, read_diagram};
pub use work::Work;
pub use worker::{LayerReport, Setup, Worker};

/// What can go wrong in a worker.
pub type Error = strata_store::StoreError;

/// Result of a worker's operations.
pub type Result<T> = std::result::Result<T, Error>;

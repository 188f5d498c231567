//! Settings of a worker process.

use std::path::PathBuf;
use std::sync::Arc;

use strata_proto::platform::{Machine, Platform};
use strata_run::catalogue::Registry;

/// Settings of a [`Node`](crate::Node).
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// URL of the coordinator.
    pub coordinator: String,
    /// Name in logs and listings.
    pub name: String,
    /// Whether a user has given the name. Otherwise it is the host's name, and the coordinator adds
    /// the port if the host has several workers.
    pub is_named: bool,
    /// Data directory: it has a folder for each job.
    pub data_dir: PathBuf,
    /// Search threads.
    pub threads: usize,
    /// Memory budget in bytes.
    pub memory: u64,
    /// URL of the shared checkpoint store, if there is one.
    pub store: Option<String>,
    /// The puzzles that this worker can search.
    pub puzzles: Arc<Registry>,
    /// Description of the machine for the coordinator.
    pub machine: Machine,
    /// The platform it runs on.
    pub platform: Arc<dyn Platform>,
}

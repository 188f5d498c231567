//! The worker process of a cluster: an asynchronous network node around a worker of `strata-run`.
//!
//! A node keeps one connection to the coordinator for orders and answers. One thread executes the
//! orders one after the other. Exits use separate connections between workers, so orders do not
//! wait behind exits, nor exits behind orders.
//!
//! - `node`, `options`, `identity`, `state`, `resources`: the process and its shared state;
//! - `control`, `orders`: membership in the cluster, and the log of orders;
//! - `executor`, `task`, `job`, `epoch`: execution of orders for the job of an epoch;
//! - `removal`, `folders`: removal of jobs that the journal no longer has;
//! - `exchange`, `link`, `delivery`, `batch`, `intake`: exits to and from other workers;
//! - `barrier`, `grid`: ends of layers, which workers tell each other;
//! - `excerpt`: blocks of other workers' layers, for the dense engine;
//! - `fetch`, `checkpoint_store`, `store_folder`, `store_bucket`, `store_object`, `transfer`:
//!   checkpoint files of other workers, and the shared store;
//! - `path`, `memory_use`: second searches for paths, which run only while there is no job;
//! - `error`: errors of these modules, and their kinds in the protocol.
#![forbid(unsafe_code)]

mod barrier;
mod batch;
mod check;
mod checkpoint_store;
mod control;
mod delivery;
mod epoch;
mod error;
mod excerpt;
mod exchange;
mod executor;
mod fetch;
mod folders;
mod grid;
mod identity;
mod intake;
mod job;
mod link;
mod memory_use;
mod node;
mod options;
mod orders;
mod path;
mod removal;
mod resources;
mod service;
mod state;
#[cfg(feature = "s3")]
mod store_bucket;
mod store_folder;
mod store_object;
mod task;
mod transfer;

pub use error::NodeError;
pub use node::Node;
pub use options::NodeOptions;

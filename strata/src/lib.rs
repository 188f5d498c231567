//! Disk-based breadth-first search of implicit graphs.
//!
//! [`Plan`] is a pure state machine, [`Driver`] carries its commands to a [`WorkerPool`] and the answers
//! back; both are the same in one process and over a network. [`Worker`] and [`SymbolicWorker`]
//! make the layers.
#![forbid(unsafe_code)]

pub mod catalogue;
mod keep_layers;
mod local;
mod plan;
mod tracker;

pub use keep_layers::KeepLayers;
pub use local::budget::{Budget, BudgetError};
pub use local::restore::Restore;
pub use local::symbolic::{SymbolicWorker, load_frontier, read_diagram};
pub use local::work::Work;
pub use local::worker::{LayerReport, Setup, Worker};
pub use plan::driver::{
    Answer, CheckpointSink, Done, DriveError, Driver, Order, Retryable, WorkerPool,
};
pub use plan::sums::{LayerNumbers, LayerSummary, Totals};
pub use plan::{
    Command, Input, Outcome, Plan, PlanOptions, Publication, Refusal, Report, Rule, Start,
    StopReason,
};
pub use strata_symbolic::Options as SymbolicOptions;
pub use tracker::{Tracked, Tracker};

/// What can go wrong in a worker.
pub type Error = strata_store::StoreError;

/// Result of a worker's operations.
pub type Result<T> = std::result::Result<T, Error>;

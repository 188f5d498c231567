//! The coordinator of a cluster: membership, job queue, journal and servers.
//!
//! A [`Coordinator`] serves workers and clients over gRPC, and health, metrics and a web page over
//! HTTP. One thread, the queue, starts jobs. Each running job has a thread of its own, which drives
//! the [plan](strata_run::Plan) of the search with the same [`Driver`](strata_run::Driver) as an
//! embedded search; only the [workers](strata_run::WorkerPool) and the
//! [checkpoints](strata_run::CheckpointSink) are specific to the cluster. The [`Journal`] holds
//! everything that survives a restart.
#![forbid(unsafe_code)]

mod cluster;
pub mod dashboard;
mod entry;
mod journal;
mod scheduling;
mod server;

pub use cluster::context::{ClusterOptions, DashboardOptions, Retention};
pub use entry::{
    AutoEngine, ClusterCheckpoint, EndState, EngineRecord, JobEntry, JobOptions, JobState,
    WorkerEntry, WorkerNumber,
};
pub use journal::ended::EndedJob;
pub use journal::error::JournalError;
pub use journal::names::WorkerName;
pub use journal::operations::{JobName, Journal};
pub use journal::setup::JournalSetup;
pub use journal::workers::Registered;
pub use server::coordinator::Coordinator;
pub use server::error::ServerError;

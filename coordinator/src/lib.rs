//! The coordinator: which layer is next, what is a checkpoint, when a search ends, who works on it.
//!
//! [`Plan`] is a pure state machine, [`Driver`] carries its commands to a [`Crew`] and the answers
//! back; both are the same in one process and over a network. [`Coordinator`] is the cluster's: a
//! queue of jobs, workers that come and go, and a journal of it all.
#![forbid(unsafe_code)]

mod cluster;
mod entry;
mod journal;
mod server;

pub use cluster::ClusterOptions;
pub use entry::{ClusterCheckpoint, JobEntry, JobOptions, JobState, Limit, WorkerEntry};
pub use journal::{Journal, JournalError};
pub use server::{Coordinator, ServerError};

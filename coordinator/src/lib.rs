//! The coordinator: which layer is next, what is a checkpoint, when a search ends, who works on it.
//!
//! [`Plan`] is a pure state machine, [`Driver`] carries its commands to a [`Crew`] and the answers
//! back; both are the same in one process and over a network. [`Coordinator`] is the cluster's: a
//! queue of jobs, workers that come and go, and a journal of it all.
#![forbid(unsafe_code)]

mod cluster;
mod drive;
mod entry;
mod journal;
mod plan;
mod server;
mod sums;
mod tracker;

pub use cluster::ClusterOptions;
pub use drive::{Answer, Crew, Done, Driver, Fault, Keeper, Order, Trouble};
pub use entry::{
    ClusterCheckpoint, JobEntry, JobOptions, JobState, KeepLayers, Limit, WorkerEntry,
};
pub use journal::{Journal, JournalError};
pub use plan::{
    Command, Input, Outcome, Plan, PlanOptions, Publication, Refusal, Report, Rule, Start,
    StopReason,
};
pub use server::{Coordinator, ServerError};
pub use sums::{LayerNumbers, LayerSummary, Totals};
pub use tracker::{Tracked, Tracker};

//! The plan of a search: which layer is next, what is a checkpoint, when it ends.
//!
//! Everything here is pure: no I/O, no clock, no threads. A driver carries commands to workers and
//! their reports back, in one process or over a network.
#![forbid(unsafe_code)]

mod plan;
mod sums;

pub use plan::{
    Command, Input, Outcome, Plan, PlanOptions, Publication, Refusal, Report, Rule, Start,
    StopReason,
};
pub use sums::{LayerNumbers, LayerSummary, Totals};

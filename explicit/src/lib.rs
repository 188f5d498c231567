//! One worker's share of one layer: expand, exchange, merge and deduplicate. Synchronous, no
//! network.
//!
//! A pass turns layer d into layer d+1. For every region of the current layer or the inbox, in
//! key order, a [`Kernel`] computes
//!
//! ```text
//! next = (inside successors of current ∪ inbox) − current − previous
//! ```
//!
//! writes it to the layer file and sends its exits to the inboxes of the regions they lead to,
//! where they wait for the next pass. A [`PassTask`] is what one thread needs for that; an
//! [`Exchange`] carries exits between workers.
#![forbid(unsafe_code)]

mod direct;
mod engine;
mod image;
mod inbox;
mod kernel;
mod pass_task;
mod run;
mod tabled;
mod trace;

pub use engine::{Engine, KernelMemory};
pub use image::{Bounds, run_header, run_image};
pub use inbox::{Exchange, Inbox, InboxOptions, LocalExchange};
pub use kernel::{Batches, ExitSink, Inputs, Kernel, Output};
pub use pass_task::{DiscardExits, Outboxes, Pass, PassTask, count};
pub use run::{MemoryRun, Run, SortBuffers};
pub use trace::{Candidate, Finder, Layers, Trace};

/// What can go wrong in a pass.
pub type Error = strata_store::StoreError;

/// Result of a pass.
pub type Result<T> = std::result::Result<T, Error>;

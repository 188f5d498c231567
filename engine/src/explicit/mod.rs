//! Explicit engine: one worker's pass over one layer, with every state stored.
//!
//! A pass turns layer d into layer d+1. For each region of the current layer or the inbox, in key
//! order, a [`Kernel`] computes
//!
//! ```text
//! next = (inside successors of current ∪ inbox) − current − previous
//! ```
//!
//! If some moves cannot be undone, it also subtracts all layers before.
//!
//! The kernel passes the result to the layer file, and the exits of the new states to the inboxes of
//! their target regions, where the next pass reads them. One [`PassTask`] per thread does this for a range
//! of keys. An [`Exchange`] delivers exits between workers.
//!
//! The engine is synchronous and contains no network code.
//!
//! To follow one state: [`PassTask::step`] reads it from the layer and passes it to [`Kernel::expand`].
//! Its new successors inside the region go to [`Output::put`]. Successors outside the region go through
//! [`ExitSink::send`] and the [`Outboxes`] to an [`Inbox`].
#![forbid(unsafe_code)]

mod dedup;
mod engine;
mod error;
mod exits;
mod kernel;
mod local_set;
mod merge;
mod pass;
mod sorting;
mod sparse;
mod tabled;
mod trace;

pub use engine::Engine;
pub use error::{Error, ExchangeError, InboxError, Result};
pub use exits::{
    Bounds, DiscardExits, Exchange, Inbox, InboxOptions, LocalExchange, MAX_CONTENT, MemoryRun,
    Outboxes, Run, RunEncoder, SortBuffers,
};
pub use kernel::{Batches, ExitSink, Inputs, Kernel, KernelMemory, MemoUse, Output, check_width};
pub use pass::{Pass, PassTask, count};
pub use trace::{Candidate, Finder, Layers, Trace, entry_key};

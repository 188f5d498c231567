//! Exits on their way to the next pass: runs, inboxes, outboxes and exchanges.

mod exchange;
mod inbox;
mod outboxes;
mod run;
mod wire;

pub use exchange::{Exchange, LocalExchange};
pub use inbox::{Inbox, InboxOptions};
pub use outboxes::{DiscardExits, Outboxes};
pub use run::{MemoryRun, Run, SortBuffers};
pub use wire::{Bounds, MAX_CONTENT, RunEncoder};

pub(crate) use run::MergedRuns;

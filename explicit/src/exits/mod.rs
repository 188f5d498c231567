//! Exits on their way to the next pass: runs, inboxes, outboxes and exchanges.

mod exchange;
mod image;
mod inbox;
mod outboxes;
mod run;

pub use exchange::{Exchange, LocalExchange};
pub use image::{Bounds, run_header, run_image};
pub use inbox::{Inbox, InboxOptions};
pub use outboxes::{DiscardExits, Outboxes};
pub use run::{MemoryRun, Run, SortBuffers};

pub(crate) use run::MergedRuns;

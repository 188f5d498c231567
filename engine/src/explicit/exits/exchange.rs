//! Delivery of exits between workers.

use std::sync::Arc;

use super::inbox::Inbox;
use super::run::MemoryRun;
use crate::explicit::error::Result;

/// Delivers exits to the worker that owns their target region.
///
/// Delivery is idempotent: an inbox is a set, and a second copy of a run changes nothing.
pub trait Exchange: Send + Sync {
    /// Delivers a sorted run of exits of layer `depth` to the inbox of worker `to`. The exchange may
    /// recycle the memory of the run.
    ///
    /// The call may wait until the receiver has accepted the run, but must not wait for the receiver's
    /// own pass: two workers that wait for each other would deadlock.
    ///
    /// # Errors
    /// If the run cannot be delivered, or the inbox cannot spill it.
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> Result<()>;

    /// Waits until all runs of layer `depth` that worker `from` has sent are in their inboxes. As
    /// [`Self::send`], it must not wait for a receiver's own pass.
    ///
    /// # Errors
    /// If a run could not be delivered.
    fn flush(&self, from: usize, depth: u32) -> Result<()>;

    /// An empty run for worker `from`, with recycled memory if there is any.
    fn recycled_run(&self, from: usize) -> MemoryRun;
}

/// The exchange within one process: it puts runs directly into the receiver's inbox.
#[derive(Debug)]
pub struct LocalExchange {
    inboxes: Vec<Arc<Inbox>>,
}

impl LocalExchange {
    /// An exchange between workers; `inboxes` are by worker number.
    pub fn new(inboxes: Vec<Arc<Inbox>>) -> LocalExchange {
        LocalExchange { inboxes }
    }
}

impl Exchange for LocalExchange {
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> Result<()> {
        Ok(self.inboxes[to].accept(depth, run)?)
    }

    fn flush(&self, _: usize, _: u32) -> Result<()> {
        // `send` returns after the inbox has accepted the run.
        Ok(())
    }

    fn recycled_run(&self, from: usize) -> MemoryRun {
        self.inboxes[from].recycled_run()
    }
}

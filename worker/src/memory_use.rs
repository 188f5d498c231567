//! Arbiter of the memory budget of the process between a job and a search for a path.
//!
//! Either of them takes the whole budget. A search runs only while there is no job, and ends when one begins.

use std::sync::Arc;

use strata_proto::platform::Platform;
use strata_run::CancelToken;
use tokio::sync::watch;

/// Current user of the memory budget.
#[derive(Debug, Default)]
pub(crate) struct MemoryUse {
    now: watch::Sender<Use>,
}

#[derive(Debug, Default)]
struct Use {
    /// A job is prepared or about to be.
    has_job: bool,
    /// Ends the running search.
    search: Option<CancelToken>,
}

impl MemoryUse {
    /// Reserves the memory for a job: ends a search for a path, and waits until it has released its
    /// memory.
    pub(crate) fn begin_job(&self, platform: &dyn Platform) {
        self.now.send_modify(|now| now.has_job = true);
        self.end_search();
        let mut changes = self.now.subscribe();
        // This cannot fail: `self` holds the sender.
        let _ = platform.wait(changes.wait_for(|now| now.search.is_none()));
    }

    /// Ends the reservation for a job.
    pub(crate) fn end_job(&self) {
        self.now.send_modify(|now| now.has_job = false);
    }

    /// Requests the end of a search for a path.
    pub(crate) fn end_search(&self) {
        if let Some(cancel) = &self.now.borrow().search {
            cancel.cancel();
        }
    }

    /// Reserves the memory for a search; `None` while it is in use.
    pub(crate) fn begin_search(self: &Arc<MemoryUse>) -> Option<Reservation> {
        let cancel = CancelToken::new();
        let begun = self.now.send_if_modified(|now| {
            let is_free = !now.has_job && now.search.is_none();
            if is_free {
                now.search = Some(cancel.clone());
            }
            is_free
        });
        begun.then(|| Reservation { memory: Arc::clone(self), cancel })
    }
}

/// The memory budget while a search for a path has it.
pub(crate) struct Reservation {
    memory: Arc<MemoryUse>,
    cancel: CancelToken,
}

impl Reservation {
    /// Is cancelled when the search must end.
    pub(crate) fn cancel(&self) -> &CancelToken {
        &self.cancel
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.now.send_modify(|now| now.search = None);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use strata_proto::platform::System;

    use super::*;

    #[test]
    fn a_job_ends_a_search_and_waits_until_it_has_ended() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let platform = System::new(runtime.handle());
        let memory = Arc::new(MemoryUse::default());
        let search = memory.begin_search().unwrap();
        assert!(memory.begin_search().is_none());
        let (begun, job) = std::sync::mpsc::channel();
        let other = Arc::clone(&memory);
        let thread = std::thread::spawn(move || {
            other.begin_job(&*platform);
            begun.send(()).unwrap();
        });
        while !search.cancel.is_cancelled() {
            std::thread::yield_now();
        }
        assert!(job.recv_timeout(Duration::from_millis(50)).is_err());
        drop(search);
        job.recv().unwrap();
        thread.join().unwrap();
        assert!(memory.begin_search().is_none());
        memory.end_job();
        assert!(memory.begin_search().is_some());
    }
}

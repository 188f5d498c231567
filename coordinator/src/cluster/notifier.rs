//! Wake-up of waiting threads.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use strata_proto::platform::Platform;
use tokio::sync::Notify;

/// Wakes all threads that have a [`Waiter`], in the order in which their waiters were made.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    waiters: Mutex<Vec<Weak<Notify>>>,
}

/// A thread's registration with a [`Notifier`]. A notification that comes while the thread does not
/// wait ends its next wait.
#[derive(Debug)]
pub(crate) struct Waiter {
    notified: Arc<Notify>,
}

impl Notifier {
    /// Registers a thread.
    pub(crate) fn waiter(&self) -> Waiter {
        let notified = Arc::new(Notify::new());
        let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        waiters.retain(|waiter| waiter.strong_count() > 0);
        waiters.push(Arc::downgrade(&notified));
        Waiter { notified }
    }

    /// Ends the current wait of each waiter, or its next one.
    pub(crate) fn notify(&self) {
        let waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        waiters.iter().filter_map(Weak::upgrade).for_each(|waiter| waiter.notify_one());
    }
}

impl Waiter {
    /// Blocks the thread until a notification, at most for `timeout`.
    pub(crate) fn wait(&self, platform: &dyn Platform, timeout: Duration) {
        platform.wait_at_most(timeout, self.notified.notified());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use strata_proto::platform::System;
    use tokio::runtime::Handle;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_notification_ends_the_next_wait_of_each_waiter() {
        let system: Arc<dyn Platform> = System::new(&Handle::current());
        let waits = Arc::clone(&system);
        let thread = system.start(
            "waits",
            Box::new(move || {
                let notifier = Notifier::default();
                let waiters = [notifier.waiter(), notifier.waiter()];
                notifier.notify();
                let start = Instant::now();
                waiters.iter().for_each(|waiter| waiter.wait(&*waits, Duration::from_secs(60)));
                assert!(start.elapsed() < Duration::from_secs(30));
                waiters[0].wait(&*waits, Duration::from_millis(1));
            }),
        );
        thread.unwrap().await.unwrap();
    }
}

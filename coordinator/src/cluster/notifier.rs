//! Wake-up of a waiting thread.

use std::time::Duration;

use strata_platform::Platform;
use tokio::sync::Notify;

/// Wakes one waiting thread. A notification without a waiter is kept for the next one.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    notified: Notify,
}

impl Notifier {
    /// Ends the current wait, or the next one.
    pub(crate) fn notify(&self) {
        self.notified.notify_one();
    }

    /// Blocks the thread until a notification, at most for `timeout`.
    pub(crate) fn wait(&self, platform: &dyn Platform, timeout: Duration) {
        platform.wait_at_most(timeout, self.notified.notified());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use strata_platform::System;
    use tokio::runtime::Handle;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_notification_without_a_waiter_ends_the_next_wait() {
        let system: Arc<dyn Platform> = System::new(&Handle::current());
        let waits = Arc::clone(&system);
        let thread = system.start(
            "waits",
            Box::new(move || {
                let notifier = Notifier::default();
                notifier.notify();
                let start = Instant::now();
                notifier.wait(&*waits, Duration::from_secs(60));
                assert!(start.elapsed() < Duration::from_secs(30));
                notifier.wait(&*waits, Duration::from_millis(1));
            }),
        );
        thread.unwrap().await.unwrap();
    }
}

//! Wake-up of a waiting thread.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Wakes one waiting thread. A notification without a waiter is kept for the next one.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    notified: Mutex<bool>,
    condition: Condvar,
}

impl Notifier {
    /// Ends the current wait, or the next one.
    pub(crate) fn notify(&self) {
        *self.notified.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.condition.notify_all();
    }

    /// Waits for a notification, at most for `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) {
        let notified = self.notified.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut notified, _) = self
            .condition
            .wait_timeout_while(notified, timeout, |notified| !*notified)
            .unwrap_or_else(PoisonError::into_inner);
        *notified = false;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_notification_without_a_waiter_ends_the_next_wait() {
        let notifier = Notifier::default();
        notifier.notify();
        let start = Instant::now();
        notifier.wait(Duration::from_secs(60));
        assert!(start.elapsed() < Duration::from_secs(30));
        notifier.wait(Duration::from_millis(1));
    }
}

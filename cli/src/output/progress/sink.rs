//! Interface of the progress displays, and their limit on frequent output.

use std::io;
use std::time::Duration;

use crate::output::events::Event;

/// A destination of events. `now` is the time since the run began.
pub(crate) trait Sink: Send {
    /// Handles an event.
    fn event(&mut self, event: &Event, now: Duration);

    /// Called a few times a second.
    fn tick(&mut self, now: Duration);

    /// Called once, at the end.
    ///
    /// # Errors
    /// Those of standard output.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Permits an action at most once per interval.
pub(super) struct Throttle {
    interval: Duration,
    pub(super) last: Option<Duration>,
}

impl Throttle {
    pub(super) fn new(interval: Duration) -> Self {
        Throttle { interval, last: None }
    }

    /// Whether the action is permitted now; if so, the interval starts again.
    pub(super) fn allows(&mut self, now: Duration) -> bool {
        let due = self.last.is_none_or(|last| now >= last + self.interval);
        if due {
            self.last = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_action_and_one_per_interval_are_permitted() {
        let mut throttle = Throttle::new(Duration::from_millis(250));
        let allowed: Vec<u64> =
            (0..=1000).filter(|&now| throttle.allows(Duration::from_millis(now))).collect();
        assert_eq!(allowed, [0, 250, 500, 750, 1000]);
    }
}

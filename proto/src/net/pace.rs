//! Minimum progress of a stream from another node.
//!
//! A node that sends nothing, empty messages or a byte now and then would otherwise hold its receiver
//! for ever. A receiver counts progress, such as bytes of a file, and [`Pace::wait`] fails when too little
//! has come within a window of waiting.

use std::future::Future;
use std::time::Duration;

use crate::platform::Instant;

use crate::net::limits;

/// Too little came in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Stalled {
    /// The window.
    pub window: Duration,
    /// Amount received in the window.
    pub received: u64,
    /// Minimum amount for the window.
    pub needed: u64,
    /// The unit of both.
    pub unit: &'static str,
}

impl Stalled {
    fn text(&self) -> String {
        let Self { window, received, needed, unit } = self;
        match received {
            0 => format!("no {unit} came in {window:?}"),
            _ => format!("only {received} {unit} came in {window:?}, not {needed}"),
        }
    }
}

/// Measures the progress of a stream. Time for which the receiver itself is busy does not count.
#[derive(Clone, Debug)]
pub struct Pace {
    window: Duration,
    needed: u64,
    unit: &'static str,
    /// Amount received in the current window.
    received: u64,
    /// End of the current window.
    end: Instant,
}

impl Pace {
    /// The pace of a stream that must bring at least `needed` of `unit`, such as "states", in each
    /// window.
    #[must_use]
    pub fn new(window: Duration, needed: u64, unit: &'static str) -> Self {
        Self { window, needed, unit, received: 0, end: Instant::now() + window }
    }

    /// The pace of a stream of bytes, at least [`limits::BYTES_PER_SECOND`] in each window.
    #[must_use]
    pub fn of_bytes(window: Duration) -> Self {
        Self::new(window, least_bytes(window), "bytes")
    }

    /// Waits for the next part.
    ///
    /// # Errors
    /// [`Stalled`] if too little has come at the end of the window.
    pub async fn wait<T>(&self, part: impl Future<Output = T>) -> Result<T, Stalled> {
        // `timeout_at` polls the part first, so parts that are always ready would never time out.
        if Instant::now() < self.end
            && let Ok(part) = tokio::time::timeout_at(self.end, part).await
        {
            return Ok(part);
        }
        let Self { window, needed, unit, received, .. } = *self;
        Err(Stalled { window, received, needed, unit })
    }

    /// Counts progress. The next window begins when the amount in this one is enough.
    pub fn count(&mut self, amount: u64) {
        self.received = self.received.saturating_add(amount);
        if self.received >= self.needed {
            self.received = 0;
            self.end = Instant::now() + self.window;
        }
    }

    /// Runs work of this node, and extends the window by the time that it takes.
    pub async fn exclude<T>(&mut self, own: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let done = own.await;
        self.end += begun.elapsed();
        done
    }
}

/// Minimum bytes of a stream in a window of time; at least 1.
#[must_use]
fn least_bytes(window: Duration) -> u64 {
    let bytes = window.as_millis().saturating_mul(limits::BYTES_PER_SECOND.into()) / 1000;
    u64::try_from(bytes).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const WINDOW: Duration = Duration::from_secs(10);

    /// Takes parts that come `pause` apart, until the stream stalls; the time until then.
    async fn stall(mut pace: Pace, pause: Duration, amount: u64) -> (Stalled, Duration) {
        let begun = Instant::now();
        loop {
            match pace.wait(tokio::time::sleep(pause)).await {
                Ok(()) => pace.count(amount),
                Err(stalled) => return (stalled, begun.elapsed()),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_stalls_on_silence_empty_parts_or_a_trickle() {
        let pace = Pace::of_bytes(WINDOW);
        let silent = pace.wait(pending::<()>()).await.unwrap_err();
        assert_eq!(silent.to_string(), "no bytes came in 10s");
        let (empty, took) = stall(Pace::of_bytes(WINDOW), Duration::from_millis(3), 0).await;
        assert_eq!((empty.received, took), (0, WINDOW));
        let (trickle, took) = stall(Pace::of_bytes(WINDOW), Duration::from_secs(3), 1).await;
        assert_eq!(trickle.to_string(), "only 3 bytes came in 10s, not 655360");
        assert_eq!(took, WINDOW);
    }

    #[tokio::test]
    async fn empty_parts_without_a_pause_stall() {
        let window = Duration::from_millis(20);
        let begun = Instant::now();
        let pace = Pace::of_bytes(window);
        while pace.wait(ready(())).await.is_ok() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it never stalls");
        }
        assert!(begun.elapsed() >= window);
    }

    #[tokio::test(start_paused = true)]
    async fn the_receivers_own_time_extends_the_window() {
        let (ready, own) = (Duration::from_secs(9), Duration::from_secs(60));
        let mut pace = Pace::of_bytes(WINDOW);
        pace.wait(tokio::time::sleep(ready)).await.unwrap();
        pace.exclude(tokio::time::sleep(own)).await;
        let begun = Instant::now();
        pace.wait(pending::<()>()).await.unwrap_err();
        assert_eq!(begun.elapsed(), WINDOW - ready);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_with_enough_progress_does_not_stall() {
        let mut pace = Pace::of_bytes(WINDOW);
        for _ in 0..100 {
            pace.wait(tokio::time::sleep(Duration::from_secs(9))).await.unwrap();
            pace.exclude(tokio::time::sleep(Duration::from_secs(60))).await;
            pace.count(least_bytes(WINDOW));
        }
        assert_eq!(least_bytes(Duration::ZERO), 1);
        let mut states = Pace::new(WINDOW, 1, "states");
        states.count(1);
        let (stalled, _) = stall(states, Duration::from_secs(1), 0).await;
        assert_eq!(stalled.to_string(), "no states came in 10s");
    }
}

//! Progress of a run, derived from its layers: totals, rate, share of the work and time left.

use std::collections::VecDeque;
use std::time::Duration;

/// Time span of the rate.
const WINDOW: Duration = Duration::from_secs(10);

/// Samples are at least this far apart, so that the window holds few of them.
const SAMPLE: Duration = Duration::from_millis(100);

/// Fewest layers for an estimate of the rest.
const MIN_DEPTH: u32 = 8;

/// A layer as the tracker needs it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracked {
    /// Its depth.
    pub depth: u32,
    /// Its states.
    pub states: u64,
    /// Legal moves of its states.
    pub generated: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// States of all layers up to it.
    pub total_states: u64,
    /// Whether it was searched in an earlier run.
    pub replayed: bool,
}

/// Sums over layers.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    states: u64,
    generated: u64,
    bytes: u64,
}

/// Sums up the layers of a run.
#[derive(Debug)]
pub struct Tracker {
    expected_layers: Option<u32>,
    /// Sums up to each depth.
    totals: Vec<Total>,
    /// States searched by this run, without replayed ones.
    searched: u64,
    /// Time and `searched` at some layers of the last few seconds, the newest last.
    samples: VecDeque<(Duration, u64)>,
    newest: (Duration, u64),
}

impl Tracker {
    /// A tracker of a search. `expected_layers` is a depth by which it is known to end.
    pub fn new(expected_layers: Option<u32>) -> Self {
        Tracker {
            expected_layers,
            totals: Vec::new(),
            searched: 0,
            samples: VecDeque::from([(Duration::ZERO, 0)]),
            newest: (Duration::ZERO, 0),
        }
    }

    /// Adds a layer that was complete `now` after the start of the run.
    pub fn layer(&mut self, layer: &Tracked, now: Duration) {
        let known = self.total();
        let before = layer.total_states.saturating_sub(layer.states);
        self.totals.resize(layer.depth as usize, Total { states: before, ..known });
        let Total { generated, bytes, .. } = self.total();
        self.totals.push(Total {
            states: layer.total_states,
            generated: generated + layer.generated,
            bytes: bytes + layer.bytes,
        });
        if layer.replayed {
            // The rate is measured from the last replayed layer on.
            self.samples = VecDeque::from([(now, 0)]);
            self.newest = (now, 0);
            return;
        }
        self.searched += layer.states;
        self.newest = (now, self.searched);
        if self.samples.back().is_none_or(|&(last, _)| now >= last + SAMPLE) {
            self.samples.push_back(self.newest);
        }
        // The oldest sample left is the last one outside the window: a layer that takes longer
        // than the window still has a rate.
        while self.samples.get(1).is_some_and(|&(next, _)| next + WINDOW <= now) {
            self.samples.pop_front();
        }
    }

    /// Drops the layers after a depth, or all of them, because they will be searched again.
    pub fn roll_back(&mut self, depth: Option<u32>) {
        self.totals.truncate(depth.map_or(0, |depth| depth as usize + 1));
    }

    /// The sums over all layers.
    fn total(&self) -> Total {
        self.totals.last().copied().unwrap_or_default()
    }

    /// Depth and states of the last layer.
    pub fn last(&self) -> Option<(u32, u64)> {
        let (last, before) = self.totals.split_last()?;
        let before = before.last().map_or(0, |total| total.states);
        let depth = u32::try_from(self.totals.len() - 1).ok()?;
        Some((depth, last.states.saturating_sub(before)))
    }

    /// States of all layers.
    pub fn states(&self) -> u64 {
        self.total().states
    }

    /// Share of the generated states that were known already.
    pub fn duplicate_ratio(&self) -> f64 {
        let Total { states, generated, .. } = self.total();
        if generated == 0 {
            return 0.0;
        }
        (1.0 - states as f64 / generated as f64).max(0.0)
    }

    /// Bytes of layer files over their states.
    pub fn bytes_per_state(&self) -> f64 {
        let Total { states, bytes, .. } = self.total();
        bytes as f64 / states.max(1) as f64
    }

    /// States a second over the last few seconds.
    pub fn rate(&self) -> f64 {
        let (oldest, before) = self.samples.front().copied().unwrap_or(self.newest);
        let (newest, after) = self.newest;
        let span = (newest - oldest).as_secs_f64();
        if span > 0.0 { (after - before) as f64 / span } else { 0.0 }
    }

    /// Estimate of the states of the whole search. They grow as a power of the depth; the deeper
    /// half of the layers so far gives the exponent. None without a known end.
    fn expected_states(&self) -> Option<f64> {
        let end = self.expected_layers?;
        let depth = u32::try_from(self.totals.len()).ok()?.checked_sub(1)?;
        if depth < MIN_DEPTH || depth >= end {
            return None;
        }
        let (half, whole) = (self.totals[depth as usize / 2].states, self.states());
        let doubling = f64::from(depth) / f64::from(depth / 2);
        let power = (whole as f64 / half.max(1) as f64).log2() / doubling.log2();
        // Exponents outside this range come from the irregular first layers of a search.
        let power = power.clamp(1.0, 4.0);
        Some(whole as f64 * (f64::from(end) / f64::from(depth)).powf(power))
    }

    /// Estimated share of the work that is done, in states, from 0 to 1.
    pub fn share_of_work(&self) -> Option<f64> {
        Some(self.states() as f64 / self.expected_states()?)
    }

    /// Estimated time left, in seconds.
    pub fn time_left(&self) -> Option<f64> {
        let left = self.expected_states()? - self.states() as f64;
        let rate = self.rate();
        (rate > 0.0).then(|| left / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    fn layer(depth: u32, states: u64, total_states: u64) -> Tracked {
        let (generated, bytes) = (3 * states, states / 2);
        Tracked { depth, states, generated, bytes, total_states, replayed: false }
    }

    fn feed(tracker: &mut Tracker, layer: Tracked, now: Duration, replayed: bool) {
        tracker.layer(&Tracked { replayed, ..layer }, now);
    }

    /// Layers as wide as they are deep, `rate` states a second.
    fn linear(tracker: &mut Tracker, depth: u64, rate: f64) {
        let mut total = 0;
        for depth in 0..=depth {
            total += depth + 1;
            let now = Duration::from_secs_f64(total as f64 / rate);
            feed(tracker, layer(depth as u32, depth + 1, total), now, false);
        }
    }

    #[test]
    fn the_end_of_a_linear_search_is_predicted() {
        let mut tracker = Tracker::new(Some(1000));
        linear(&mut tracker, 250, 1000.0);
        let share = tracker.share_of_work().unwrap();
        assert!((share - 1.0 / 16.0).abs() < 0.002, "{share}");
        assert!((tracker.rate() - 1000.0).abs() < 1.0);
        let left = tracker.time_left().unwrap();
        assert!((left - 470.0).abs() < 20.0, "{left}");
    }

    #[test]
    fn there_is_no_estimate_without_a_bound_or_beyond_it() {
        for expected in [None, Some(250), Some(100)] {
            let mut tracker = Tracker::new(expected);
            linear(&mut tracker, 250, 1000.0);
            assert_eq!(tracker.share_of_work(), None, "{expected:?}");
            assert_eq!(tracker.time_left(), None);
        }
        assert_eq!(Tracker::new(Some(100)).time_left(), None);
    }

    #[test]
    fn the_rate_covers_the_last_seconds_only() {
        let mut tracker = Tracker::new(None);
        feed(&mut tracker, layer(0, 1_000_000, 1_000_000), millis(1000), false);
        assert!((tracker.rate() - 1e6).abs() < 1.0);
        for second in 2..40_u64 {
            let total = 1_000_000 + 100 * (second - 1);
            let now = millis(1000 * second);
            feed(&mut tracker, layer(second as u32 - 1, 100, total), now, false);
        }
        assert!((tracker.rate() - 100.0).abs() < 1.0, "{}", tracker.rate());
        assert!(tracker.samples.len() < 20);
    }

    #[test]
    fn layers_longer_than_the_window_have_a_rate() {
        let mut tracker = Tracker::new(None);
        for depth in 0..5_u32 {
            let now = millis(60_000 * u64::from(depth + 1));
            let total = 6000 * u64::from(depth + 1);
            feed(&mut tracker, layer(depth, 6000, total), now, false);
            assert!((tracker.rate() - 100.0).abs() < 1.0);
        }
    }

    #[test]
    fn replayed_layers_count_but_were_not_fast() {
        let mut tracker = Tracker::new(None);
        feed(&mut tracker, layer(0, 1000, 1000), millis(10), true);
        feed(&mut tracker, layer(1, 1000, 2000), millis(11), true);
        assert_eq!(tracker.rate(), 0.0);
        feed(&mut tracker, layer(2, 500, 2500), millis(1011), false);
        assert_eq!(tracker.states(), 2500);
        assert!((tracker.rate() - 500.0).abs() < 1.0);
    }

    #[test]
    fn ratios() {
        let mut tracker = Tracker::new(None);
        assert_eq!(tracker.duplicate_ratio(), 0.0);
        assert_eq!(tracker.bytes_per_state(), 0.0);
        feed(&mut tracker, layer(0, 1000, 1000), millis(1), false);
        assert!((tracker.duplicate_ratio() - 2.0 / 3.0).abs() < 1e-9);
        assert!((tracker.bytes_per_state() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn layers_that_come_again_count_once() {
        let (mut tracker, mut straight) = (Tracker::new(None), Tracker::new(None));
        linear(&mut tracker, 20, 1000.0);
        assert_eq!(tracker.last(), Some((20, 21)));
        tracker.roll_back(Some(11));
        assert_eq!((tracker.states(), tracker.last()), (78, Some((11, 12))));
        linear(&mut straight, 12, 1000.0);
        feed(&mut tracker, layer(12, 13, 91), millis(500), false);
        assert_eq!(tracker.states(), straight.states());
        assert_eq!(tracker.duplicate_ratio(), straight.duplicate_ratio());
        assert_eq!(tracker.bytes_per_state(), straight.bytes_per_state());
        tracker.roll_back(None);
        assert_eq!((tracker.states(), tracker.last()), (0, None));
    }

    #[test]
    fn a_run_may_begin_deep() {
        let mut tracker = Tracker::new(Some(1000));
        feed(&mut tracker, layer(100, 10, 5000), millis(500), false);
        assert_eq!(tracker.states(), 5000);
        assert_eq!(tracker.totals.len(), 101);
        assert!(tracker.share_of_work().is_some());
    }
}

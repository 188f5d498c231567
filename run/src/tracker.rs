//! Progress tracker of a run: totals, rate, share of the work and time left, derived from its layers.

use std::collections::VecDeque;
use std::time::Duration;

use crate::forecast::{Forecast, PlanePasses, Range, RemainingTime};
use crate::job::event::LayerEvent;

/// Time span of the rate, in seconds.
const WINDOW: f64 = 10.0;

/// Samples are at least this far apart, in seconds, so that the window holds few of them.
const SAMPLE: f64 = 0.1;

/// Share of a dense space below which there is no estimate: its growth, which decides how its time is
/// estimated, is not known yet.
const DENSE_START: f64 = 0.01;

/// Sums over all layers up to one depth.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    states: u64,
    generated: u64,
    bytes: u64,
}

/// Number of states that a run has searched at some time.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// Seconds of search, of all runs.
    seconds: f64,
    /// States searched by this run.
    searched: u64,
}

impl Sample {
    /// States per second since an earlier sample.
    fn rate_since(&self, earlier: &Sample) -> f64 {
        let span = self.seconds - earlier.seconds;
        if span > 0.0 { (self.searched - earlier.searched) as f64 / span } else { 0.0 }
    }
}

/// Rates and estimates of a run at some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// States per second over the last 10 seconds.
    pub rate: f64,
    /// States per second of the whole run.
    pub mean_rate: f64,
    /// Share of the expected work that is done, from 0 to 1, if the work is known.
    pub share_of_work: Option<f64>,
    /// Time left in seconds, if there is a basis for it.
    pub time_left: Option<Range>,
}

impl Figures {
    /// The figures after some more time without a new layer.
    #[must_use]
    pub fn after(self, passed: Duration) -> Figures {
        let time_left = self.time_left.map(|left| left.after(passed.as_secs_f64()));
        Figures { time_left, ..self }
    }
}

/// Sums up the layers of a run, and estimates the time left.
#[derive(Debug)]
pub struct Tracker {
    forecast: Forecast,
    /// Sums up to each depth.
    totals: Vec<Total>,
    /// The first sample of this run.
    first: Sample,
    /// Samples of the last few seconds, the newest last.
    samples: VecDeque<Sample>,
    newest: Sample,
    /// Whether the last layer was searched in an earlier run.
    in_earlier_run: bool,
    remaining: RemainingTime,
    passes: PlanePasses,
    /// When the last layer was added.
    added: Duration,
}

impl Tracker {
    /// Tracks a search with this forecast.
    pub fn new(forecast: Forecast) -> Self {
        let first = Sample::default();
        let mut remaining = RemainingTime::default();
        remaining.restart(0.0, forecast.share_of_work(0, 0, 0));
        Tracker {
            forecast,
            totals: Vec::new(),
            first,
            samples: VecDeque::from([first]),
            newest: first,
            in_earlier_run: false,
            remaining,
            passes: PlanePasses::default(),
            added: Duration::ZERO,
        }
    }

    /// Adds a layer that is complete at the time `now`, on the same clock as that of [`Self::time_left`].
    pub fn layer(&mut self, event: &LayerEvent, now: Duration) {
        let LayerEvent { layer, took, total_states, replayed } = event;
        let (took, total_states) = (*took, *total_states);
        let known = self.total();
        let before = total_states.saturating_sub(layer.states);
        self.totals.resize(layer.depth as usize, Total { states: before, ..known });
        let Total { generated, bytes, .. } = self.total();
        self.totals.push(Total {
            states: total_states,
            generated: generated + layer.generated,
            bytes: bytes + layer.bytes,
        });
        self.added = now;
        if let Some(all) = self.forecast.dense_states() {
            self.passes.add(layer.states, total_states, all, took);
        }
        let seconds = self.newest.seconds + took.max(0.0);
        let share = self.share_of_work();
        if *replayed {
            // The rate is measured from the last replayed layer on.
            self.restart_rate(seconds);
            self.in_earlier_run = true;
            self.remaining.add(seconds, share);
            return;
        }
        if std::mem::take(&mut self.in_earlier_run) {
            let share = self.forecast.share_of_work(layer.depth.saturating_sub(1), 0, before);
            self.remaining.restart(self.newest.seconds, share);
        }
        self.remaining.add(seconds, share);
        let searched = self.newest.searched + layer.states;
        self.newest = Sample { seconds, searched };
        if self.samples.back().is_none_or(|last| seconds >= last.seconds + SAMPLE) {
            self.samples.push_back(self.newest);
        }
        // The oldest sample kept is the last one outside the window, so that a layer that takes longer
        // than the window has a rate, too.
        while self.samples.get(1).is_some_and(|next| next.seconds + WINDOW <= seconds) {
            self.samples.pop_front();
        }
    }

    fn restart_rate(&mut self, seconds: f64) {
        self.first = Sample { seconds, searched: 0 };
        self.samples = VecDeque::from([self.first]);
        self.newest = self.first;
    }

    /// Drops the layers after a depth (all layers if None), because they will be searched again.
    pub fn roll_back(&mut self, depth: Option<u32>) {
        self.totals.truncate(depth.map_or(0, |depth| depth as usize + 1));
        let share = match self.last() {
            Some(_) => self.share_of_work(),
            None => self.forecast.share_of_work(0, 0, 0),
        };
        self.remaining.restart(self.newest.seconds, share);
        self.passes = PlanePasses::default();
    }

    /// The forecast of the search.
    pub fn forecast(&self) -> &Forecast {
        &self.forecast
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

    /// Share of the generated states that were known before.
    pub fn duplicate_ratio(&self) -> f64 {
        let Total { states, generated, .. } = self.total();
        if generated == 0 {
            return 0.0;
        }
        (1.0 - states as f64 / generated as f64).max(0.0)
    }

    /// Bytes of layer files per state.
    pub fn bytes_per_state(&self) -> f64 {
        let Total { states, bytes, .. } = self.total();
        bytes as f64 / states.max(1) as f64
    }

    /// States per second over the last 10 seconds.
    pub fn rate(&self) -> f64 {
        self.newest.rate_since(self.samples.front().unwrap_or(&self.newest))
    }

    /// States per second of this run.
    pub fn mean_rate(&self) -> f64 {
        self.newest.rate_since(&self.first)
    }

    /// Estimated share of the work that is done, from 0 to 1.
    pub fn share_of_work(&self) -> Option<f64> {
        let (depth, width) = self.last()?;
        self.forecast.share_of_work(depth, width, self.states())
    }

    /// Rates and estimates when the last layer was added.
    pub fn figures(&self) -> Figures {
        Figures {
            rate: self.rate(),
            mean_rate: self.mean_rate(),
            share_of_work: self.share_of_work(),
            time_left: self.left(),
        }
    }

    /// Estimated time left when the last layer was added. Dense searches of spaces with few layers are
    /// estimated by passes, since their layers take longer than their states suggest.
    fn left(&self) -> Option<Range> {
        let is_dense = self.forecast.dense_states().is_some();
        let is_early = self.share_of_work().is_none_or(|share| share < DENSE_START);
        match self.passes.left() {
            None if is_dense && (is_early || self.passes.is_fast()) => None,
            None => self.remaining.left(),
            left => left,
        }
    }

    /// Estimated time left at the time `now`, in seconds. None without a basis.
    pub fn time_left(&self, now: Duration) -> Option<Range> {
        Some(self.left()?.after(now.saturating_sub(self.added).as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use strata_space::{Curve, NestedSize, SearchSize};
    use strata_store::{EngineKind, LayerRecord};

    use super::*;

    fn layer(depth: u32, states: u64, total_states: u64, took: f64) -> LayerEvent {
        let (generated, bytes) = (3 * states, states / 2);
        let layer = LayerRecord { depth, states, generated, bytes, ..LayerRecord::default() };
        LayerEvent { layer, took, total_states, replayed: false }
    }

    fn replayed(layer: LayerEvent) -> LayerEvent {
        LayerEvent { replayed: true, ..layer }
    }

    fn add(tracker: &mut Tracker, layer: LayerEvent) {
        let now = Duration::from_secs_f64(tracker.newest.seconds + layer.took);
        tracker.layer(&layer, now);
    }

    /// Layers as wide as they are deep, `rate` states a second, from the next one to `depth`.
    fn linear(tracker: &mut Tracker, depth: u32, rate: f64) {
        let next = tracker.last().map_or(0, |(last, _)| last + 1);
        for depth in next..=depth {
            let states = u64::from(depth) + 1;
            let total = tracker.states() + states;
            add(tracker, layer(depth, states, total, states as f64 / rate));
        }
    }

    /// The forecast of a search of `states` states.
    fn states(states: u64) -> Forecast {
        let size = SearchSize { states: Some(states), ..SearchSize::default() };
        Forecast::of(size, None, EngineKind::Explicit, None)
    }

    fn tracker() -> Tracker {
        Tracker::new(Forecast::default())
    }

    #[track_caller]
    fn assert_left(tracker: &Tracker, expected: f64) {
        let left = tracker.time_left(tracker.added).expect("an estimate");
        assert!(left.low < expected && expected < left.high, "{left:?}, not {expected}");
    }

    #[test]
    fn the_end_of_a_search_of_known_size_is_predicted() {
        // 1000 layers as wide as they are deep: 501,501 states.
        let mut tracker = Tracker::new(states(501_501));
        linear(&mut tracker, 250, 1000.0);
        assert!((tracker.rate() - 1000.0).abs() < 1.0);
        assert!((tracker.mean_rate() - 1000.0).abs() < 1.0);
        assert_left(&tracker, (501_501 - 31_626) as f64 / 1000.0);
        // Half a minute later.
        let left = tracker.time_left(tracker.added).unwrap();
        let later = tracker.time_left(tracker.added + Duration::from_secs(30)).unwrap();
        assert!((left.low - later.low - 30.0).abs() < 1e-6);
    }

    #[test]
    fn the_work_of_diagrams_follows_the_depth() {
        let nested = NestedSize { nodes: None, work_by_depth: Some(Curve(&[0.0, 0.25, 1.0])) };
        let size = SearchSize { layers: Some(100), nested: Some(nested), ..SearchSize::default() };
        let mut tracker = Tracker::new(Forecast::of(size, None, EngineKind::Symbolic, None));
        for depth in 0..=50 {
            add(&mut tracker, layer(depth, 1, u64::from(depth) + 1, 1.0));
        }
        assert!((tracker.share_of_work().unwrap() - 0.25).abs() < 1e-6);
        assert_left(&tracker, 153.0);
    }

    #[test]
    fn there_is_no_estimate_without_a_size_or_beyond_it() {
        for forecast in [Forecast::default(), states(20_000)] {
            let mut tracker = Tracker::new(forecast);
            linear(&mut tracker, 250, 1000.0);
            assert_eq!(tracker.share_of_work(), None);
            assert_eq!(tracker.time_left(Duration::ZERO), None);
        }
        assert_eq!(Tracker::new(states(100)).time_left(Duration::ZERO), None);
    }

    #[test]
    fn the_rate_covers_the_last_seconds_only() {
        let mut tracker = tracker();
        add(&mut tracker, layer(0, 1_000_000, 1_000_000, 1.0));
        assert!((tracker.rate() - 1e6).abs() < 1.0);
        for depth in 1..40 {
            add(&mut tracker, layer(depth, 100, 1_000_000 + 100 * u64::from(depth), 1.0));
        }
        assert!((tracker.rate() - 100.0).abs() < 1.0, "{}", tracker.rate());
        assert!((tracker.mean_rate() - 25_097.5).abs() < 1.0, "{}", tracker.mean_rate());
        assert!(tracker.samples.len() < 20);
    }

    #[test]
    fn layers_longer_than_the_window_have_a_rate() {
        let mut tracker = tracker();
        for depth in 0..5 {
            add(&mut tracker, layer(depth, 6000, 6000 * u64::from(depth + 1), 60.0));
            assert!((tracker.rate() - 100.0).abs() < 1.0);
        }
    }

    #[test]
    fn replayed_layers_count_but_were_not_searched_now() {
        let mut tracker = tracker();
        add(&mut tracker, replayed(layer(0, 1000, 1000, 1.0)));
        add(&mut tracker, replayed(layer(1, 1000, 2000, 1.0)));
        assert_eq!((tracker.rate(), tracker.mean_rate()), (0.0, 0.0));
        add(&mut tracker, layer(2, 500, 2500, 1.0));
        assert_eq!(tracker.states(), 2500);
        assert!((tracker.rate() - 500.0).abs() < 1.0);
    }

    #[test]
    fn a_resumed_search_is_estimated_from_the_earlier_run() {
        let mut tracker = Tracker::new(states(501_501));
        for depth in 0..=250 {
            let width = u64::from(depth) + 1;
            let total = tracker.states() + width;
            add(&mut tracker, replayed(layer(depth, width, total, width as f64 / 1000.0)));
        }
        assert_left(&tracker, 470.0);
        // Twice as many threads: at first that is not known.
        linear(&mut tracker, 251, 2000.0);
        assert_left(&tracker, 470.0);
        linear(&mut tracker, 400, 2000.0);
        assert_left(&tracker, (501_501 - 80_601) as f64 / 2000.0);
    }

    #[test]
    fn ratios_are_computed_from_the_sums_over_layers() {
        let mut tracker = tracker();
        assert_eq!(tracker.duplicate_ratio(), 0.0);
        assert_eq!(tracker.bytes_per_state(), 0.0);
        add(&mut tracker, layer(0, 1000, 1000, 0.001));
        assert!((tracker.duplicate_ratio() - 2.0 / 3.0).abs() < 1e-9);
        assert!((tracker.bytes_per_state() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn repeated_layers_count_once() {
        let (mut tracker, mut straight) = (Tracker::new(states(20_100)), tracker());
        linear(&mut tracker, 100, 1000.0);
        assert_left(&tracker, 15.0);
        tracker.roll_back(Some(11));
        assert_eq!((tracker.states(), tracker.last()), (78, Some((11, 12))));
        assert_left(&tracker, 20.0);
        linear(&mut straight, 12, 1000.0);
        linear(&mut tracker, 12, 1000.0);
        assert_eq!(tracker.states(), straight.states());
        assert_eq!(tracker.duplicate_ratio(), straight.duplicate_ratio());
        assert_eq!(tracker.bytes_per_state(), straight.bytes_per_state());
        tracker.roll_back(None);
        assert_eq!((tracker.states(), tracker.last()), (0, None));
        assert_left(&tracker, 20.1);
    }

    #[test]
    fn the_first_layer_of_a_run_may_be_at_any_depth() {
        let mut tracker = Tracker::new(states(501_501));
        add(&mut tracker, layer(100, 10, 5000, 0.5));
        assert_eq!(tracker.states(), 5000);
        assert_eq!(tracker.totals.len(), 101);
        assert!(tracker.share_of_work().is_some());
    }
}

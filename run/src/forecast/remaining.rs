//! Remaining time of a search, from the work done so far and the time that it took.

use super::range::Range;

/// Least time in seconds, and least share of the work left at the start of the run, after which the run's
/// own speed is used: for a run without an earlier speed, and for one with it.
const LEAST: [(f64, f64); 2] = [(0.5, 0.02), (3.0, 0.05)];

/// Share of the run, at its end, over which the speed is measured, but at least [`RECENT_SECONDS`].
const RECENT_SHARE: f64 = 0.3;

/// The least time over which the speed is measured, in seconds.
const RECENT_SECONDS: f64 = 3.0;

/// Weight of the earlier run's speed in the mean, as seconds of the new run.
const EARLIER_SECONDS: f64 = 5.0;

/// Share of the work left at the start of the run after which the range is narrowest.
const SETTLED_SHARE: f64 = 0.2;

/// Factor by which the estimate may be wrong once it has settled, and the addition to it at first.
const UNCERTAINTY: (f64, f64) = (1.15, 0.2);

/// Largest factor between the middle of the range and its ends.
const MOST_UNCERTAINTY: f64 = 1.5;

/// Maximum number of samples; when it is reached, every second one is dropped.
const MOST_SAMPLES: usize = 256;

/// The work that was done at some time.
#[derive(Copy, Clone, Debug)]
struct Sample {
    /// Seconds of search.
    seconds: f64,
    /// Share of the whole work.
    share: f64,
}

impl Sample {
    /// Share of the work per second since an earlier sample. None without progress.
    fn speed_since(&self, earlier: &Sample) -> Option<f64> {
        let (seconds, share) = (self.seconds - earlier.seconds, self.share - earlier.share);
        (seconds > 0.0 && share > 0.0).then(|| share / seconds)
    }
}

/// Estimate of the remaining time.
///
/// The speed is that of the last 30 % of the run, so that the estimate follows changes. The range also
/// covers the estimate by the mean speed of the run, within limits. After a resume or a rollback, the
/// earlier speed is used until the new run has one.
#[derive(Clone, Debug, Default)]
pub struct RemainingTime {
    /// Samples of the run, in order.
    samples: Vec<Sample>,
    /// Speed of the run before: share of the work per second.
    speed_before: Option<f64>,
    left: Option<Range>,
}

impl RemainingTime {
    /// Records that a share of the work is done after `seconds` seconds of search. `None` resets the
    /// estimate: the search has gone beyond its expected end.
    pub fn add(&mut self, seconds: f64, share: Option<f64>) {
        let Some(share) = share else {
            *self = RemainingTime::default();
            return;
        };
        let now = Sample { seconds, share };
        if self.samples.len() == MOST_SAMPLES {
            let mut index = 0;
            self.samples.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
        self.samples.push(now);
        self.left = self.estimate(&now);
    }

    /// Begins a new run that continues from a share of the work, after a resume or after a rollback that
    /// repeats some layers.
    pub fn restart(&mut self, seconds: f64, share: Option<f64>) {
        // The earlier speed is that of the work before `share`: later layers are repeated.
        self.samples.retain(|sample| share.is_none_or(|share| sample.share <= share));
        let speed = self.speeds().map(|(recent, _)| recent);
        *self = RemainingTime { speed_before: speed.or(self.speed_before), ..Self::default() };
        if share.is_some() {
            self.add(seconds, share);
        }
    }

    /// Remaining time in seconds, counted from the last sample. None without a basis.
    pub fn left(&self) -> Option<Range> {
        self.left
    }

    /// Speeds as shares of the work per second: the recent one and that of the whole run.
    fn speeds(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.samples.first()?, self.samples.last()?);
        let overall = last.speed_since(first)?;
        let span = (RECENT_SHARE * (last.seconds - first.seconds)).max(RECENT_SECONDS);
        let before = |sample: &&Sample| sample.seconds <= last.seconds - span;
        let from = self.samples.iter().rev().find(before).unwrap_or(first);
        let (recent, span) = (last.speed_since(from)?, last.seconds - from.seconds);
        // The first seconds of a new run are less reliable than the run before.
        let before = self.speed_before.map_or((0.0, 0.0), |speed| (speed, EARLIER_SECONDS));
        let recent = (recent * span + before.0 * before.1) / (span + before.1);
        Some((recent, overall))
    }

    fn estimate(&self, now: &Sample) -> Option<Range> {
        let left = 1.0 - now.share;
        let first = self.samples.first()?;
        let done = (now.share - first.share) / (1.0 - first.share).max(f64::MIN_POSITIVE);
        let (seconds, share) = LEAST[usize::from(self.speed_before.is_some())];
        if now.seconds - first.seconds < seconds || done < share {
            let speed = self.speed_before?;
            return Some(Range::around(left / speed, UNCERTAINTY.0 + UNCERTAINTY.1));
        }
        let (recent, overall) = self.speeds()?;
        let unsettled = 1.0 - (done / SETTLED_SHARE).min(1.0);
        let factor = UNCERTAINTY.0 + UNCERTAINTY.1 * unsettled;
        let middle = left / recent;
        let (low, high) = (left / recent.max(overall), left / recent.min(overall));
        Some(Range {
            low: (low / factor).max(middle / MOST_UNCERTAINTY),
            high: (high * factor).min(middle * MOST_UNCERTAINTY),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds samples until `end` seconds, `speed` of the work a second, from the last one on.
    fn run(time: &mut RemainingTime, end: f64, speed: f64) {
        let last = time.samples.last().copied();
        let from = last.unwrap_or(Sample { seconds: 0.0, share: 0.0 });
        let mut seconds = from.seconds;
        while seconds < end {
            seconds += 0.1;
            time.add(seconds, Some(from.share + (seconds - from.seconds) * speed));
        }
    }

    #[track_caller]
    fn assert_about(time: &RemainingTime, expected: f64) {
        let left = time.left().expect("an estimate");
        assert!(left.low < expected && expected < left.high, "{left:?}, not {expected}");
        assert!(left.low > expected / 2.0 && left.high < expected * 2.0, "{left:?}");
    }

    #[test]
    fn a_steady_search_ends_when_expected() {
        let mut time = RemainingTime::default();
        run(&mut time, 0.4, 0.01);
        assert_eq!(time.left(), None);
        for end in [10.0, 30.0, 60.0, 95.0] {
            run(&mut time, end, 0.01);
            assert_about(&time, 100.0 - end);
        }
        assert!(time.samples.len() <= MOST_SAMPLES);
    }

    #[test]
    fn the_estimate_follows_a_change_of_speed() {
        let mut time = RemainingTime::default();
        run(&mut time, 20.0, 0.01);
        // Other programs take half of the machine: 160 seconds are left.
        run(&mut time, 40.0, 0.005);
        assert_about(&time, 140.0);
    }

    #[test]
    fn a_resumed_search_uses_the_earlier_speed_at_first() {
        let mut time = RemainingTime::default();
        run(&mut time, 20.0, 0.01);
        time.restart(20.0, Some(0.2));
        assert_about(&time, 80.0);
        run(&mut time, 40.0, 0.02);
        assert_about(&time, 20.0);
    }

    #[test]
    fn repeated_layers_are_work_once_more() {
        let mut time = RemainingTime::default();
        run(&mut time, 50.0, 0.01);
        time.restart(50.0, Some(0.3));
        assert_about(&time, 70.0);
        run(&mut time, 60.0, 0.01);
        assert_about(&time, 60.0);
    }

    #[test]
    fn there_is_no_estimate_beyond_the_expected_end() {
        let mut time = RemainingTime::default();
        run(&mut time, 50.0, 0.01);
        time.add(51.0, None);
        assert_eq!(time.left(), None);
    }
}

//! Pace of progress lines: soon after the start, then at growing intervals.

use std::time::Duration;

/// Time of the first line.
const FIRST: Duration = Duration::from_secs(2);

/// Schedule of progress lines: the first after 2 s, then at intervals that double up to a longest one.
#[derive(Clone, Debug)]
pub struct Pace {
    longest: Duration,
    /// Time from the next line to the one after it.
    interval: Duration,
    next: Duration,
}

impl Pace {
    /// The default of the longest interval.
    pub const LONGEST: Duration = Duration::from_secs(30);

    /// A pace from time 0 on. `longest` is the longest interval. If it is shorter than 2 s, the first line
    /// comes after `longest`, too.
    pub fn new(longest: Duration) -> Pace {
        let first = FIRST.min(longest);
        Pace { longest, interval: (2 * first).min(longest), next: first }
    }

    /// Whether a line is due at `now`. If so, the next line is due after the next interval from now on.
    pub fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + self.interval;
            self.interval = (2 * self.interval).min(self.longest);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which lines are due if the pace is checked every `step` milliseconds.
    fn lines(longest: u64, step: usize, end: u64) -> Vec<f64> {
        let mut pace = Pace::new(Duration::from_millis(longest));
        let times = (0..end).step_by(step).map(Duration::from_millis);
        times.filter(|now| pace.is_due(*now)).map(|now| now.as_secs_f64()).collect()
    }

    #[test]
    fn the_first_line_comes_after_two_seconds_and_intervals_double_to_the_longest() {
        let expected = [2.0, 6.0, 14.0, 30.0, 60.0, 90.0, 120.0];
        assert_eq!(lines(30_000, 100, 125_000), expected);
    }

    #[test]
    fn a_shorter_longest_interval_is_also_that_of_the_first_line() {
        assert_eq!(lines(1000, 100, 4500), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(lines(5000, 100, 20_000), [2.0, 6.0, 11.0, 16.0]);
    }

    #[test]
    fn a_late_check_postpones_all_later_lines() {
        assert_eq!(lines(30_000, 5000, 60_000), [5.0, 10.0, 20.0, 40.0]);
    }

    #[test]
    fn with_an_interval_of_zero_a_line_is_always_due() {
        assert_eq!(lines(0, 1000, 3500), [0.0, 1.0, 2.0, 3.0]);
    }
}

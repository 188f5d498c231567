//! Ranges of estimated figures.

use std::fmt;

/// The range in which an estimated figure is expected.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl Range {
    /// The range of a figure that may be wrong by `factor`, at least 1, in both directions.
    pub fn around(figure: f64, factor: f64) -> Range {
        Range { low: figure / factor, high: figure * factor }
    }

    /// A single figure for the range: the geometric mean of its ends, or half of the upper end if the lower
    /// end is 0.
    pub fn middle(&self) -> f64 {
        if self.low > 0.0 { (self.low * self.high).sqrt() } else { self.high / 2.0 }
    }

    /// The range of what is left after `passed`: both ends are reduced by it, the lower end down to 0, the
    /// upper end down to a tenth.
    pub fn after(&self, passed: f64) -> Range {
        let low = (self.low - passed).max(0.0);
        Range { low, high: (self.high - passed).max(self.high / 10.0) }
    }
}

/// A range of seconds, without spaces: `40s-1m30s`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (time(self.low), time(self.high));
        if low == high { f.write_str(&low) } else { write!(f, "{low}-{high}") }
    }
}

/// Seconds in one or two units.
fn time(seconds: f64) -> String {
    // The conversion saturates: longer times count as 2^64 - 1 seconds.
    let whole = seconds.round().max(0.0) as u64;
    let (minutes, hours, days) = (whole / 60, whole / 3600, whole / 86_400);
    let pair = |first: u64, unit: &str, second: u64, other: &str| match second {
        0 => format!("{first}{unit}"),
        _ => format!("{first}{unit}{second}{other}"),
    };
    match whole {
        0..60 => format!("{whole}s"),
        60..3600 => pair(minutes, "m", whole % 60, "s"),
        3600..86_400 => pair(hours, "h", minutes % 60, "m"),
        _ => pair(days, "d", hours % 24, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_seconds_as_text() {
        let texts = [
            ((40.2, 90.0), "40s-1m30s"),
            ((59.6, 60.2), "1m"),
            ((3600.0, 9000.0), "1h-2h30m"),
            ((80_000.0, 190_800.0), "22h13m-2d5h"),
            ((0.0, 0.4), "0s"),
        ];
        for ((low, high), text) in texts {
            assert_eq!(Range { low, high }.to_string(), text);
        }
    }

    #[test]
    fn the_middle_is_within_a_factor_of_both_ends() {
        let range = Range::around(60.0, 1.5);
        assert!((range.low - 40.0).abs() < 1e-9 && (range.high - 90.0).abs() < 1e-9);
        assert!((range.middle() - 60.0).abs() < 1e-9);
    }

    #[test]
    fn time_that_passes_shortens_both_ends() {
        let range = Range { low: 40.0, high: 90.0 };
        assert_eq!(range.after(10.0), Range { low: 30.0, high: 80.0 });
        assert_eq!(range.after(50.0), Range { low: 0.0, high: 40.0 });
        assert_eq!(range.after(500.0), Range { low: 0.0, high: 9.0 });
        assert_eq!(range.after(50.0).middle(), 20.0);
    }
}

//! Units of axes: steps between ticks, and the text form of values.

/// Unit of the values of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Whole numbers in full, such as depths: `2,680`.
    Number,
    /// Counts with a decimal prefix: `1.4 M`.
    Count,
    /// Events per second, with a decimal prefix.
    PerSecond,
    /// Seconds, with the unit that fits: `20 ms`, `1 h 30 min`.
    Seconds,
    /// Bytes, with a binary prefix: `64 KiB`.
    Bytes,
    /// A ratio: `0.25`.
    Ratio,
}

const DECIMAL: [&str; 7] = ["", " k", " M", " G", " T", " P", " E"];
const BINARY: [&str; 7] = [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"];
/// Steps between ticks of time that are shorter than a day, in seconds.
const TIMES: [f64; 16] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0,
    21_600.0, 43_200.0,
];
const DAY: f64 = 86_400.0;

impl Unit {
    /// The smallest step between ticks that is at least `least` and reads well in this unit.
    pub(crate) fn step(self, least: f64) -> f64 {
        match self {
            Unit::Number => decimal_step(least).max(1.0),
            Unit::Count | Unit::PerSecond | Unit::Ratio => decimal_step(least),
            Unit::Seconds if least <= 1.0 => decimal_step(least),
            Unit::Seconds => {
                let found = TIMES.iter().find(|step| **step >= least);
                found.copied().unwrap_or_else(|| decimal_step(least / DAY).max(1.0) * DAY)
            }
            Unit::Bytes => least.log2().ceil().exp2().max(1.0),
        }
    }

    /// Ticks of a logarithmic axis with values from `low` to `high`, ascending: powers of two for
    /// bytes, else powers of ten; above 10 s these are powers of ten of minutes and hours.
    pub(crate) fn powers(self, low: f64, high: f64) -> Vec<f64> {
        match self {
            Unit::Bytes => powers_of(2.0, low, high),
            Unit::Seconds => {
                let long = [60.0, 600.0, 3_600.0, 36_000.0, 360_000.0, 3_600_000.0];
                let mut ticks = powers_of(10.0, low, high.min(10.0));
                ticks.extend(long.into_iter().filter(|time| (low..=high).contains(time)));
                ticks
            }
            _ => powers_of(10.0, low, high),
        }
    }

    /// A tick's label, with the decimals that `step`, the distance between ticks, needs.
    pub(crate) fn tick(self, value: f64, step: f64) -> String {
        match self {
            Unit::Number => grouped(value),
            Unit::Count | Unit::PerSecond => prefixed(value, 1_000.0, &DECIMAL, step),
            Unit::Bytes => prefixed(value, 1_024.0, &BINARY, step),
            Unit::Seconds => time(value, step),
            Unit::Ratio => format!("{value:.*}", decimals(step)),
        }
    }

    /// A single value. Whole numbers, and counts below ten million, have all digits; other values
    /// have three significant ones, and times of a minute or more have their two largest units.
    #[must_use]
    pub fn value(self, value: f64) -> String {
        // Below this all digits of counts fit.
        const FULL: f64 = 10_000_000.0;
        match self {
            Unit::Number | Unit::Count if value.abs() < FULL => grouped(value),
            _ => self.tick(value, significant(value)),
        }
    }
}

/// Weight of the third significant digit of a value; 1 for zero.
fn significant(value: f64) -> f64 {
    if value == 0.0 { 1.0 } else { 10_f64.powf(value.abs().log10().floor() - 2.0) }
}

/// The smallest of 1, 2 or 5 times a power of ten that is at least `least`.
fn decimal_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    // A step that is `least` up to rounding is enough.
    let factor = least / power * (1.0 - 1e-9);
    let factors = [1.0, 2.0, 5.0];
    power * factors.into_iter().find(|one| *one >= factor).unwrap_or(10.0)
}

/// Powers of a base in a range.
fn powers_of(base: f64, low: f64, high: f64) -> Vec<f64> {
    let exponent = |value: f64| value.ln() / base.ln();
    let first = (exponent(low) - 1e-9).ceil();
    let last = (exponent(high) + 1e-9).floor();
    let number = (last - first + 1.0).clamp(0.0, 2_000.0) as i32;
    (0..number).map(|at| base.powi(first as i32 + at)).collect()
}

/// Number of decimals needed to write multiples of a step.
fn decimals(step: f64) -> usize {
    let exponent = (step.abs() * (1.0 + 1e-9)).log10().floor();
    if exponent.is_finite() { (-exponent).clamp(0.0, 12.0) as usize } else { 0 }
}

/// A whole number with separators.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    // A value that rounds to zero has no sign.
    if value < 0.0 && digits != "0" {
        text.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A value with the largest prefix for which it is at least 1.
fn prefixed(value: f64, base: f64, prefixes: &[&str], step: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let (mut factor, mut at) = (1.0, 0);
    while (value / factor).abs() >= base * (1.0 - 1e-9) && at + 1 < prefixes.len() {
        factor *= base;
        at += 1;
    }
    let places = decimals(step / factor);
    trimmed(format!("{:.places$}", value / factor)) + prefixes[at]
}

/// A decimal number without trailing zeros.
fn trimmed(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A time with the units that fit.
fn time(value: f64, step: f64) -> String {
    let short = [(1e-6, "ns", 1e-9), (1e-3, "µs", 1e-6), (1.0, "ms", 1e-3), (60.0, "s", 1.0)];
    if value == 0.0 {
        return "0".to_owned();
    }
    for (limit, unit, factor) in short {
        if value.abs() < limit * (1.0 - 1e-9) {
            let places = decimals(step / factor).min(3);
            return format!("{} {unit}", trimmed(format!("{:.places$}", value / factor)));
        }
    }
    let parts = [("d", DAY), ("h", 3_600.0), ("min", 60.0), ("s", 1.0)];
    let mut left = value.round();
    let mut text = Vec::new();
    for (unit, seconds) in parts {
        let number = (left / seconds).floor();
        left -= number * seconds;
        if number > 0.0 {
            text.push(format!("{number} {unit}"));
        }
    }
    // The two largest units are enough.
    text.truncate(2);
    text.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_in_their_unit() {
        assert_eq!(Unit::Number.step(0.3), 1.0);
        assert_eq!(Unit::Count.step(3.1e6), 5e6);
        assert_eq!(Unit::Count.step(5.0), 5.0);
        assert_eq!(Unit::Seconds.step(0.013), 0.02);
        assert_eq!(Unit::Seconds.step(70.0), 120.0);
        assert_eq!(Unit::Seconds.step(50_000.0), DAY);
        assert_eq!(Unit::Seconds.step(3.0 * DAY), 5.0 * DAY);
        assert_eq!(Unit::Bytes.step(700.0), 1_024.0);
        assert!((Unit::Ratio.step(0.21) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn ticks_have_as_many_decimals_as_their_step() {
        assert_eq!(Unit::Count.tick(1_500_000.0, 500_000.0), "1.5 M");
        assert_eq!(Unit::Count.tick(2_000_000.0, 500_000.0), "2 M");
        assert_eq!(Unit::Count.tick(500.0, 500.0), "500");
        assert_eq!(Unit::Ratio.tick(0.3, 0.1), "0.3");
        assert_eq!(Unit::Bytes.tick(65_536.0, 16_384.0), "64 KiB");
        assert_eq!(Unit::Number.tick(12_000.0, 2_000.0), "12,000");
        assert_eq!(Unit::Count.tick(1e18, 1e18), "1 E");
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        assert_eq!(Unit::Seconds.tick(0.0, 1.0), "0");
        assert_eq!(Unit::Seconds.tick(0.02, 0.02), "20 ms");
        assert_eq!(Unit::Seconds.tick(2e-6, 1e-6), "2 µs");
        assert_eq!(Unit::Seconds.tick(1.5, 0.5), "1.5 s");
        assert_eq!(Unit::Seconds.tick(5_400.0, 1_800.0), "1 h 30 min");
        assert_eq!(Unit::Seconds.tick(2.0 * DAY, DAY), "2 d");
    }

    #[test]
    fn single_values_have_three_digits_or_all() {
        assert_eq!(Unit::Count.value(1_361_077.0), "1,361,077");
        assert_eq!(Unit::Count.value(83_214_567.0), "83.2 M");
        assert_eq!(Unit::Bytes.value(1_258_291.0), "1.2 MiB");
        assert_eq!(Unit::Ratio.value(0.24567), "0.246");
        assert_eq!(Unit::Number.value(0.0), "0");
    }

    #[test]
    fn powers_cover_the_range() {
        assert_eq!(Unit::Count.powers(1.0, 1_000.0), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(Unit::Bytes.powers(3.0, 9.0), [4.0, 8.0]);
        assert_eq!(Unit::Seconds.powers(0.5, 700.0), [1.0, 10.0, 60.0, 600.0]);
    }
}

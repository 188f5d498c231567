//! Readable forms of counts, bytes, rates and times.

use std::time::Duration;

/// A count in full: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A short count: in full below ten million, then `1.43e9`.
pub(crate) fn short_count(value: u64) -> String {
    if value < 10_000_000 { count(value) } else { format!("{:.2e}", value as f64) }
}

/// Bytes with a binary unit: `512 bytes`, `1.2 MiB`, `61 MiB`.
pub fn bytes(value: u64) -> String {
    if value == 1 {
        return String::from("1 byte");
    }
    scaled(value as f64, 1024.0, &[" bytes", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"])
}

/// A rate per second without its noun: `850`, `19.4 M`.
pub(crate) fn rate(per_second: f64) -> String {
    if per_second.is_finite() && per_second > 0.0 {
        let units = ["", " k", " M", " G", " T"];
        let mut value = per_second;
        let mut unit = 0;
        while value >= 999.5 && unit + 1 < units.len() {
            value /= 1000.0;
            unit += 1;
        }
        let decimals = usize::from(unit > 0 && value < 99.95);
        format!("{value:.decimals$}{}", units[unit])
    } else {
        String::from("0")
    }
}

/// A time span: `0.21 s`, `42 s`, `3m 12s`, `2days 4h`.
pub fn seconds(value: f64) -> String {
    if value < 9.995 {
        return format!("{:.2} s", value.max(0.0));
    }
    if value < 59.95 {
        return format!("{value:.1} s");
    }
    let whole = value.round();
    // From an hour on, seconds are left out.
    let step = if whole >= 3600.0 { 60 } else { 1 };
    let rounded = whole as u64 / step * step;
    humantime::format_duration(Duration::from_secs(rounded)).to_string()
}

/// A time in its largest unit: `42s`, `3m`, `5h`, `2d`.
pub(crate) fn short_time(seconds: f64) -> String {
    match seconds.max(0.0).round() as u64 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// `value` in the largest of `units` that leaves at least one, one decimal below ten.
fn scaled(mut value: f64, base: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value.round() >= base && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && value < 9.95);
    format!("{value:.decimals$}{}", units[unit])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_have_separators() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(short_count(4_078_382), "4,078,382");
        assert_eq!(short_count(1_425_792_621), "1.43e9");
    }

    #[test]
    fn bytes_have_binary_units() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(1023), "1023 bytes");
        assert_eq!(bytes(1024), "1.0 KiB");
        assert_eq!(bytes((1 << 20) - 1), "1.0 MiB");
        assert_eq!(bytes(1_258_291), "1.2 MiB");
        assert_eq!(bytes(61 << 20), "61 MiB");
        assert_eq!(bytes(u64::MAX), "16 EiB");
    }

    #[test]
    fn rates_have_decimal_units() {
        assert_eq!(rate(0.0), "0");
        assert_eq!(rate(f64::NAN), "0");
        assert_eq!(rate(f64::INFINITY), "0");
        assert_eq!(rate(850.2), "850");
        assert_eq!(rate(999.6), "1.0 k");
        assert_eq!(rate(19_420_000.0), "19.4 M");
        assert_eq!(rate(999_960_000.0), "1.0 G");
        assert_eq!(rate(423_000_000.0), "423 M");
    }

    #[test]
    fn durations_are_rounded() {
        assert_eq!(seconds(0.2094), "0.21 s");
        assert_eq!(seconds(9.999), "10.0 s");
        assert_eq!(seconds(42.04), "42.0 s");
        assert_eq!(seconds(59.96), "1m");
        assert_eq!(seconds(192.3), "3m 12s");
        assert_eq!(seconds(7_384.0), "2h 3m");
        assert_eq!(seconds(187_200.0), "2days 4h");
    }

    #[test]
    fn short_times_have_one_unit() {
        let times = [0.0, 59.4, 59.6, 7199.0, 86_399.0, 200_000.0, -1.0].map(short_time);
        assert_eq!(times, ["0s", "59s", "1m", "1h", "23h", "2d", "0s"]);
    }

    proptest! {
        #[test]
        fn counts_keep_all_digits(value: u64) {
            prop_assert_eq!(count(value).replace(',', "").parse(), Ok(value));
        }

        #[test]
        fn readable_forms_are_short(value: u64) {
            prop_assert!(bytes(value).len() <= 10);
            prop_assert!(rate(value as f64).len() <= 14);
            prop_assert!(short_count(value).len() <= 9);
        }
    }
}

//! Sizes as people type them, and counts, bytes, rates and times as people read them.

use std::time::Duration;

/// Suffixes of sizes and their worth. A bare letter is binary, as in Docker and the JVM.
const UNITS: [(&str, u64); 14] = [
    ("b", 1),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("", 1),
];

/// Why a size was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SizeError {
    /// No digits where digits were expected.
    #[error("not a size: give a number and a unit, for example 64MiB, 1.5GiB or 500MB")]
    NotANumber,
    /// A size below zero.
    #[error("a size cannot be negative")]
    Negative,
    /// A suffix that is none of ours.
    #[error("unknown unit '{0}': use KiB, MiB, GiB, TiB (K, M, G, T), KB, MB, GB, TB or B")]
    Unit(String),
    /// Part of a byte.
    #[error("not a whole number of bytes")]
    Fraction,
    /// More than 64 bits hold.
    #[error("too large: the limit is 16 EiB - 1 byte")]
    TooLarge,
}

/// Parses a size in bytes.
///
/// `KiB MiB GiB TiB` are powers of 1024, and so are the bare letters `K M G T`; `KB MB GB TB`
/// are powers of 1000; without a unit the number counts bytes. Case does not matter. Decimals
/// are allowed (`1.5GiB`); what is left of a byte is dropped.
pub(crate) fn parse_size(text: &str) -> Result<u64, SizeError> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(SizeError::Negative);
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || decimals.is_empty() || decimals.contains('.') {
        return Err(SizeError::NotANumber);
    }
    let unit = unit.trim();
    let worth = UNITS
        .iter()
        .find(|(suffix, _)| suffix.eq_ignore_ascii_case(unit))
        .map(|&(_, worth)| u128::from(worth))
        .ok_or_else(|| SizeError::Unit(unit.to_owned()))?;
    if worth == 1 && number.contains('.') {
        return Err(SizeError::Fraction);
    }
    // Twelve decimals of a tebibyte are less than a byte: the rest cannot matter.
    let decimals = &decimals[..decimals.len().min(12)];
    let scale = 10_u128.pow(decimals.len() as u32);
    let fraction = decimals.parse::<u128>().unwrap_or(0) * worth / scale;
    // Only digits are left, so that the one possible error is a number too long.
    let whole: u64 = whole.parse().map_err(|_| SizeError::TooLarge)?;
    u64::try_from(u128::from(whole) * worth + fraction).map_err(|_| SizeError::TooLarge)
}

/// A count in full: `1,234,567`.
pub(crate) fn count(value: u64) -> String {
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

/// A count where room is short: in full below ten million, then `1.43e9`.
pub(crate) fn short_count(value: u64) -> String {
    if value < 10_000_000 { count(value) } else { format!("{:.2e}", value as f64) }
}

/// Bytes with a binary unit: `512 bytes`, `1.2 MiB`, `61 MiB`.
pub(crate) fn bytes(value: u64) -> String {
    if value == 1 {
        return String::from("1 byte");
    }
    scaled(value as f64, 1024.0, &[" bytes", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"])
}

/// A number of things a second without its noun: `850`, `19.4 M`.
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
pub(crate) fn seconds(value: f64) -> String {
    if value < 9.995 {
        return format!("{:.2} s", value.max(0.0));
    }
    if value < 59.95 {
        return format!("{value:.1} s");
    }
    let whole = value.round();
    // Beyond a day nobody reads the seconds, beyond an hour they are noise too.
    let step = if whole >= 3600.0 { 60 } else { 1 };
    let rounded = whole as u64 / step * step;
    humantime::format_duration(Duration::from_secs(rounded)).to_string()
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
    fn sizes_people_type() {
        let known = [
            ("0", 0),
            ("4096", 4096),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            ("256M", 256 << 20),
            ("1g", 1 << 30),
            ("1.5GiB", 3 << 29),
            ("2TB", 2_000_000_000_000),
            ("10kb", 10_000),
            ("7B", 7),
            (" 1KiB ", 1024),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in known {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn sizes_refused() {
        let unit = |text: &str| SizeError::Unit(text.to_owned());
        let known = [
            ("", SizeError::NotANumber),
            ("MiB", SizeError::NotANumber),
            (".5MiB", SizeError::NotANumber),
            ("5.MiB", SizeError::NotANumber),
            ("1.2.3MiB", SizeError::NotANumber),
            ("lots", SizeError::NotANumber),
            ("-1", SizeError::Negative),
            ("-64MiB", SizeError::Negative),
            ("64XB", unit("XB")),
            ("64 M i B", unit("M i B")),
            ("1e6", unit("e6")),
            ("12µB", unit("µB")),
            ("1.5", SizeError::Fraction),
            ("18446744073709551616", SizeError::TooLarge),
            ("16777216TiB", SizeError::TooLarge),
            ("99999999999999999999999999999999999999999TiB", SizeError::TooLarge),
        ];
        for (text, error) in known {
            assert_eq!(parse_size(text), Err(error), "{text}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(short_count(4_078_382), "4,078,382");
        assert_eq!(short_count(1_425_792_621), "1.43e9");
    }

    #[test]
    fn byte_counts() {
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
    fn rates() {
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
    fn time_spans() {
        assert_eq!(seconds(0.2094), "0.21 s");
        assert_eq!(seconds(9.999), "10.0 s");
        assert_eq!(seconds(42.04), "42.0 s");
        assert_eq!(seconds(59.96), "1m");
        assert_eq!(seconds(192.3), "3m 12s");
        assert_eq!(seconds(7_384.0), "2h 3m");
        assert_eq!(seconds(187_200.0), "2days 4h");
    }

    proptest! {
        #[test]
        fn plain_bytes_come_back(value: u64) {
            prop_assert_eq!(parse_size(&value.to_string()), Ok(value));
        }

        #[test]
        fn units_multiply_or_refuse(value: u64, unit in 0..UNITS.len()) {
            let (suffix, worth) = UNITS[unit];
            let expected = value.checked_mul(worth).ok_or(SizeError::TooLarge);
            prop_assert_eq!(parse_size(&format!("{value}{suffix}")), expected);
        }

        #[test]
        fn no_text_panics(text: String) {
            let _ = parse_size(&text);
        }

        #[test]
        fn counts_lose_no_digit(value: u64) {
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

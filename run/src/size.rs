//! Sizes in bytes, such as `64MiB`.

use strata_space::shortened;

/// Suffixes of sizes and their factors. A bare letter is binary, as in Docker and the JVM.
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

/// Maximum number of characters of an unknown unit that an error quotes.
const UNIT_CHARS: usize = 20;

/// Why a size was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// No digits where digits were expected.
    #[error("not a size: give a number and a unit, for example 64MiB, 1.5GiB or 500MB")]
    NotANumber,
    /// A size below zero.
    #[error("a size cannot be negative")]
    Negative,
    /// An unknown suffix.
    #[error("unknown unit '{0}': use KiB, MiB, GiB, TiB (K, M, G, T), KB, MB, GB, TB or B")]
    Unit(String),
    /// Part of a byte.
    #[error("not a whole number of bytes")]
    Fraction,
    /// More than fits 64 bits.
    #[error("too large: the limit is 16 EiB - 1 byte")]
    TooLarge,
}

/// Parses a size in bytes.
///
/// `KiB MiB GiB TiB` are powers of 1024, and so are the bare letters `K M G T`; `KB MB GB TB`
/// are powers of 1000; without a unit the number counts bytes. Case does not matter. Decimals
/// are allowed (`1.5GiB`); the result is rounded down to whole bytes.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
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
        .ok_or_else(|| SizeError::Unit(shortened(unit, UNIT_CHARS).into_owned()))?;
    if worth == 1 && number.contains('.') {
        return Err(SizeError::Fraction);
    }
    // The twelfth decimal of a tebibyte is about one byte, so further decimals are ignored.
    let decimals = &decimals[..decimals.len().min(12)];
    let scale = 10_u128.pow(decimals.len() as u32);
    let fraction = decimals.parse::<u128>().unwrap_or(0) * worth / scale;
    // Only digits are left, so the only possible error is an overflow.
    let whole: u64 = whole.parse().map_err(|_| SizeError::TooLarge)?;
    u64::try_from(u128::from(whole) * worth + fraction).map_err(|_| SizeError::TooLarge)
}

/// A size in bytes for a message: `2 bytes`, `63 KiB` or `16 MiB`, rounded down.
///
/// For fewer than 1,024 bytes, the text suggests a unit that may be missing.
pub fn given_size(bytes: u64) -> String {
    match bytes {
        0 => "0 bytes".to_owned(),
        1 => "1 byte (did you mean 1GiB?)".to_owned(),
        2..1024 => format!("{bytes} bytes (did you mean {bytes}GiB?)"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_parsed_in_any_unit() {
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
    fn sizes_below_1_kib_are_written_in_bytes() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte (did you mean 1GiB?)"),
            (2, "2 bytes (did you mean 2GiB?)"),
            (1023, "1023 bytes (did you mean 1023GiB?)"),
            (1024, "1 KiB"),
            ((1 << 20) - 1, "1023 KiB"),
            (9 << 20, "9 MiB"),
        ] {
            assert_eq!(given_size(bytes), text);
        }
    }

    #[test]
    fn malformed_and_excessive_sizes_are_refused() {
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

    proptest! {
        #[test]
        fn numbers_without_a_unit_are_bytes(value: u64) {
            prop_assert_eq!(parse_size(&value.to_string()), Ok(value));
        }

        #[test]
        fn a_unit_multiplies_or_the_size_is_too_large(value: u64, unit in 0..UNITS.len()) {
            let (suffix, worth) = UNITS[unit];
            let expected = value.checked_mul(worth).ok_or(SizeError::TooLarge);
            prop_assert_eq!(parse_size(&format!("{value}{suffix}")), expected);
        }

        #[test]
        fn no_text_panics(text: String) {
            let _ = parse_size(&text);
        }
    }
}

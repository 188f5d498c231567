//! Checksums and digests as fixed-width hexadecimal text.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A 64-bit checksum, written as 16 hexadecimal digits.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Default)]
pub struct Hex64(pub u64);

/// A 128-bit digest as two words, written as 32 hexadecimal digits, first word first.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Default)]
pub struct Hex128(pub [u64; 2]);

/// Parses digits in the written form only: the exact number, no sign, lower case.
fn parse_hex(text: &str, digits: usize) -> Option<u128> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (plain && text.len() == digits).then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

impl fmt::Display for Hex64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Hex64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hex64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let value = parse_hex(&text, 16).ok_or_else(|| D::Error::custom("no 16 hex digits"))?;
        Ok(Self(value as u64))
    }
}

impl fmt::Display for Hex128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.0[0], self.0[1])
    }
}

impl fmt::Debug for Hex128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hex128 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex128 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let value = parse_hex(&text, 32).ok_or_else(|| D::Error::custom("no 32 hex digits"))?;
        Ok(Self([(value >> 64) as u64, value as u64]))
    }
}

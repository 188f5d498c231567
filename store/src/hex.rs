//! Checksums as fixed-width hexadecimal text.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A 64-bit checksum, written as 16 hexadecimal digits.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Default)]
pub struct Hex64(pub u64);

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
        // In the written form only: no sign, lower case.
        let is_plain = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let value = Some(&text).filter(|text| is_plain && text.len() == 16);
        let value = value.and_then(|text| u64::from_str_radix(text, 16).ok());
        value.map(Hex64).ok_or_else(|| D::Error::custom("a checksum is not 16 hex digits"))
    }
}

//! JSON values with their places in a text, for errors that name a line and column.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::{Place, ReadError, shortened};

/// A JSON value, unparsed, with its place in the text.
#[derive(Copy, Clone, Debug)]
pub(super) struct Located<'a> {
    raw: &'a RawValue,
    text: &'a str,
}

/// The members of an object, in the order of the text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Members<'a>, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        from.deserialize_map(Entries)
    }
}

impl<'a> Located<'a> {
    /// Parses a text as one JSON value.
    ///
    /// # Errors
    /// If the text is not valid JSON.
    pub(super) fn parse(text: &'a str) -> Result<Located<'a>, ReadError> {
        let raw = serde_json::from_str(text).map_err(|error| {
            let place = Place { line: error.line().max(1), column: error.column().max(1) };
            place.error(without_place(&error))
        })?;
        Ok(Located { raw, text })
    }

    /// The place where the value begins.
    pub(super) fn place(&self) -> Place {
        let offset = (self.raw.get().as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        Place::at(self.text, offset)
    }

    fn read<T: Deserialize<'a>>(&self, expected: &str) -> Result<T, ReadError> {
        let value = serde_json::from_str(self.raw.get());
        value.map_err(|_| self.place().expected(expected, self.raw.get()))
    }

    fn at(&self, raw: &'a RawValue) -> Located<'a> {
        Located { raw, text: self.text }
    }

    /// The members of the object, in the order of the text.
    ///
    /// # Errors
    /// If the value is not an object, or a name appears twice.
    pub(super) fn members(&self) -> Result<Vec<(String, Located<'a>)>, ReadError> {
        let Members(members) = self.read("an object")?;
        let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(self.place().error(format!("'{}' appears twice", shortened(twice[0]))));
        }
        Ok(members.into_iter().map(|(name, raw)| (name, self.at(raw))).collect())
    }

    /// The elements of the list.
    ///
    /// # Errors
    /// If the value is not a list.
    pub(super) fn list(&self) -> Result<Vec<Located<'a>>, ReadError> {
        let list: Vec<&'a RawValue> = self.read("a list")?;
        Ok(list.into_iter().map(|raw| self.at(raw)).collect())
    }

    /// The value of the string.
    ///
    /// # Errors
    /// If the value is not a string.
    pub(super) fn string(&self) -> Result<String, ReadError> {
        self.read("a text")
    }

    /// The whole number, from `low` to `high`.
    ///
    /// # Errors
    /// If the value is not a whole number in this range.
    pub(super) fn number(&self, low: u16, high: u16) -> Result<u16, ReadError> {
        let expected = format!("a number from {low} to {high}");
        let number: u16 = self.read(&expected)?;
        if (low..=high).contains(&number) {
            return Ok(number);
        }
        Err(self.place().expected(&expected, self.raw.get()))
    }

    /// The list of `len` whole numbers from `low` to `high`.
    ///
    /// # Errors
    /// If the value is not a list of this length, or an element is not such a number.
    pub(super) fn numbers(&self, len: usize, low: u16, high: u16) -> Result<Vec<u16>, ReadError> {
        let list = self.list()?;
        if list.len() != len {
            let found = list.len();
            return Err(self.place().error(format!("expected {len} numbers, found {found}")));
        }
        list.iter().map(|value| value.number(low, high)).collect()
    }
}

/// The message of a JSON error without its line and column.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

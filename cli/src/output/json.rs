//! JSON lines: the one form of every event and record on standard output.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

/// Version of the JSON form. Fields may be added within a version, never changed.
const VERSION: u32 = 1;

/// Writes one line: an object with the version, the event's name and the fields.
///
/// # Errors
/// Those of the writer.
pub fn write_line(event: &str, fields: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a, T> {
        v: u32,
        event: &'a str,
        #[serde(flatten)]
        fields: &'a T,
    }
    serde_json::to_writer(&mut *out, &Line { v: VERSION, event, fields })?;
    out.write_all(b"\n")
}

/// The parameters of a specification as JSON has them: numbers and truth values have their types.
pub(crate) fn parameters(parameters: &BTreeMap<String, String>) -> Map<String, Value> {
    parameters.iter().map(|(name, text)| (name.clone(), value(text))).collect()
}

fn value(text: &str) -> Value {
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => text.parse::<u64>().map_or_else(|_| text.into(), Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_typed() {
        let pairs = [("k", "3"), ("exhaust", "false"), ("symmetry", "on")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let json = Value::Object(parameters(&pairs.into()));
        assert_eq!(json.to_string(), r#"{"exhaust":false,"k":3,"symmetry":"on"}"#);
    }
}

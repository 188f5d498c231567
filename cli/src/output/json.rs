//! JSON lines: the one form of every event and record on standard output.

use std::io::{self, Write};

use serde::Serialize;

/// Version of the JSON form. Fields may be added within a version, never changed.
const VERSION: u32 = 1;

/// Writes one line: an object with the version, the event's name and the fields.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_line(
    event: &str,
    fields: &impl Serialize,
    out: &mut impl Write,
) -> io::Result<()> {
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

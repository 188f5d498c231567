//! Expected cost of a search as text, as JSON and as a log line.

use std::io::{self, Write};

use serde::Serialize;
use strata_run::forecast::Expected;
use strata_store::EngineKind;

use crate::output::console::Console;
use crate::output::exit::Failure;
use crate::output::json::write_line;
use crate::output::{stdout, units};

/// A figure that is not known.
const UNKNOWN: &str = "unknown";

/// A search whose expected cost is shown.
pub(crate) struct Search<'a> {
    /// Space and size in one word.
    pub(crate) label: &'a str,
    /// Its engine.
    pub(crate) engine: EngineKind,
    /// Reason for the engine, in a few words; may be empty.
    pub(crate) reason: &'a str,
}

/// Prints what a search is expected to cost: text, or a line of JSON.
///
/// # Errors
/// If standard output failed.
pub(crate) fn print(
    search: &Search<'_>,
    expected: &Expected,
    console: &Console,
) -> Result<(), Failure> {
    stdout::print(|out| {
        if console.json { json(search, expected, out) } else { text(search, expected, out) }
    })
}

/// Logs the expected cost of a search, if the search is large.
pub(crate) fn announce(expected: &Expected) {
    if expected.is_large() {
        tracing::info!("expected: {}", line(expected));
    }
}

/// Time, memory and disk in one line. What is not known is left out.
fn line(expected: &Expected) -> String {
    let parts = [
        expected.seconds.map(|seconds| seconds.to_string()),
        expected.memory_bytes.map(|bytes| format!("{} of memory", units::bytes(bytes))),
        expected.disk_bytes.map(|bytes| format!("{} on disk", units::bytes(bytes))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn text(search: &Search<'_>, expected: &Expected, out: &mut impl Write) -> io::Result<()> {
    let reason = match search.reason {
        "" => String::new(),
        reason => format!(" ({reason})"),
    };
    writeln!(out, "{}: {} engine{reason}", search.label, search.engine.name())?;
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let most = if expected.is_upper_bound { "at most " } else { "" };
    let states =
        expected.states.map(|states| format!("{most}{}", units::short_count(states as u64)));
    let time = expected.seconds.map(|seconds| match expected.is_upper_bound {
        true => format!("at most {}", strata_run::forecast::Range { low: seconds.high, ..seconds }),
        false => seconds.to_string(),
    });
    let lines = [
        ("depth", expected.layers.map(|layers| units::count(layers.into()))),
        ("states", states),
        ("time", time),
        ("memory", expected.memory_bytes.map(units::bytes)),
        ("disk", expected.disk_bytes.map(units::bytes)),
    ];
    for (name, value) in lines {
        writeln!(out, "  {name:<8} {}", or_unknown(value))?;
    }
    Ok(())
}

fn json(search: &Search<'_>, expected: &Expected, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Fields<'a> {
        search: &'a str,
        engine: &'a str,
        engine_reason: Option<&'a str>,
        expected_layers: Option<u32>,
        expected_states: Option<f64>,
        is_upper_bound: bool,
        seconds_low: Option<f64>,
        seconds_high: Option<f64>,
        memory_bytes: Option<u64>,
        disk_bytes: Option<u64>,
    }
    let fields = Fields {
        search: search.label,
        engine: search.engine.name(),
        engine_reason: Some(search.reason).filter(|reason| !reason.is_empty()),
        expected_layers: expected.layers,
        expected_states: expected.states,
        is_upper_bound: expected.is_upper_bound,
        seconds_low: expected.seconds.map(|seconds| seconds.low),
        seconds_high: expected.seconds.map(|seconds| seconds.high),
        memory_bytes: expected.memory_bytes,
        disk_bytes: expected.disk_bytes,
    };
    write_line("forecast", &fields, out)
}

#[cfg(test)]
mod tests {
    use strata_run::forecast::Range;

    use super::*;

    const SEARCH: Search<'_> =
        Search { label: "panex-10", engine: EngineKind::Symbolic, reason: "the space is nested" };

    fn expected() -> Expected {
        Expected {
            layers: Some(15_769),
            states: Some(502_762_246_806.0),
            is_upper_bound: false,
            seconds: Some(Range { low: 60.0, high: 150.0 }),
            memory_bytes: Some(3 << 29),
            disk_bytes: None,
        }
    }

    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn unknown_figures_are_named() {
        assert_eq!(
            written(|out| text(&SEARCH, &expected(), out)),
            "panex-10: symbolic engine (the space is nested)\n  depth    15,769\n  \
             states   5.03e11\n  time     1m-2m30s\n  memory   1.5 GiB\n  disk     unknown\n"
        );
        assert_eq!(
            written(|out| json(&SEARCH, &expected(), out)),
            "{\"v\":1,\"event\":\"forecast\",\"search\":\"panex-10\",\"engine\":\"symbolic\",\
             \"engine_reason\":\"the space is nested\",\"expected_layers\":15769,\
             \"expected_states\":502762246806.0,\"is_upper_bound\":false,\"seconds_low\":60.0,\
             \"seconds_high\":150.0,\"memory_bytes\":1610612736,\"disk_bytes\":null}\n"
        );
        let nothing = Expected::default();
        let unknown = written(|out| text(&SEARCH, &nothing, out)).matches("unknown").count();
        assert_eq!(unknown, 5);
    }

    #[test]
    fn an_upper_bound_is_printed_as_at_most() {
        let bound = Expected { is_upper_bound: true, ..expected() };
        let text = written(|out| text(&SEARCH, &bound, out));
        assert!(text.contains("states   at most 5.03e11\n  time     at most 2m30s\n"), "{text}");
    }

    #[test]
    fn a_large_search_is_announced_in_one_line() {
        let disk_bytes = Some(2 << 30);
        let expected = Expected { disk_bytes, ..expected() };
        assert_eq!(line(&expected), "1m-2m30s, 1.5 GiB of memory, 2.0 GiB on disk");
        let by_disk = Expected { seconds: None, ..expected };
        assert!(by_disk.is_large() && !Expected::default().is_large());
    }
}

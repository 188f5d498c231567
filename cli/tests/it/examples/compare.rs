//! Comparison of an output with the one that a page shows.
//!
//! A line `…` matches any lines, and `…` within a line matches any text. Times, sizes in bytes,
//! rates, percentages, dates and the random part of job ids may differ, and so may the number of
//! spaces in the table of a result. The output of an interrupted command may differ in every
//! number.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// What may differ in a text.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"\b\d[\d,]*(\.\d+)?";
    let unit = "(ns|us|µs|ms|s|m|min|h|d|B|bytes|[KMGT]iB|[kMGT]B)";
    let pattern = [
        r"\b\d{4}-\d\d-\d\d[T ][\d:.]+Z?".to_owned(),
        format!(r"{number} ?([kMGTP] )?(\w+/s\b|/s\b|bytes per state|%)"),
        format!(r"{number} ?{unit}\b( {number} ?{unit}\b)*"),
    ];
    Regex::new(&pattern.join("|")).unwrap()
});

/// The random part of a job id.
static ID: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\w)-[a-z2-7]{6}\b").unwrap());

static INFORMATION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\d{4}-\d\d-\d\dT\S+Z +INFO ").unwrap());

static SPACES: LazyLock<Regex> = LazyLock::new(|| Regex::new("  +").unwrap());

static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d[\d.,]*").unwrap());

/// The fields of events that may differ.
fn is_variable(field: &str) -> bool {
    let ends = ["seconds", "bytes", "bytes_per_state", "rate", "_ms", "time", "created", "ended"];
    ends.iter().any(|end| field.ends_with(end))
}

/// A line without what may differ.
fn plain(line: &str, interrupted: bool) -> String {
    let line = VARIABLE.replace_all(line, "#");
    let line = ID.replace_all(&line, "$1-#");
    let is_row = line.strip_prefix("  ").is_some_and(|row| row.starts_with(char::is_alphabetic));
    let line = if is_row { SPACES.replace_all(&line, " ") } else { line };
    let line = if interrupted { NUMBER.replace_all(&line, "#") } else { line };
    line.trim_end().to_owned()
}

/// Whether a line is as shown, where `…` stands for anything.
fn is_like(line: &str, shown: &str) -> bool {
    let Some((before, after)) = shown.split_once('…') else { return line == shown };
    line.strip_prefix(before).is_some_and(|rest| {
        let ends = (0..=rest.len()).filter(|at| rest.is_char_boundary(*at));
        ends.map(|at| &rest[at..]).any(|rest| is_like(rest, after))
    })
}

/// Whether an event has the same fields as the one shown, and the same values of those that do not
/// vary.
fn is_event_like(actual: &Value, shown: &Value) -> bool {
    match (actual, shown) {
        (Value::Object(actual), Value::Object(shown)) => {
            actual.len() == shown.len()
                && shown.iter().all(|(field, shown)| {
                    let actual = actual.get(field);
                    actual.is_some_and(|actual| is_variable(field) || is_event_like(actual, shown))
                })
        }
        (Value::String(actual), Value::String(shown)) => {
            is_like(&plain(actual, false), &plain(shown, false))
        }
        (actual, shown) => actual == shown,
    }
}

/// Whether a line is as shown, apart from what may differ.
fn is_line_like(line: &str, shown: &str, interrupted: bool) -> bool {
    if is_like(line, shown) || is_like(&plain(line, interrupted), &plain(shown, interrupted)) {
        return true;
    }
    let event = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    match (event(line), event(shown)) {
        (Some(actual), Some(shown)) => is_event_like(&actual, &shown),
        _ => false,
    }
}

/// Whether a line is one of a log, of level `INFO`.
pub(crate) fn is_information(line: &str) -> bool {
    INFORMATION.is_match(line)
}

/// Whether an output is as shown. `interrupted`: whether the command was interrupted.
pub(crate) fn is_shown(output: &[&str], shown: &[&str], interrupted: bool) -> bool {
    match (output, shown) {
        (_, ["…", shown @ ..]) => {
            (0..=output.len()).any(|from| is_shown(&output[from..], shown, interrupted))
        }
        ([line, output @ ..], [like, shown @ ..]) => {
            is_line_like(line, like, interrupted) && is_shown(output, shown, interrupted)
        }
        (output, shown) => output.is_empty() && shown.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ellipsis_matches_anything_and_other_text_itself() {
        assert!(is_like("a b c", "a b c") && is_like("a b c", "a … c") && is_like("a b c", "a …"));
        assert!(!is_like("a b c", "a b") && !is_like("a b c", "a … d"));
        assert!(!is_like("a b c d", "a … c"));
        let is_shown = |output: &[&str], shown: &[&str]| super::is_shown(output, shown, false);
        assert!(is_shown(&["a", "b", "c"], &["a", "…", "c"]) && is_shown(&["a"], &["a", "…"]));
        assert!(!is_shown(&["a", "b"], &["a"]) && !is_shown(&["a"], &["a", "b"]));
        assert!(!is_shown(&["a", "b", "c"], &["a", "…", "d"]));
    }

    #[test]
    fn times_sizes_rates_and_ids_may_differ_and_other_numbers_may_not() {
        let like = |line: &str, shown: &str| is_line_like(line, shown, false);
        assert!(like("  time   0.21 s   (19.4 M states/s)", "  time    1m 2s     (3 states/s)"));
        assert!(like(
            "  disk   0.49 bytes per state (peak 302 KiB)",
            "  disk 1 bytes per state (peak 1.2 MiB)"
        ));
        assert!(like("panex-7-gpaaqk: done", "panex-7-aaaaaa: done"));
        assert!(like("rate=1000/s eta=84s elapsed=2.0s", "rate=9/s eta=1s elapsed=1h"));
        assert!(!like("  layers  441", "  layers  442"));
        assert!(!like("  states  4 moves", "  states  5 moves"));
        assert!(!like("U2 B2 B'", "U2 B3 B'"));
        assert!(!like("2  b2  |", "2  b2 |"), "spaces in a drawing count");
        assert!(is_information("2026-11-24T06:25:15.302889Z  INFO engine explicit"));
        assert!(!is_information("2026-11-24T06:25:15.302889Z  WARN lost"));
        assert!(is_line_like("stopped at depth 679", "stopped at depth 12", true));
        assert!(!is_line_like("stopped at depth 679", "stopped at 12", true));
    }

    #[test]
    fn events_have_the_same_fields_and_values() {
        let like = |line: &str, shown: &str| is_line_like(line, shown, false);
        let line = r#"{"v":1,"job":"a-6-bcdefg","seconds":1.5,"moves":881}"#;
        assert!(like(line, r#"{"v":1,"moves":881,"job":"a-6-aaaaaa","seconds":9}"#));
        assert!(!like(line, r#"{"v":1,"moves":882,"job":"a-6-aaaaaa","seconds":9}"#));
        assert!(!like(line, r#"{"v":1,"moves":881,"job":"a-6-aaaaaa"}"#));
    }
}

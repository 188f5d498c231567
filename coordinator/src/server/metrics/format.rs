//! Text formats of metrics: the choice by the `Accept` header, and the conversion of OpenMetrics to
//! version 0.0.4.

use axum::http::{HeaderMap, header};

/// A text format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum TextFormat {
    /// Prometheus text, version 0.0.4.
    Classic,
    /// OpenMetrics, version 1.0.0.
    OpenMetrics,
}

impl TextFormat {
    /// The format for a request: OpenMetrics if the request accepts it by name and does not prefer
    /// plain text.
    pub(in crate::server) fn of_request(headers: &HeaderMap) -> TextFormat {
        let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
        let ranges: Vec<(&str, f32)> =
            lines.flat_map(|line| line.split(',')).filter_map(range).collect();
        let weight = |kind: &str| {
            let of_kind = ranges.iter().filter(|(found, _)| found.eq_ignore_ascii_case(kind));
            of_kind.map(|(_, weight)| *weight).fold(0.0, f32::max)
        };
        let open = weight("application/openmetrics-text");
        if open > 0.0 && open >= weight("text/plain") {
            TextFormat::OpenMetrics
        } else {
            TextFormat::Classic
        }
    }

    /// Value of the `Content-Type` header.
    pub(in crate::server) fn content_type(self) -> &'static str {
        match self {
            TextFormat::Classic => "text/plain; version=0.0.4; charset=utf-8",
            TextFormat::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Type and weight of a media range; `None` if its version is unsupported. OpenMetrics 0.0.1 is
/// accepted as an older name of 1.0.0.
fn range(text: &str) -> Option<(&str, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let kind = parts.next().filter(|kind| !kind.is_empty())?;
    let mut weight = 1.0;
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "q" => weight = value.trim().parse().unwrap_or(0.0),
            "version" if !["0.0.1", "0.0.4", "1.0.0"].contains(&value.trim()) => return None,
            _ => {}
        }
    }
    Some((kind, weight))
}

/// Converts OpenMetrics text without units and exemplars to version 0.0.4.
///
/// In version 0.0.4 the names in a counter's comments end in `_total`, too, and there is no end
/// marker. The comments of a metric are `HELP`, then `TYPE`.
pub(super) fn classic(open: &str) -> String {
    let mut text = String::with_capacity(open.len());
    let mut help = None;
    let mut push = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    for line in open.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ');
            continue;
        }
        let typed = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '));
        let Some((name, kind)) = typed else {
            push(line);
            continue;
        };
        let suffix = if kind == "counter" { "_total" } else { "" };
        if let Some((_, help)) = help.take() {
            push(&format!("# HELP {name}{suffix} {help}"));
        }
        push(&format!("# TYPE {name}{suffix} {kind}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn of(accept: &[&'static str]) -> TextFormat {
        let mut headers = HeaderMap::new();
        for line in accept {
            headers.append(header::ACCEPT, HeaderValue::from_static(line));
        }
        TextFormat::of_request(&headers)
    }

    #[test]
    fn plain_text_is_the_default() {
        for accept in [
            &[][..],
            &["*/*"],
            &["text/html,application/xhtml+xml,*/*;q=0.8"],
            &["text/plain;version=0.0.4"],
            &["application/openmetrics-text;q=0"],
            &["application/openmetrics-text;version=2.0.0"],
            &["application/openmetrics-text;q=0.2", "text/plain;q=0.5"],
            &["application/openmetrics-text;q=x"],
        ] {
            assert_eq!(of(accept), TextFormat::Classic, "{accept:?}");
        }
    }

    #[test]
    fn openmetrics_is_written_where_it_is_preferred() {
        for accept in [
            &["application/openmetrics-text"][..],
            &["Application/OpenMetrics-Text; Version=1.0.0"],
            // Prometheus 2.42 and 3.
            &["application/openmetrics-text;version=1.0.0,application/openmetrics-text;\
               version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"],
            &["application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
               text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.2"],
            &["text/plain;q=0.5", "application/openmetrics-text;q=0.5"],
        ] {
            assert_eq!(of(accept), TextFormat::OpenMetrics, "{accept:?}");
        }
    }

    #[test]
    fn counters_have_their_suffix_in_comments() {
        let open = "# HELP a_b Some text.\n# TYPE a_b counter\na_b_total{c=\"# EOF\\n\"} 1\n\
                    # HELP g Other text.\n# TYPE g gauge\ng 2\n# EOF\n";
        let text = "# HELP a_b_total Some text.\n# TYPE a_b_total counter\na_b_total{c=\"# EOF\\n\"} 1\n\
                    # HELP g Other text.\n# TYPE g gauge\ng 2\n";
        assert_eq!(classic(open), text);
    }
}

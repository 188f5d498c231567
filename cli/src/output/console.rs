//! Standard error: progress display, logging and colours.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressDrawTarget};
use strata_proto::net::printable;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::output::args::{ColorMode, GlobalArgs, LogFormat, ProgressMode};

/// Progress display, with `auto` resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Display {
    /// A live display.
    Bar,
    /// Log lines.
    Lines,
    /// Nothing.
    None,
}

/// Settings of the outputs of a command.
pub struct Console {
    /// Whether standard output is JSON lines.
    pub json: bool,
    /// Whether results on standard output may have colours.
    pub(crate) colours: bool,
    /// How progress is shown.
    pub(crate) display: Display,
    /// Longest time between two lines about progress.
    pub(crate) log_interval: Duration,
    /// Standard error, shared by log lines and the live display.
    pub(crate) screen: MultiProgress,
}

impl Console {
    /// Resolves `auto` and starts logging.
    pub(crate) fn start(global: &GlobalArgs) -> Self {
        let terminal = io::stderr().is_terminal() && !variable_is("TERM", "dumb");
        let display = display(global, terminal);
        let target = match display {
            Display::Bar => ProgressDrawTarget::stderr(),
            Display::Lines | Display::None => ProgressDrawTarget::hidden(),
        };
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let coloured = |terminal: bool| match global.color {
            ColorMode::Auto => terminal && !plain,
            ColorMode::Always => true,
            ColorMode::Never => false,
        };
        let console = Console {
            json: global.json,
            colours: coloured(io::stdout().is_terminal() && !variable_is("TERM", "dumb")),
            display,
            log_interval: global.log_interval,
            screen: MultiProgress::with_draw_target(target),
        };
        start_logging(global, coloured(terminal), console.screen.clone());
        console
    }
}

impl Console {
    /// Prints a line to standard error, above a live display.
    pub(crate) fn notice(&self, text: &str) {
        // If standard error is closed, the line is lost.
        let print = || writeln!(io::stderr(), "{text}");
        let _ = self.screen.suspend(print);
    }
}

fn variable_is(name: &str, value: &str) -> bool {
    std::env::var_os(name).is_some_and(|actual| actual == value)
}

fn display(global: &GlobalArgs, terminal: bool) -> Display {
    match global.progress {
        ProgressMode::Bar => Display::Bar,
        ProgressMode::Lines => Display::Lines,
        ProgressMode::None => Display::None,
        ProgressMode::Auto if global.quiet > global.verbose => Display::None,
        // A bar would break a stream of JSON log lines.
        ProgressMode::Auto if terminal && global.log_format == LogFormat::Text => Display::Bar,
        ProgressMode::Auto => Display::Lines,
    }
}

fn level(global: &GlobalArgs) -> LevelFilter {
    match i16::from(global.verbose) - i16::from(global.quiet) {
        ..=-2 => LevelFilter::ERROR,
        -1 => LevelFilter::WARN,
        0 => LevelFilter::INFO,
        1 => LevelFilter::DEBUG,
        2.. => LevelFilter::TRACE,
    }
}

fn start_logging(global: &GlobalArgs, ansi: bool, screen: MultiProgress) {
    let level = level(global);
    // The prefix covers every crate of this workspace; other libraries log warnings and errors.
    let filter =
        Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("strata", level);
    let writer = LogWriter { screen, colours: ansi };
    let layer = tracing_subscriber::fmt::layer().with_target(false);
    let layer = match global.log_format {
        LogFormat::Text => layer.with_ansi(ansi).with_writer(writer).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_writer(writer).boxed(),
    };
    // The only possible error is a logger that is installed already, which happens in tests only.
    let _ = tracing_subscriber::registry().with(layer.with_filter(filter)).try_init();
}

/// Writes log lines to standard error between redraws of the live display.
struct LogWriter {
    screen: MultiProgress,
    /// Whether lines have escape sequences for colours.
    colours: bool,
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine(self)
    }
}

/// A log line without control characters, except the line break at its end: texts of other nodes
/// and users cannot forge lines. With colours, the formatter has escaped ESC in such texts.
fn one_line(bytes: &[u8], colours: bool) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let mut line: String = if colours {
        let parts: Vec<_> = text.split('\u{1b}').map(printable).collect();
        parts.join("\u{1b}")
    } else {
        printable(text).into_owned()
    };
    line.push('\n');
    line
}

/// Writer of one log line.
struct LogLine<'a>(&'a LogWriter);

impl Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let line = one_line(bytes, self.0.colours);
        self.0.screen.suspend(|| {
            // A closed standard error must not stop the run.
            let _ = io::stderr().lock().write_all(line.as_bytes());
        });
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    fn global(flags: &str) -> GlobalArgs {
        let line = format!("strata {flags} domains");
        Cli::try_parse_from(line.split_whitespace()).unwrap().global
    }

    #[test]
    fn a_text_cannot_forge_log_lines() {
        let line = "\u{1b}[33mWARN\u{1b}[0m lost\nINFO done\r\n".as_bytes();
        let coloured = "\u{1b}[33mWARN\u{1b}[0m lost\\nINFO done\\r\n";
        assert_eq!(one_line(line, true), coloured);
        assert_eq!(one_line(line, false), coloured.replace('\u{1b}', "\\u{1b}"));
    }

    #[test]
    fn auto_shows_a_bar_only_on_a_terminal_with_a_text_log() {
        assert_eq!(display(&global(""), true), Display::Bar);
        assert_eq!(display(&global(""), false), Display::Lines);
        assert_eq!(display(&global("--log-format json"), true), Display::Lines);
        assert_eq!(display(&global("-q"), true), Display::None);
        assert_eq!(display(&global("--progress bar -q"), false), Display::Bar);
        assert_eq!(display(&global("--progress none"), true), Display::None);
    }

    #[test]
    fn verbose_and_quiet_set_the_level() {
        assert_eq!(level(&global("")), LevelFilter::INFO);
        assert_eq!(level(&global("-v")), LevelFilter::DEBUG);
        assert_eq!(level(&global("-vvv")), LevelFilter::TRACE);
        assert_eq!(level(&global("-q")), LevelFilter::WARN);
        assert_eq!(level(&global("-qq")), LevelFilter::ERROR);
    }
}

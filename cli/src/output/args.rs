//! Global flags: JSON output, progress display and log.

use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args, ValueEnum};

use crate::duration::parse_duration;

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct GlobalArgs {
    /// Print JSON lines on standard output
    ///
    /// A reader that closes the pipe early does not stop the command.
    #[arg(long, global = true, env = "STRATA_JSON", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) json: bool,

    /// Progress on standard error
    #[arg(long, global = true, value_name = "MODE", default_value = "auto")]
    #[arg(env = "STRATA_PROGRESS", hide_env_values = true)]
    pub(crate) progress: ProgressMode,

    /// Colour the log and charts (auto: on a terminal, unless NO_COLOR is set)
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(env = "STRATA_COLOR", hide_env_values = true)]
    pub(crate) color: ColorMode,

    /// Log more (-v: debug, -vv: trace)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    #[arg(env = "STRATA_VERBOSE", hide_env_values = true)]
    pub(crate) verbose: u8,

    /// Log less (-q: warnings and errors, -qq: errors)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    #[arg(env = "STRATA_QUIET", hide_env_values = true)]
    pub(crate) quiet: u8,

    /// Format of the log on standard error
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    #[arg(env = "STRATA_LOG_FORMAT", hide_env_values = true)]
    pub(crate) log_format: LogFormat,

    /// Longest time between two lines about the progress of a search
    #[arg(long, global = true, value_name = "DURATION", default_value = "30s")]
    #[arg(hide_short_help = true)]
    #[arg(env = "STRATA_LOG_INTERVAL", hide_env_values = true)]
    #[arg(value_parser = parse_duration)]
    pub(crate) log_interval: Duration,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    /// A bar on a terminal, else lines.
    Auto,
    /// A live display.
    Bar,
    /// Log lines.
    Lines,
    /// Nothing.
    None,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Text.
    Text,
    /// JSON objects.
    Json,
}

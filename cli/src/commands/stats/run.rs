//! Arguments and run of `strata stats`.

use clap::Args;

use super::rows::rows;
use super::table::{self, TableFormat};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;
use crate::target::TargetArgs;

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The job.
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Format of the table [default: table, with --json json]
    #[arg(long, value_name = "FORMAT", env = "STRATA_FORMAT", hide_env_values = true)]
    format: Option<TableFormat>,
}

impl StatsArgs {
    /// The format, in a run with or without `--json`.
    fn format(&self, json: bool) -> TableFormat {
        let default = if json { TableFormat::Json } else { TableFormat::Table };
        self.format.unwrap_or(default)
    }
}

/// Runs `strata stats`.
///
/// # Errors
/// If there is no such job, or its history cannot be read.
pub(crate) fn run(args: &StatsArgs, console: &Console) -> Result<ExitCode, Failure> {
    if console.json && !matches!(args.format(true), TableFormat::Json) {
        let message = "--json prints the table as JSON lines: leave it out for another --format";
        return Err(Failure::usage(message));
    }
    let (engine, rows) = rows(&args.target.find()?)?;
    stdout::print(|out| table::write(&rows, engine, args.format(console.json), out))?;
    Ok(ExitCode::Done)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn the_default_format_follows_json() {
        let parse = |line: &str| match Cli::try_parse_from(line.split_whitespace()) {
            Ok(Cli { global, command: Command::Stats(args) }) => args.format(global.json),
            other => panic!("not stats: {other:?}"),
        };
        assert_eq!(parse("strata stats dir"), TableFormat::Table);
        assert_eq!(parse("strata stats dir --json"), TableFormat::Json);
        assert_eq!(parse("strata --json stats dir --format csv"), TableFormat::Csv);
    }
}

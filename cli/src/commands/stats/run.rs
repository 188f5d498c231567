//! Arguments and run of `strata stats`.

use std::path::Path;

use clap::Args;
use strata::verify;

use super::table::{self, Row, TableFormat};
use crate::client::record;
use crate::folder::open;
use crate::output::console::Console;
use crate::output::events::counted;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;
use crate::target::{ClusterJob, Target, TargetArgs};

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
    let rows = match args.target.find()? {
        Target::Folder(folder) => rows_of_folder(&folder)?,
        Target::Cluster(found) => rows_of_cluster(&found)?,
    };
    stdout::print(|out| table::write(&rows, args.format(console.json), out))?;
    Ok(ExitCode::Done)
}

/// The layer table of a job in a folder, which may be running.
fn rows_of_folder(dir: &Path) -> Result<Vec<Row>, Failure> {
    let (folder, manifest) = open(dir)?;
    let (_, view) = verify::with_current(&folder, manifest, |manifest| {
        let record = manifest.checkpoint.as_ref().map(|checkpoint| &checkpoint.history);
        folder.read_history(record)
    })?;
    let mut end = 0.0;
    let rows = view.lines.into_iter().map(|line| Row {
        depth: line.depth,
        states: line.states,
        positions: counted(line.positions, line.states),
        generated: line.generated,
        regions: line.regions,
        bytes: line.bytes,
        digest: line.digest.to_string(),
        seconds: line.seconds - std::mem::replace(&mut end, line.seconds),
    });
    Ok(rows.collect())
}

/// The layer table of a cluster's job.
fn rows_of_cluster(found: &ClusterJob<'_>) -> Result<Vec<Row>, Failure> {
    let mut end = 0.0;
    let rows = found.remote.layers(&found.job.id)?.into_iter().map(|line| Row {
        depth: line.depth,
        states: line.states,
        positions: counted(line.positions, line.states),
        generated: line.generated,
        regions: line.regions,
        bytes: line.bytes,
        digest: record::digest(line.digest),
        seconds: record::duration(line.seconds, std::mem::replace(&mut end, line.seconds)),
    });
    Ok(rows.collect())
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

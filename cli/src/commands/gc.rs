//! `strata gc`: removes jobs of a cluster that ended some time ago.

use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use strata_proto::v1;

use crate::args::cluster::ClientArgs;
use crate::client::remote::Remote;
use crate::client::removed::{Collected, Removed};
use crate::duration::parse_duration;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout::{self, Output};

/// State of a job that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EndState {
    /// Finished, with a result.
    Done,
    /// Failed.
    Failed,
    /// Stopped by a user.
    Cancelled,
    /// Stopped at a limit.
    Stopped,
}

impl From<EndState> for v1::JobState {
    fn from(state: EndState) -> v1::JobState {
        match state {
            EndState::Done => v1::JobState::Done,
            EndState::Failed => v1::JobState::Failed,
            EndState::Cancelled => v1::JobState::Cancelled,
            EndState::Stopped => v1::JobState::Stopped,
        }
    }
}

/// Arguments of `gc`.
#[derive(Debug, Args)]
pub(crate) struct GcArgs {
    /// Least time since the job's end, such as 12h or 7d
    #[arg(long, value_name = "DURATION", env = "STRATA_OLDER_THAN", hide_env_values = true)]
    #[arg(value_parser = parse_duration)]
    older_than: Duration,

    /// States of the jobs, separated by commas
    #[arg(long, value_name = "STATES", env = "STRATA_STATE", hide_env_values = true)]
    #[arg(value_delimiter = ',', default_value = "done,failed,cancelled")]
    state: Vec<EndState>,

    /// Print what would be removed, and remove nothing
    #[arg(long, env = "STRATA_DRY_RUN", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    dry_run: bool,

    /// The cluster.
    #[command(flatten)]
    client: ClientArgs,
}

/// Runs `strata gc`.
///
/// # Errors
/// If the cluster cannot be reached, or its journal cannot be written.
pub(crate) fn run(args: &GcArgs, console: &Console) -> Result<ExitCode, Failure> {
    let remote = Remote::connect(&args.client)?;
    let dry_run = args.dry_run;
    let request = v1::CollectRequest {
        older_than_ms: u64::try_from(args.older_than.as_millis()).unwrap_or(u64::MAX),
        states: args.state.iter().map(|state| v1::JobState::from(*state).into()).collect(),
        dry_run,
    };
    let mut parts = remote.remove_ended(request)?;
    let mut collected = Collected { dry_run, ..Collected::default() };
    let mut output = Output::stdout();
    while let Some(v1::CollectPart { jobs, unknown, waiting_for }) = remote.next(&mut parts)? {
        collected.jobs += jobs.len();
        collected.unknown += unknown.len();
        collected.waiting_for.extend(waiting_for);
        output.write_with(|out| {
            let mut jobs = jobs.iter().map(|job| Removed::job(job, &[], dry_run));
            jobs.try_for_each(|job| job.write(console.json, out))?;
            let mut unknown = unknown.iter().map(|job| Removed::unknown(job, dry_run));
            unknown.try_for_each(|job| job.write(console.json, out))
        });
        output.flush();
    }
    output.write_with(|out| collected.write(console.json, out));
    output.finish().map_err(stdout::failure)?;
    Ok(ExitCode::Done)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn gc(line: &str) -> Result<GcArgs, clap::Error> {
        match Cli::try_parse_from(line.split_whitespace())?.command {
            Command::Gc(args) => Ok(args),
            other => panic!("not gc: {other:?}"),
        }
    }

    #[test]
    fn ended_jobs_are_collected_except_stopped_ones() {
        let args = gc("strata gc --older-than 7d").unwrap();
        assert_eq!(args.older_than, Duration::from_secs(7 * 86_400));
        assert_eq!(args.state, [EndState::Done, EndState::Failed, EndState::Cancelled]);
        assert!(!args.dry_run);
        let args = gc("strata gc --older-than 90m --state stopped,done --dry-run").unwrap();
        assert_eq!(args.state, [EndState::Stopped, EndState::Done]);
        assert!(args.dry_run);
    }

    #[test]
    fn malformed_values_are_refused() {
        for line in [
            "strata gc",
            "strata gc --older-than soon",
            "strata gc --older-than 7",
            "strata gc --older-than 7d --state running",
            "strata gc --older-than 7d --state done,,failed",
            "strata rm",
        ] {
            let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}

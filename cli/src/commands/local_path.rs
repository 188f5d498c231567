//! `strata path` of a job in a folder: traced back through its layers, or searched again.

use std::path::Path;

use clap::Args;
use strata_run::forecast::Forecast;
use strata_run::size::parse_size;
use strata_run::{Job, PathOutcome, RunOptions, StopReason};
use strata_store::{JobResult, Manifest, RunState};

use crate::args::values::at_most;
use crate::folder;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::path_form::PathForm;
use crate::output::progress::Progress;
use crate::signals::SignalToken;
use crate::spaces::puzzle::{self, Puzzle};

/// Resources of a search for a path, for a job in a folder.
#[derive(Debug, Args)]
#[command(next_help_heading = "Job in a folder")]
pub(super) struct PathResources {
    /// Threads [default: as in the job's last run]
    #[arg(long, value_name = "N", env = "STRATA_THREADS", hide_env_values = true)]
    #[arg(value_parser = at_most(1024))]
    threads: Option<usize>,

    /// Memory budget of a search for the path [default: as in the job's last run]
    #[arg(long, value_name = "SIZE", env = "STRATA_MEMORY", hide_env_values = true)]
    #[arg(value_parser = parse_size)]
    memory: Option<u64>,
}

impl PathResources {
    /// The long names of the flags.
    pub(super) const FLAGS: [&'static str; 2] = ["threads", "memory"];
}

/// Prints the moves of a shortest solution of the job in a folder.
///
/// # Errors
/// If the job is not done or has no solution, its space does not name moves, another process uses the
/// data directory, or a file is damaged.
pub(super) fn run(
    folder: &Path,
    form: &PathForm,
    resources: &PathResources,
    console: &Console,
) -> Result<ExitCode, Failure> {
    let manifest = folder::open(folder)?.1;
    let result = finished(&manifest)?;
    let puzzle = Puzzle::open(&manifest.spec)?;
    let options = |last: RunOptions| RunOptions {
        threads: resources.threads.unwrap_or(last.threads),
        memory: resources.memory.unwrap_or(last.memory),
        ..last
    };
    // If parts of the path are searched again, their files are in folders below the job's.
    let job = Job::open(folder, puzzle::opener(), options)?;
    let signals = SignalToken::listen();
    let progress = Progress::start(console, &Forecast::default());
    let path = match job.path(signals.token())? {
        PathOutcome::Found(path) => path,
        PathOutcome::Stopped(reason) => return Err(stopped(reason)),
    };
    puzzle.show(path, result.moves, form, false, &progress)?;
    progress.finish()?;
    Ok(ExitCode::Done)
}

/// The result of a job with a path.
///
/// # Errors
/// If the job is not done or has reached no goal.
fn finished(manifest: &Manifest) -> Result<&JobResult, Failure> {
    let job = &manifest.job;
    match &manifest.result {
        Some(result) if result.moves.is_some() => Ok(result),
        Some(_) => Err(Failure::usage(format!("job {job} has reached no goal: there is no path"))),
        None => {
            let state =
                if manifest.state == RunState::Running { "not finished" } else { "stopped" };
            let message = format!("job {job} is {state}: strata resume continues it");
            Err(Failure::usage(message))
        }
    }
}

/// The failure of a search for a path that stopped early.
fn stopped(reason: StopReason) -> Failure {
    let code = match reason {
        StopReason::Interrupted => ExitCode::Interrupted,
        _ => ExitCode::Limit,
    };
    Failure::new(code, format!("the search for the path stopped: {reason}"))
}

//! Searches inside other commands: as in `solve`, but displayed on standard error only.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use strata_run::{Ended, Jobs, StopReason};

use super::args::SolveArgs;
use super::job_run::JobRun;
use super::prepared::Prepared;
use crate::args::values::{at_most, available_threads};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::spaces::puzzle;
use strata_run::size::parse_size;

/// Resources of the search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub struct SearchResources {
    /// Threads
    #[arg(long, value_name = "N", default_value_t = available_threads())]
    #[arg(env = "STRATA_THREADS", hide_env_values = true)]
    #[arg(value_parser = at_most(1024))]
    pub threads: usize,

    /// Memory budget of tables, buffers and diagrams
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    #[arg(env = "STRATA_MEMORY", hide_env_values = true, value_parser = parse_size)]
    pub(crate) memory: u64,

    /// Folder for the search's own folder, which is kept; an unfinished search is resumed
    /// [default: a temporary folder]
    #[arg(long, value_name = "DIR", env = "STRATA_DATA_DIR", hide_env_values = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

/// Result of a search.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The fewest moves; none if the goal cannot be reached.
    pub moves: Option<u64>,
    /// States of all layers.
    pub states: u64,
    /// Time of this run.
    pub seconds: f64,
}

/// Runs `strata solve` with these words, without reading the environment.
///
/// # Errors
/// Those of `solve`; also if the search was interrupted, or the disk or the memory budget is full.
pub fn search(
    words: &[&str],
    resources: &SearchResources,
    console: &Console,
) -> Result<Found, Failure> {
    let started = Instant::now();
    let words = std::iter::once("solve").chain(words.iter().copied()).map(OsString::from);
    let plain = SolveArgs::without_variables(words)
        .map_err(|error| Failure::new(ExitCode::Unexpected, error))?;
    let args = SolveArgs { threads: Some(resources.threads), memory: resources.memory, ..plain };
    let Prepared { request, space, labels } = Prepared::new(&args)?;
    let jobs = match &resources.data_dir {
        Some(dir) => Jobs::lock(dir)?,
        None => Jobs::temporary()?,
    };
    let job = match jobs.unfinished(request.spec()) {
        Some(_) => jobs.resume(request, space, puzzle::opener())?,
        None => jobs.create(request, space, puzzle::opener())?,
    };
    let mut run = JobRun::on_screen(job, labels, console, started);
    match run.search(false)? {
        Ended::Finished(finished) => {
            let code = run.result(&finished);
            run.end(code, console)?;
            Ok(Found {
                moves: finished.result.moves,
                states: finished.result.states,
                seconds: started.elapsed().as_secs_f64(),
            })
        }
        Ended::Stopped { reason, depth } => {
            run.end(ExitCode::Limit, console)?;
            Err(early(reason, depth, resources.data_dir.is_none()))
        }
    }
}

/// The failure for a search that stopped early.
fn early(reason: StopReason, depth: u32, temporary: bool) -> Failure {
    let (code, why) = match reason {
        StopReason::Interrupted => (ExitCode::Interrupted, "interrupted"),
        StopReason::DiskFull => (ExitCode::Limit, "the disk is full"),
        StopReason::MemoryFull => (ExitCode::Limit, "the memory budget is used up"),
        // An embedded search has no limits and no other workers.
        StopReason::MaxLayers | StopReason::DiskLimit | StopReason::Moving => {
            (ExitCode::Unexpected, "it stopped without a cause")
        }
    };
    let next = if temporary {
        "it cannot be resumed without --data-dir"
    } else {
        "the same command resumes it"
    };
    Failure::new(code, format!("the search ended at depth {depth}: {why}; {next}"))
}

//! Run of `strata solve`.

use std::time::Instant;

use strata_run::catalogue::Space;
use strata_run::forecast::Expected;
use strata_run::{Ended, Job, Jobs, PathOutcome, Request, StopReason};

use super::args::SolveArgs;
use super::job_run::JobRun;
use super::prepared::Prepared;
use super::{antipodes, path};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::forecast;
use crate::spaces::puzzle::{self, Puzzle};

/// Runs `strata solve`.
pub(crate) fn run(args: &SolveArgs, console: &Console) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let Prepared { mut request, space, labels } = Prepared::new(args)?;
    if args.path.wanted() {
        path::check(args, &request, &space)?;
    }
    let antipodes = antipodes::number(args, &request, &space)?;
    if antipodes > 0 && space.names_moves() {
        request = request.keeping_layers_for_paths(&space)?;
    }
    // With `--keep-layers`, the command line decides which layers a path can use.
    let keeps_for_path = args.path.wanted() && !args.search.line.given("keep-layers");
    let expected = expected(keeps_for_path, &request, &space)?;
    if args.search.dry_run {
        let (engine, reason) = (request.spec().engine, &*labels.reason);
        let search = forecast::Search { label: request.label(), engine, reason };
        forecast::print(&search, &expected, console)?;
        return Ok(ExitCode::Done);
    }
    let job = if args.resume {
        Jobs::lock_existing(&args.data_dir)?.resume(request, space, puzzle::opener())?
    } else {
        forecast::announce(&expected);
        create(Jobs::lock(&args.data_dir)?, request, space)?
    };
    let mut run = JobRun::new(job, labels, args.ui, console, started)?;
    let code = match run.search(keeps_for_path)? {
        Ended::Stopped { reason, depth } => stopped(args, &run, reason, depth),
        Ended::Finished(finished) => {
            let has_more = antipodes > 0 || args.path.wanted();
            if !has_more {
                run.signals.search_over();
            }
            match run.result(&finished) {
                ExitCode::Done if args.path.wanted() => {
                    show_path(args, &run, finished.result.moves)?
                }
                code => {
                    if antipodes > 0 {
                        let is_default = args.antipodes.is_none();
                        antipodes::show(&run.job, antipodes, is_default, &run.progress)?;
                    }
                    code
                }
            }
        }
    };
    run.end(code, console)
}

/// What the search is expected to cost.
fn expected(keeps_for_path: bool, request: &Request, space: &Space) -> Result<Expected, Failure> {
    Ok(match keeps_for_path {
        true => request.keeping_layers_for_paths(space)?.expected(),
        false => request.expected(),
    })
}

/// Creates a job.
///
/// # Errors
/// If the data directory cannot be written.
fn create(jobs: Jobs, request: Request, space: Space) -> Result<Job, Failure> {
    if let Some(job) = jobs.unfinished(request.spec()) {
        tracing::warn!("job {job} is the same search and unfinished: --resume continues it");
    }
    Ok(jobs.create(request, space, puzzle::opener())?)
}

/// Shows the path of the finished job.
fn show_path(args: &SolveArgs, run: &JobRun, expected: Option<u64>) -> Result<ExitCode, Failure> {
    match run.job.path(run.signals.token()).map_err(path::failure)? {
        PathOutcome::Found(found) => {
            let puzzle = Puzzle::open(run.job.request().spec())?;
            let (form, other) = (&args.path.form, args.search.own.form.is_some());
            puzzle.show(found, expected, form, other, &run.progress)?;
            Ok(ExitCode::Done)
        }
        PathOutcome::Stopped(reason) => Ok(stopped(args, run, reason, run.job.depth()?)),
    }
}

/// Shows an early end with the command line that resumes the job.
fn stopped(args: &SolveArgs, run: &JobRun, reason: StopReason, depth: u32) -> ExitCode {
    // The limit that stopped the job would stop it again.
    let without: &[&str] = match reason {
        StopReason::MaxLayers => &["max-layers"],
        StopReason::DiskLimit => &["disk-limit"],
        StopReason::MemoryFull => &["memory"],
        StopReason::Interrupted | StopReason::DiskFull | StopReason::Moving => &[],
    };
    run.stopped(reason, depth, args.search.line.resume_command(without))
}

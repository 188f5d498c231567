//! Run of `strata solve`.

use std::time::Instant;

use strata_run::catalogue::Space;
use strata_run::forecast::Expected;
use strata_run::{
    CancelToken, Ended, Event, Job, KeepLayers, PathOutcome, Request, RunControl, RunOptions,
    StopReason, check_data_dir, find_path, lock_data_dir,
};
use strata_store::{DataDir, JobDir};

use super::args::SolveArgs;
use super::prepared::Prepared;
use super::ui::Ui;
use super::{antipodes, path, report};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::forecast;
use crate::output::progress::Progress;
use crate::signals::SignalToken;
use crate::spaces::puzzle::{self, Puzzle};

/// Runs `strata solve`.
pub(crate) fn run(args: &SolveArgs, console: &Console) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let (mut prepared, space) = Prepared::new(args)?;
    if args.path.wanted() {
        path::check(args, &prepared, &space)?;
    }
    let antipodes = antipodes::number(args, &prepared, &space)?;
    if antipodes > 0 {
        let options = antipodes::options(&prepared, &space);
        prepared.request = prepared.request.with_options(&space, options)?;
    }
    let expected = expected(args, &prepared.request, &space)?;
    if args.search.dry_run {
        let (engine, reason) = (prepared.request.spec().engine, &*prepared.reason);
        let search = forecast::Search { label: prepared.request.label(), engine, reason };
        forecast::print(&search, &expected, console)?;
        return Ok(ExitCode::Done);
    }
    if !args.resume {
        forecast::announce(&expected);
    }
    check_data_dir(&args.data_dir, args.resume)?;
    let data = lock_data_dir(&args.data_dir)?;
    let job = if args.resume {
        Job::resume(&data, &prepared.request)?
    } else {
        create(&data, &prepared.request)?
    };
    let signals = SignalToken::listen();
    let progress = Progress::start(console, prepared.request.forecast());
    let ui = Ui::start(args.ui, &prepared.request, &progress, console)?;
    let run = Run {
        prepared: &prepared,
        args,
        data: &data,
        progress: &progress,
        cancel: signals.token(),
        started,
    };
    let code = if args.path.wanted() {
        run.with_path(job, space)?
    } else {
        let folder = job.folder().clone();
        match run.search(&prepared.request, job, space)? {
            Ended::Finished(finished) => {
                if antipodes == 0 {
                    signals.search_over();
                }
                let code = report::result(&prepared, &progress, &finished);
                if antipodes > 0 {
                    let number = (antipodes, args.antipodes.is_none());
                    antipodes::show(&prepared, &folder, number, &progress)?;
                }
                code
            }
            Ended::Stopped { reason, depth } => report::stopped(args, &progress, reason, depth),
        }
    };
    progress.finish()?;
    drop(data);
    signals.search_over();
    if let Some(ui) = ui {
        ui.keep_after(code, console, signals.token());
    }
    Ok(code)
}

/// What the search is expected to cost. For a path, layers are kept unless the command line says
/// which are.
fn expected(args: &SolveArgs, request: &Request, space: &Space) -> Result<Expected, Failure> {
    let chosen = args.search.line.given("keep-layers");
    if !args.path.wanted() || chosen || !request.paths_need_layers() {
        return Ok(request.expected());
    }
    let options = RunOptions { keep_layers: KeepLayers::All, ..request.options().clone() };
    Ok(request.with_options(space, options)?.expected())
}

/// What stays the same in a run of the program.
pub(super) struct Run<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) args: &'a SolveArgs,
    pub(super) data: &'a DataDir,
    pub(super) progress: &'a Progress,
    pub(super) cancel: &'a CancelToken,
    pub(super) started: Instant,
}

impl Run<'_> {
    /// Searches, or shows the layers of a finished job once more.
    pub(super) fn search(
        &self,
        request: &Request,
        job: Job,
        space: Space,
    ) -> Result<Ended, Failure> {
        let control = RunControl {
            cancel: self.cancel,
            on_event: &mut |event: &Event| {
                let data_dir = &self.args.data_dir;
                if let Some(event) = report::event(self.prepared, request, data_dir, event) {
                    self.progress.emit(&event);
                }
            },
            started: self.started,
        };
        Ok(strata_run::run(request, job, space, control)?)
    }

    /// Searches and shows the moves of a shortest solution.
    ///
    /// All layers are kept unless the command line says which are. If they turn out not to fit the
    /// disk, a new job starts over without them.
    fn with_path(&self, job: Job, space: Space) -> Result<ExitCode, Failure> {
        let (args, request) = (self.args, &self.prepared.request);
        let mut folder = job.folder().clone();
        let chosen = args.search.line.given("keep-layers");
        let may_start_over = job.is_new() && !chosen && space.ends().is_some();
        let keeping = if chosen || !request.paths_need_layers() {
            request.clone()
        } else {
            let options = RunOptions { keep_layers: KeepLayers::All, ..request.options().clone() };
            request.with_options(&space, options)?
        };
        let mut ended = self.search(&keeping, job, space)?;
        if let Ended::Stopped { reason: StopReason::DiskLimit | StopReason::DiskFull, depth } =
            ended
            && may_start_over
        {
            tracing::warn!(
                depth,
                "not all layers fit the disk: starting over without keeping them"
            );
            folder.remove()?;
            let job = create(self.data, request)?;
            folder = job.folder().clone();
            ended = self.search(request, job, self.prepared.open()?)?;
        }
        match ended {
            Ended::Stopped { reason, depth } => {
                Ok(report::stopped(args, self.progress, reason, depth))
            }
            Ended::Finished(finished) => {
                match report::result(self.prepared, self.progress, &finished) {
                    ExitCode::Done => self.path(&folder, finished.result.moves),
                    code => Ok(code),
                }
            }
        }
    }

    /// Shows the path of the finished job.
    fn path(&self, folder: &JobDir, expected: Option<u64>) -> Result<ExitCode, Failure> {
        let request = &self.prepared.request;
        let found =
            find_path(request, folder, &puzzle::reopen, self.cancel).map_err(path::failure)?;
        match found {
            PathOutcome::Found(found) => {
                let puzzle = Puzzle::open(request.spec())?;
                let (form, other) = (&self.args.path.form, self.args.search.own.form.is_some());
                puzzle.show(found, expected, form, other, self.progress)?;
                Ok(ExitCode::Done)
            }
            PathOutcome::Stopped(reason) => {
                let depth = folder.read_manifest()?.checkpoint.map_or(0, |last| last.depth);
                Ok(report::stopped(self.args, self.progress, reason, depth))
            }
        }
    }
}

pub(super) fn create(data: &DataDir, request: &Request) -> Result<Job, Failure> {
    if let Some(job) = Job::unfinished(data, request.spec()) {
        tracing::warn!("job {job} is the same search and unfinished: --resume continues it");
    }
    Ok(Job::create(data, request)?)
}

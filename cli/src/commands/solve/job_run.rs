//! One run of a job with its displays: on the terminal, as events, on a web page.

use std::net::SocketAddr;
use std::time::Instant;

use strata_run::catalogue::Space;
use strata_run::{Ended, Event, Finished, Job, Request, RunControl, StopReason};

use super::ui::Ui;
use crate::output::console::Console;
use crate::output::events;
use crate::output::exit::{ExitCode, Failure, with_flags};
use crate::output::json;
use crate::output::layer::{Layer, counted};
use crate::output::progress::Progress;
use crate::signals::SignalToken;
use crate::spaces::request::{self, Naming};

/// Texts about a search that its events do not have.
pub(super) struct Labels {
    /// Reason for its engine.
    pub(super) reason: String,
    /// Advice of the space on a better search.
    pub(super) advice: Option<String>,
    pub(super) naming: Naming,
}

impl Labels {
    /// The labels of an existing job, whose moves and engine are fixed.
    pub(super) fn of_job(space: &Space) -> Labels {
        let naming = Naming::of(space, None);
        Labels { reason: "the job has it".to_owned(), advice: None, naming }
    }

    /// The labels of a new search.
    pub(super) fn of_search(space: &Space, reason: String, naming: Naming) -> Labels {
        Labels { reason, advice: space.advice().as_deref().map(with_flags), naming }
    }
}

/// A job and the displays of its run.
pub(super) struct JobRun {
    pub(super) job: Job,
    pub(super) progress: Progress,
    pub(super) signals: SignalToken,
    labels: Labels,
    started: Instant,
    ui: Option<Ui>,
}

impl JobRun {
    /// Starts the displays of `solve` and `resume`, with a web page if `ui` is its address.
    ///
    /// # Errors
    /// If the address is beyond this machine, or taken.
    pub(super) fn new(
        job: Job,
        labels: Labels,
        ui: Option<SocketAddr>,
        console: &Console,
        started: Instant,
    ) -> Result<JobRun, Failure> {
        let signals = SignalToken::listen();
        let progress = Progress::start(console, job.request().forecast());
        let ui = Ui::start(ui, job.request(), &progress, console)?;
        Ok(JobRun { job, progress, signals, labels, started, ui })
    }

    /// Starts displays on standard error only.
    pub(super) fn on_screen(
        job: Job,
        labels: Labels,
        console: &Console,
        started: Instant,
    ) -> JobRun {
        let signals = SignalToken::listen();
        let progress = Progress::on_screen(console, job.request().forecast());
        JobRun { job, progress, signals, labels, started, ui: None }
    }

    /// Searches, or shows the layers of a finished job once more. `for_path`: keeps the layers that
    /// a shortest path needs, if the disk has room.
    ///
    /// # Errors
    /// Those of the search.
    pub(super) fn search(&mut self, for_path: bool) -> Result<Ended, Failure> {
        let JobRun { job, progress, signals, labels, started, .. } = self;
        let (request, data_dir) = (job.request().clone(), job.data_dir().display().to_string());
        let mut on_event = |event: &Event| {
            if let Some(event) = shown(labels, &request, &data_dir, event) {
                progress.emit(&event);
            }
        };
        let control =
            RunControl { cancel: signals.token(), on_event: &mut on_event, started: *started };
        Ok(if for_path { job.run_for_path(control)? } else { job.run(control)? })
    }

    /// Shows the result.
    pub(super) fn result(&self, finished: &Finished) -> ExitCode {
        let (request, naming) = (self.job.request(), &self.labels.naming);
        let Finished { result: found, totals, seconds } = finished;
        let outcome = events::Outcome::of(found.moves, || naming.has_goal);
        let radius = events::radius(found.layers, found.states, found.positions);
        let farthest =
            events::Farthest { depth: totals.radius, positions: totals.positions_at_radius };
        let farthest = Some(farthest).filter(|_| radius.is_none() && found.moves.is_none());
        let engine = request.spec().engine;
        let exhaust = request.is_exhaustive();
        self.progress.emit(&events::Event::Result(events::Summary {
            outcome,
            moves: found.moves,
            layers: found.layers,
            states: found.states,
            positions: counted(found.positions, found.states),
            orbits: found.orbits,
            generated: found.generated,
            widest: found.widest,
            widest_depth: totals.widest_depth,
            digest: found.digest.to_string(),
            seconds: *seconds,
            peak_rss_bytes: Some(found.peak_rss_bytes).filter(|&bytes| bytes > 0),
            peak_rss_worker: None,
            disk_peak_bytes: found.disk_peak_bytes,
            spilled_bytes: totals.spilled,
            bytes_per_state: events::bytes_per_state(engine, totals.layer_bytes, totals.states),
            farthest,
            title: naming.title(outcome, found.moves, Some(totals.radius), exhaust),
        }));
        ExitCode::of_outcome(outcome)
    }

    /// Shows an early end, with the command that resumes the job.
    pub(super) fn stopped(
        &self,
        reason: StopReason,
        depth: u32,
        resume_command: String,
    ) -> ExitCode {
        let code = match reason {
            StopReason::Interrupted => ExitCode::Interrupted,
            StopReason::MaxLayers
            | StopReason::DiskLimit
            | StopReason::DiskFull
            | StopReason::MemoryFull => ExitCode::Limit,
            // Only a cluster moves shards.
            StopReason::Moving => ExitCode::Unexpected,
        };
        let reason = events::EarlyEnd::Stopped(reason);
        let stopped = events::Stopped { reason, depth, resume_command };
        self.progress.emit(&events::Event::Stopped(stopped));
        code
    }

    /// Ends the displays and releases the data directory. A web page stays until Ctrl-C.
    ///
    /// # Errors
    /// If standard output failed.
    pub(super) fn end(self, code: ExitCode, console: &Console) -> Result<ExitCode, Failure> {
        self.progress.finish()?;
        drop(self.job);
        self.signals.search_over();
        if let Some(ui) = self.ui {
            ui.keep_after(code, console, self.signals.token());
        }
        Ok(code)
    }
}

/// The event of the displays; none if the library event has no counterpart.
fn shown(
    labels: &Labels,
    request: &Request,
    data_dir: &str,
    event: &Event,
) -> Option<events::Event> {
    Some(match event {
        Event::Started { job, resumed_from } => {
            let reason = &labels.reason;
            tracing::info!("engine {}: {reason}", request.spec().engine.name());
            if let Some(advice) = &labels.advice {
                tracing::info!("{advice}");
            }
            let (spec, options) = (request.spec(), request.options());
            events::Event::Job(events::Job {
                job: job.clone(),
                space: spec.space.clone(),
                params: json::parameters(&request::shown(&spec.space, &spec.params)),
                engine: spec.engine.name(),
                engine_reason: reason.clone(),
                shards: spec.shards,
                data_dir: data_dir.to_owned(),
                threads: options.threads,
                workers: options.workers,
                memory_bytes: options.memory,
                resumed_from: *resumed_from,
            })
        }
        Event::Layer(event) => {
            let positions = labels.naming.positions(event.layer.positions, event.layer.states);
            events::Event::Layer(Layer { event: event.clone(), positions })
        }
        Event::Checkpoint { depth, bytes, seconds } => {
            let (depth, bytes, seconds) = (*depth, *bytes, *seconds);
            events::Event::Checkpoint(events::Checkpoint { depth, bytes, seconds })
        }
        _ => return None,
    })
}

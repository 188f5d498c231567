//! Events of a run, and its exit code.

use std::path::Path;

use strata_run::{Event, Finished, Request, StopReason};

use super::args::SolveArgs;
use super::prepared::Prepared;
use crate::output::events;
use crate::output::exit::ExitCode;
use crate::output::json;
use crate::output::layer::{Layer, counted};
use crate::output::progress::Progress;
use crate::spaces::request;

/// The event of the displays; none if the library event has no counterpart.
pub(super) fn event(
    prepared: &Prepared,
    request: &Request,
    data_dir: &Path,
    event: &Event,
) -> Option<events::Event> {
    Some(match event {
        Event::Started { job, resumed_from } => {
            let reason = &prepared.reason;
            tracing::info!("engine {}: {reason}", request.spec().engine.name());
            if let Some(advice) = &prepared.advice {
                tracing::info!("{advice}");
            }
            let job = started(request, data_dir, job, *resumed_from);
            events::Event::Job(events::Job { engine_reason: reason.clone(), ..job })
        }
        Event::Layer(event) => {
            let positions = prepared.naming.positions(event.layer.positions, event.layer.states);
            events::Event::Layer(Layer { event: event.clone(), positions })
        }
        Event::Checkpoint { depth, bytes, seconds } => {
            let (depth, bytes, seconds) = (*depth, *bytes, *seconds);
            events::Event::Checkpoint(events::Checkpoint { depth, bytes, seconds })
        }
        _ => return None,
    })
}

fn started(
    request: &Request,
    data_dir: &Path,
    job: &str,
    resumed_from: Option<u32>,
) -> events::Job {
    let (spec, options) = (request.spec(), request.options());
    events::Job {
        job: job.to_owned(),
        space: spec.space.clone(),
        params: json::parameters(&request::shown(&spec.space, &spec.params)),
        engine: spec.engine.name(),
        engine_reason: String::new(),
        shards: spec.shards,
        data_dir: data_dir.display().to_string(),
        threads: options.threads,
        workers: options.workers,
        memory_bytes: options.memory,
        resumed_from,
    }
}

/// Emits the result.
pub(super) fn result(prepared: &Prepared, progress: &Progress, finished: &Finished) -> ExitCode {
    let Finished { result: found, totals, seconds } = finished;
    let exhaust = prepared.request.is_exhaustive();
    let outcome = events::Outcome::of(found.moves, || prepared.naming.has_goal);
    let code = ExitCode::of_outcome(outcome);
    let radius = events::radius(found.layers, found.states, found.positions);
    let farthest = events::Farthest { depth: totals.radius, positions: totals.positions_at_radius };
    let farthest = Some(farthest).filter(|_| radius.is_none() && found.moves.is_none());
    let bytes_per_state = totals.layer_bytes as f64 / totals.states as f64;
    // Layers of other engines need no files.
    let spec = prepared.request.spec();
    let explicit = spec.engine.is_explicit();
    progress.emit(&events::Event::Result(events::Summary {
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
        bytes_per_state: Some(bytes_per_state).filter(|bytes| explicit && bytes.is_finite()),
        farthest,
        title: prepared.naming.title(outcome, found.moves, Some(totals.radius), exhaust),
    }));
    code
}

/// Emits an early end and the command that resumes the job.
pub(super) fn stopped(
    args: &SolveArgs,
    progress: &Progress,
    reason: StopReason,
    depth: u32,
) -> ExitCode {
    // The limit that stopped it would stop it again.
    let without: &[&str] = match reason {
        StopReason::MaxLayers => &["max-layers"],
        StopReason::DiskLimit => &["disk-limit"],
        StopReason::MemoryFull => &["memory"],
        StopReason::Interrupted | StopReason::DiskFull | StopReason::Moving => &[],
    };
    stopped_with(args.search.line.resume_command(without), progress, reason, depth)
}

/// Emits an early end with the command that resumes the job.
pub(super) fn stopped_with(
    resume_command: String,
    progress: &Progress,
    reason: StopReason,
    depth: u32,
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
    progress.emit(&events::Event::Stopped(events::Stopped { reason, depth, resume_command }));
    code
}

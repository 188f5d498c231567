//! What a run tells the outside, as events; decides the exit code that goes with it.

use strata::{StopReason, Totals};
use strata_store::{HistoryLine, JobResult};

use super::run::Search;
use super::session::Job;
use crate::cli::SolveArgs;
use crate::output::events::{self, Event};
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;
use crate::spaces::request;

/// The beginning of a run.
pub(super) fn job(
    search: &Search,
    args: &SolveArgs,
    job: &str,
    resumed_from: Option<u32>,
) -> Event {
    Event::Job(events::Job {
        job: job.to_owned(),
        space: search.spec.space.clone(),
        params: request::json(&search.spec.params),
        engine: search.spec.engine.name(),
        shards: search.spec.shards,
        data_dir: args.data_dir.display().to_string(),
        threads: args.threads,
        workers: args.workers,
        memory_bytes: args.memory,
        resumed_from,
    })
}

/// A complete layer.
pub(super) fn layer(line: &HistoryLine, seconds: f64, total_states: u64, replayed: bool) -> Event {
    Event::Layer(events::Layer {
        depth: line.depth,
        states: line.states,
        generated: line.generated,
        regions: line.regions,
        bytes: line.bytes,
        digest: line.digest.to_string(),
        seconds,
        total_states,
        replayed,
    })
}

/// Shows the layers of earlier sessions.
pub(super) fn replay(lines: &[HistoryLine], progress: &Progress) {
    let (mut total, mut end) = (0, 0.0);
    for line in lines {
        total += line.states;
        progress.emit(&layer(line, line.seconds - end, total, true));
        end = line.seconds;
    }
}

/// Shows once more what a finished job found.
pub(super) fn again(
    search: &Search,
    args: &SolveArgs,
    progress: &Progress,
    finished: &Job,
) -> Result<ExitCode, Failure> {
    let Job { folder, manifest, ledger, .. } = finished;
    let depth = manifest.checkpoint.as_ref().map(|checkpoint| checkpoint.depth);
    progress.emit(&job(search, args, folder.job(), depth));
    replay(&ledger.lines, progress);
    let Some(found) = &manifest.result else {
        let message = format!("job {} is done without a result", folder.job());
        return Err(Failure::new(ExitCode::Corrupt, message));
    };
    Ok(result(search, progress, found, &ledger.totals, found.seconds))
}

/// Shows the result.
pub(super) fn result(
    search: &Search,
    progress: &Progress,
    found: &JobResult,
    totals: &Totals,
    seconds: f64,
) -> ExitCode {
    let (outcome, code) = match found.moves {
        Some(_) => (events::Outcome::Goal, ExitCode::Done),
        None if search.is_exhaustive() => (events::Outcome::Exhausted, ExitCode::Done),
        None => (events::Outcome::NoGoal, ExitCode::NoGoal),
    };
    let bytes_per_state = totals.layer_bytes as f64 / totals.states as f64;
    // A diagram is not kept state by state.
    let explicit = search.spec.engine.is_explicit();
    progress.emit(&Event::Result(events::Summary {
        outcome,
        moves: found.moves,
        layers: found.layers,
        states: found.states,
        generated: found.generated,
        widest: found.widest,
        widest_depth: totals.widest_depth,
        digest: found.digest.to_string(),
        seconds,
        peak_rss_bytes: Some(found.peak_rss_bytes).filter(|&bytes| bytes > 0),
        disk_peak_bytes: found.disk_peak_bytes,
        spilled_bytes: totals.spilled,
        bytes_per_state: Some(bytes_per_state).filter(|bytes| explicit && bytes.is_finite()),
        title: search.naming.title(outcome, found.moves, found.layers),
    }));
    code
}

/// Shows an early end and how to go on.
pub(super) fn stopped(
    args: &SolveArgs,
    progress: &Progress,
    reason: StopReason,
    depth: u32,
) -> ExitCode {
    // The limit that stopped it would stop it again.
    let (reason, code, without) = match reason {
        StopReason::Interrupted => (events::StopReason::Interrupted, ExitCode::Interrupted, None),
        StopReason::MaxLayers => {
            (events::StopReason::MaxLayers, ExitCode::Limit, Some("max-layers"))
        }
        StopReason::DiskLimit => {
            (events::StopReason::DiskLimit, ExitCode::Limit, Some("disk-limit"))
        }
        StopReason::DiskFull => (events::StopReason::DiskFull, ExitCode::Limit, None),
        StopReason::MemoryFull => (events::StopReason::MemoryFull, ExitCode::Limit, Some("memory")),
        // Only a cluster moves shards, and it goes on at once.
        StopReason::Moving => (events::StopReason::Interrupted, ExitCode::Unexpected, None),
    };
    let without: Vec<&str> = without.into_iter().collect();
    let resume_command = args.line.resume_command(&without);
    progress.emit(&Event::Stopped(events::Stopped { reason, depth, resume_command }));
    code
}

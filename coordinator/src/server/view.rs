//! Messages to clients about jobs and workers.

use strata_proto::net::convert;
use strata_proto::v1;
use strata_run::StopReason;
use strata_run::Totals;
use strata_space::Parameter;

use super::options::options_to;
use crate::cluster::event::{LogEntry, LogField};
use crate::cluster::job_view::JobSnapshot;
use crate::cluster::membership::MemberView;
use crate::entry::{JobEntry, JobState, WorkerEntry};

/// Exit codes of a client that waits for a job, as in `docs/protocol.md`.
pub(super) const EXIT_NO_GOAL: u32 = 3;
const EXIT_LIMIT: u32 = 4;
const EXIT_FAILED: u32 = 5;
const EXIT_CORRUPT: u32 = 12;

/// A job as a message. `now` is the state of a job that the queue runs; `before` is the number of
/// jobs before it in the queue, if it waits.
pub(super) fn job(entry: &JobEntry, now: Option<JobSnapshot>, before: usize) -> v1::Job {
    let now = now.unwrap_or_else(|| JobSnapshot {
        progress: entry.progress.clone(),
        ..JobSnapshot::default()
    });
    let last = now.progress.as_ref();
    let waiting = now.workers == 0 && entry.state == JobState::Running;
    let queued = entry.state == JobState::Queued;
    let left = now.figures.and_then(|figures| figures.time_left).filter(|_| !waiting);
    let (state, exit_code) = state(entry, waiting);
    let error = match &entry.state {
        JobState::Failed { why, .. } => why.clone(),
        JobState::Stopped(reason) => reason.to_string(),
        JobState::Running => now.paused.unwrap_or_default(),
        _ => String::new(),
    };
    let seconds = entry.seconds.max(last.map_or(0.0, |last| last.seconds));
    let mean_rate = last.map(|last| last.states as f64 / seconds).filter(|rate| rate.is_finite());
    v1::Job {
        id: entry.id.clone(),
        name: entry.name.clone().unwrap_or_default(),
        spec: Some(convert::spec_to(&entry.spec)),
        options: Some(options_to(&entry.options)),
        state: state.into(),
        created: entry.created,
        seconds,
        depth: last.map(|last| last.depth),
        layer_states: last.map_or(0, |last| last.layer_states),
        states: last.map_or(0, |last| last.states),
        positions: last.map_or(0, |last| last.positions),
        orbits: last.and_then(|last| last.orbits),
        checkpoint: entry.checkpoint.as_ref().map(|checkpoint| checkpoint.depth),
        queue_position: if queued { before as u32 } else { 0 },
        waiting_for: now.waiting_for,
        error,
        exit_code,
        result: result(entry),
        workers: now.workers as u32,
        expected_layers: entry.expected_layers,
        limit: limit(&entry.state).into(),
        ended: entry.ended,
        engine_reason: entry.options.engine.reason.clone(),
        expected_states: entry.expected_states,
        work_done: now.figures.and_then(|figures| figures.share_of_work).or(entry.work_done),
        eta_low_seconds: left.map(|left| left.low),
        eta_high_seconds: left.map(|left| left.high),
        states_per_second: now.figures.map(|figures| figures.rate).filter(|_| !waiting),
        mean_states_per_second: now.figures.and(mean_rate),
        checkpoint_at: entry.checkpoint.as_ref().map(|checkpoint| checkpoint.made),
        worker_names: now.worker_names,
    }
}

fn limit(state: &JobState) -> v1::Limit {
    match state {
        JobState::Stopped(StopReason::MaxLayers) => v1::Limit::MaxLayers,
        JobState::Stopped(StopReason::DiskLimit) => v1::Limit::Disk,
        JobState::Stopped(StopReason::DiskFull) => v1::Limit::DiskFull,
        JobState::Stopped(StopReason::MemoryFull) => v1::Limit::MemoryFull,
        _ => v1::Limit::Unspecified,
    }
}

/// The state, and the exit code of a client that waits for the job.
fn state(entry: &JobEntry, waiting: bool) -> (v1::JobState, u32) {
    let unreached = entry.result.as_ref().is_some_and(|result| result.moves.is_none());
    let exhaust = Parameter::EXHAUST.is_on(&entry.spec.params);
    match &entry.state {
        JobState::Queued => (v1::JobState::Queued, 0),
        JobState::Running if waiting => (v1::JobState::Waiting, 0),
        JobState::Running => (v1::JobState::Running, 0),
        JobState::Stopped(_) => (v1::JobState::Stopped, EXIT_LIMIT),
        JobState::Cancelled => (v1::JobState::Cancelled, EXIT_LIMIT),
        JobState::Failed { corrupt, .. } => {
            (v1::JobState::Failed, if *corrupt { EXIT_CORRUPT } else { EXIT_FAILED })
        }
        JobState::Done => {
            (v1::JobState::Done, if unreached && !exhaust { EXIT_NO_GOAL } else { 0 })
        }
    }
}

fn result(entry: &JobEntry) -> Option<v1::JobResult> {
    let found = entry.result.as_ref()?;
    let Totals { widest_depth, layer_bytes, spilled, .. } =
        entry.progress.clone().unwrap_or_default();
    Some(v1::JobResult {
        moves: found.moves,
        layers: found.layers,
        states: found.states,
        positions: found.positions,
        orbits: found.orbits,
        generated: found.generated,
        widest: found.widest,
        widest_depth,
        digest: Some(convert::digest_to(found.digest)),
        disk_peak_bytes: found.disk_peak_bytes,
        spilled_bytes: spilled,
        layer_bytes,
        peak_rss_bytes: found.peak_rss_bytes,
        peak_rss_worker: entry.peak_rss_worker.clone().unwrap_or_default(),
        seconds: found.seconds,
    })
}

/// A worker as a message. `members` are the workers that connected since the start.
pub(super) fn worker(entry: &WorkerEntry, members: &[MemberView]) -> v1::WorkerInfo {
    let member = members.iter().find(|member| member.entry.number == entry.number);
    let beat = member.map(|member| member.beat).unwrap_or_default();
    v1::WorkerInfo {
        number: u32::from(entry.number),
        name: entry.name.clone(),
        address: entry.address.clone(),
        alive: member.is_some_and(|member| member.alive),
        threads: member.map_or(0, |member| member.threads),
        memory_bytes: member.map_or(0, |member| member.memory_bytes),
        rss_bytes: beat.rss_bytes,
        disk_free_bytes: beat.disk_free_bytes,
        silent_ms: member.map_or(0, |member| member.silent.as_millis() as u64),
        leaving: beat.leaving,
        machine: member.and_then(|member| member.machine.clone()),
    }
}

/// A log entry as a message.
pub(super) fn log_line(entry: LogEntry) -> v1::LogLine {
    let text = entry.to_string();
    let LogEntry { time_ms, level, message, fields } = entry;
    let fields = fields.into_iter().map(|LogField { name, text, number }| v1::LogField {
        name,
        text,
        number,
    });
    let fields = fields.collect();
    v1::LogLine { time_ms, level: level.name().to_owned(), text, message, fields }
}

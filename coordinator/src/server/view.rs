//! Jobs and workers as clients see them.

use strata_net::convert;
use strata_proto::v1;

use crate::cluster::job_view::{JobEvent, JobSnapshot, JobView, LogEntry, SpaceInfo};
use crate::cluster::membership::MemberView;
use crate::entry::{JobEntry, JobOptions, JobState, Limit, WorkerEntry};
use strata::{KeepLayers, Totals};

/// A job; `jobs` are all of them.
pub(crate) fn job(entry: &JobEntry, live: &JobView, jobs: &[JobEntry]) -> v1::Job {
    let glance = live.snapshot();
    let SpaceInfo { expected_layers, .. } = live.facts(&entry.spec);
    let waiting = glance.workers == 0 && entry.state == JobState::Running;
    let before = |other: &&JobEntry| {
        other.state == JobState::Running
            || (other.state == JobState::Queued && other.order < entry.order)
    };
    let queued = entry.state == JobState::Queued;
    let (state, exit_code) = state(entry, waiting);
    let error = match &entry.state {
        JobState::Failed { why, .. } => why.clone(),
        JobState::Stopped(limit) => limit.to_string(),
        _ => String::new(),
    };
    v1::Job {
        id: entry.id.clone(),
        name: entry.name.clone().unwrap_or_default(),
        spec: Some(convert::spec_to(&entry.spec)),
        options: Some(options(&entry.options)),
        state: state.into(),
        created: entry.created,
        seconds: entry.seconds.max(glance.last.as_ref().map_or(0.0, |line| line.seconds)),
        depth: glance.last.as_ref().map(|line| line.depth),
        layer_states: glance.last.as_ref().map_or(0, |line| line.states),
        states: glance.totals.states,
        checkpoint: entry.checkpoint.as_ref().map(|checkpoint| checkpoint.depth),
        queue_position: if queued { jobs.iter().filter(before).count() as u32 } else { 0 },
        waiting_for: glance.waiting_for.clone(),
        error,
        exit_code,
        result: result(entry, &glance),
        workers: glance.workers as u32,
        expected_layers,
        limit: limit(&entry.state).into(),
    }
}

fn limit(state: &JobState) -> v1::Limit {
    match state {
        JobState::Stopped(Limit::MaxLayers) => v1::Limit::MaxLayers,
        JobState::Stopped(Limit::DiskLimit) => v1::Limit::Disk,
        JobState::Stopped(Limit::DiskFull) => v1::Limit::DiskFull,
        JobState::Stopped(Limit::MemoryFull) => v1::Limit::MemoryFull,
        _ => v1::Limit::Unspecified,
    }
}

/// The state, and the exit code of a client that has waited for it.
fn state(entry: &JobEntry, waiting: bool) -> (v1::JobState, u32) {
    let unreached = entry.result.as_ref().is_some_and(|result| result.moves.is_none());
    let exhaust = entry.spec.params.get("exhaust").is_some_and(|value| value == "true");
    match &entry.state {
        JobState::Queued => (v1::JobState::Queued, 0),
        JobState::Running if waiting => (v1::JobState::Waiting, 0),
        JobState::Running => (v1::JobState::Running, 0),
        JobState::Stopped(_) => (v1::JobState::Stopped, 4),
        JobState::Cancelled => (v1::JobState::Cancelled, 4),
        JobState::Failed { corrupt, .. } => (v1::JobState::Failed, if *corrupt { 12 } else { 5 }),
        JobState::Done => (v1::JobState::Done, if unreached && !exhaust { 3 } else { 0 }),
    }
}

fn options(options: &JobOptions) -> v1::JobOptions {
    let keep = match options.keep {
        KeepLayers::Last => v1::keep_layers::Which::Last(true),
        KeepLayers::All => v1::keep_layers::Which::All(true),
        KeepLayers::Every(step) => v1::keep_layers::Which::Every(step.get()),
    };
    v1::JobOptions {
        checkpoint_interval_ms: options.checkpoint_interval.map_or(0, |i| i.as_millis() as u64),
        max_layers: options.max_layers,
        disk_limit_bytes: options.disk_limit,
        keep: Some(v1::KeepLayers { which: Some(keep) }),
    }
}

fn result(entry: &JobEntry, glance: &JobSnapshot) -> Option<v1::JobResult> {
    let found = entry.result.as_ref()?;
    let Totals { widest_depth, layer_bytes, .. } = glance.totals;
    let spilled = entry.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.spilled);
    Some(v1::JobResult {
        moves: found.moves,
        layers: found.layers,
        states: found.states,
        generated: found.generated,
        widest: found.widest,
        widest_depth,
        digest: Some(v1::Digest { first: found.digest.0[0], second: found.digest.0[1] }),
        disk_peak_bytes: found.disk_peak_bytes,
        spilled_bytes: spilled,
        layer_bytes,
        peak_rss_bytes: found.peak_rss_bytes,
        seconds: found.seconds,
    })
}

/// A worker; `here` are those that have connected since the start.
pub(crate) fn worker(entry: &WorkerEntry, here: &[MemberView]) -> v1::WorkerInfo {
    let member = here.iter().find(|member| member.entry.number == entry.number);
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
    }
}

/// An event other than a change of state.
pub(crate) fn event(event: JobEvent) -> v1::job_event::Event {
    use v1::job_event::Event;
    match event {
        JobEvent::Layer(line) => Event::Layer(convert::line_to(&line)),
        JobEvent::Checkpoint { depth, bytes, took } => {
            let seconds = took.as_secs_f64();
            Event::Checkpoint(v1::CheckpointDone { depth, bytes, seconds })
        }
        JobEvent::RolledBack(depth) => Event::RolledBack(v1::RolledBack { depth }),
        JobEvent::State => Event::Job(v1::Job::default()),
        JobEvent::LogEntry(line) => Event::Note(note(line)),
    }
}

/// A line of the log.
pub(crate) fn note(note: LogEntry) -> v1::LogLine {
    v1::LogLine { time_ms: note.time_ms, level: note.level, text: note.text }
}

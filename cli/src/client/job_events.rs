//! Conversion of a job's messages to the events of the displays.
//!
//! Each layer is emitted once, in order of depth. A rollback drops the deeper ones. Layers that
//! are repeated after a reconnection are ignored.

use strata_proto::v1;
use strata_run::{LayerEvents, StopReason};
use strata_store::LayerRecord;

use crate::args::cluster::ClientArgs;
use crate::client::record;
use crate::output::events::{self, EarlyEnd, Event};
use crate::output::exit::ExitCode;
use crate::output::json;
use crate::output::layer::Layer;
use crate::spaces::request::{self, Naming};

/// Events of a job that is followed.
pub(crate) struct JobEvents<'a> {
    cluster: &'a ClientArgs,
    naming: Naming,
    /// Last state received.
    job: v1::Job,
    /// Layers received, by depth.
    layers: Vec<Received>,
    /// Layers up to this depth were complete when the job was first seen.
    replayed: Option<u32>,
}

/// A layer that was received.
struct Received {
    /// Positions of this layer.
    positions: u64,
    /// Totals up to this layer, from which the event of the next layer is made.
    events: LayerEvents,
}

/// A layer arrived before its predecessor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gap;

/// How a job ended.
pub(crate) struct Ending {
    pub(crate) event: Event,
    pub(crate) code: ExitCode,
    /// Message of a failed job, one line.
    pub(crate) failure: Option<String>,
}

impl<'a> JobEvents<'a> {
    /// Starts from the state of a job. The layers so far are marked as replayed.
    pub(crate) fn new(job: v1::Job, cluster: &'a ClientArgs) -> Self {
        let spec = record::spec(&job);
        let naming = Naming::new(&job.id, spec.space, &spec.parameters);
        let replayed = job.depth;
        JobEvents { cluster, naming, job, layers: Vec::new(), replayed }
    }

    /// Last state received.
    pub(crate) fn job(&self) -> &v1::Job {
        &self.job
    }

    /// Stores a new state of the job.
    pub(crate) fn update(&mut self, job: v1::Job) {
        self.job = job;
    }

    /// Depth of the last layer received.
    pub(crate) fn depth(&self) -> Option<u32> {
        u32::try_from(self.layers.len()).ok()?.checked_sub(1)
    }

    /// Whether the job has ended and all its layers were received.
    pub(crate) fn is_complete(&self) -> bool {
        record::has_ended(&self.job) && self.depth() >= self.job.depth
    }

    /// The event that starts the displays.
    pub(crate) fn beginning(&self) -> Event {
        let spec = record::spec(&self.job);
        // The protocol does not say where a running job resumed.
        let is_running = self.job.state() == v1::JobState::Running;
        Event::Job(events::Job {
            job: self.job.id.clone(),
            space: spec.space.to_owned(),
            params: json::parameters(&request::shown(spec.space, &spec.parameters)),
            engine: spec.engine.name(),
            engine_reason: record::engine_reason(&self.job),
            shards: spec.shards,
            // Each worker has its own.
            data_dir: String::new(),
            threads: 0,
            memory_bytes: 0,
            workers: self.job.workers as usize,
            resumed_from: self.job.checkpoint.filter(|_| !is_running),
        })
    }

    /// The event of a layer; none if the layer was received before.
    ///
    /// # Errors
    /// If an earlier layer is missing.
    pub(crate) fn layer(&mut self, layer: LayerRecord) -> Result<Option<Event>, Gap> {
        match (layer.depth as usize).cmp(&self.layers.len()) {
            std::cmp::Ordering::Less => return Ok(None),
            std::cmp::Ordering::Greater => return Err(Gap),
            std::cmp::Ordering::Equal => {}
        }
        let replayed = self.replayed.is_some_and(|replayed| layer.depth <= replayed);
        let mut events = self.layers.last().map(|last| last.events).unwrap_or_default();
        let event = events.next(layer, replayed);
        let LayerRecord { positions, states, .. } = event.layer;
        self.layers.push(Received { positions, events });
        let positions = self.naming.positions(positions, states);
        Ok(Some(Event::Layer(Layer { event, positions })))
    }

    /// Drops the layers after a depth, or all of them. Returns the event, or none if nothing is
    /// dropped.
    pub(crate) fn roll_back(&mut self, depth: Option<u32>) -> Option<Event> {
        let left = depth.map_or(0, |depth| depth as usize + 1);
        self.replayed = self.replayed.min(depth);
        if self.layers.len() <= left {
            return None;
        }
        self.layers.truncate(left);
        Some(Event::RolledBack(events::RolledBack { depth }))
    }

    /// How the job ended; none if it has not ended.
    pub(crate) fn ending(&self) -> Option<Ending> {
        match self.job.state() {
            v1::JobState::Done => Some(self.done()),
            v1::JobState::Stopped => {
                Some(self.stopped(EarlyEnd::Stopped(stop_reason(&self.job)), ExitCode::Limit))
            }
            v1::JobState::Cancelled => Some(self.stopped(EarlyEnd::Cancelled, ExitCode::Limit)),
            v1::JobState::Failed => Some(self.failed()),
            _ => None,
        }
    }

    fn done(&self) -> Ending {
        let Some(result) = &self.job.result else {
            return self.failed();
        };
        let summary = record::summary(&self.job, result, Some(&self.naming), self.farthest());
        let code = ExitCode::of_outcome(summary.outcome);
        Ending { event: Event::Result(summary), code, failure: None }
    }

    /// The last layer with a position; none if positions are not counted.
    fn farthest(&self) -> Option<events::Farthest> {
        let depth = self.layers.iter().rposition(|layer| layer.positions > 0)?;
        let positions = self.layers[depth].positions;
        Some(events::Farthest { depth: depth as u32, positions })
    }

    fn stopped(&self, reason: EarlyEnd, code: ExitCode) -> Ending {
        let event = Event::Stopped(events::Stopped {
            reason,
            depth: self.job.checkpoint.or(self.job.depth).unwrap_or(0),
            resume_command: self.cluster.command("resume", &self.job.id),
        });
        Ending { event, code, failure: None }
    }

    fn failed(&self) -> Ending {
        let job = &self.job;
        let code = match ExitCode::of(job.exit_code) {
            None | Some(ExitCode::Done) => ExitCode::JobFailed,
            Some(code) => code,
        };
        let error = match &*job.error {
            "" => "the coordinator gives no reason".to_owned(),
            error => error.to_owned(),
        };
        let failure = format!("job {} failed: {error}", job.id);
        let event = Event::Failed(events::Failed {
            error,
            exit_code: code as u8,
            depth: job.depth,
            resume_command: self.cluster.command("resume", &job.id),
        });
        Ending { event, code, failure: Some(failure) }
    }
}

/// Why a job stopped.
fn stop_reason(job: &v1::Job) -> StopReason {
    match job.limit() {
        v1::Limit::MaxLayers => StopReason::MaxLayers,
        v1::Limit::Disk => StopReason::DiskLimit,
        v1::Limit::DiskFull => StopReason::DiskFull,
        v1::Limit::MemoryFull => StopReason::MemoryFull,
        v1::Limit::Unspecified => StopReason::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use strata_run::LayerEvent;
    use v1::JobState;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::client::record::tests::job;

    fn cluster() -> ClientArgs {
        match Cli::try_parse_from(["strata", "list"]).unwrap().command {
            Command::List(args) => args.client,
            other => panic!("not list: {other:?}"),
        }
    }

    fn line(depth: u32) -> LayerRecord {
        LayerRecord {
            depth,
            states: u64::from(depth) + 1,
            seconds: f64::from(depth) * 0.5,
            ..LayerRecord::default()
        }
    }

    fn layer_event(event: Option<Event>) -> LayerEvent {
        match event {
            Some(Event::Layer(layer)) => layer.event,
            other => panic!("not a layer: {other:?}"),
        }
    }

    #[test]
    fn layers_add_up_and_are_emitted_once() {
        let cluster = cluster();
        let mut job_events = JobEvents::new(job(JobState::Running), &cluster);
        for depth in 0..4 {
            let layer = layer_event(job_events.layer(line(depth)).unwrap());
            let depth = u64::from(depth);
            assert_eq!(layer.total_states, (depth + 1) * (depth + 2) / 2);
            assert_eq!(layer.took, if depth == 0 { 0.0 } else { 0.5 });
        }
        assert!(job_events.layer(line(2)).unwrap().is_none());
        assert_eq!(job_events.layer(line(5)).unwrap_err(), Gap);
        assert_eq!(job_events.depth(), Some(3));
    }

    #[test]
    fn earlier_layers_are_marked_as_replayed() {
        let cluster = cluster();
        let begun = v1::Job { depth: Some(1), ..job(JobState::Running) };
        let mut job_events = JobEvents::new(begun, &cluster);
        let replayed = |job_events: &mut JobEvents, depth| {
            layer_event(job_events.layer(line(depth)).unwrap()).replayed
        };
        assert_eq!([0, 1, 2].map(|depth| replayed(&mut job_events, depth)), [true, true, false]);
        assert!(job_events.roll_back(Some(0)).is_some());
        assert_eq!([1, 2].map(|depth| replayed(&mut job_events, depth)), [false, false]);
    }

    #[test]
    fn a_rollback_drops_deeper_layers() {
        let cluster = cluster();
        let mut job_events = JobEvents::new(job(JobState::Running), &cluster);
        for depth in 0..4 {
            job_events.layer(line(depth)).unwrap();
        }
        assert!(job_events.roll_back(Some(3)).is_none());
        let Some(Event::RolledBack(back)) = job_events.roll_back(Some(1)) else {
            panic!("no event")
        };
        assert_eq!((back.depth, job_events.depth()), (Some(1), Some(1)));
        assert_eq!(layer_event(job_events.layer(line(2)).unwrap()).total_states, 6);
        assert!(job_events.roll_back(None).is_some());
        assert_eq!(job_events.depth(), None);
        assert_eq!(layer_event(job_events.layer(line(0)).unwrap()).total_states, 1);
    }

    #[test]
    fn a_job_is_complete_when_its_layers_are() {
        let cluster = cluster();
        let done = v1::Job { depth: Some(1), ..job(JobState::Done) };
        let mut job_events = JobEvents::new(done, &cluster);
        job_events.layer(line(0)).unwrap();
        assert!(!job_events.is_complete());
        job_events.layer(line(1)).unwrap();
        assert!(job_events.is_complete());
        job_events.update(v1::Job { depth: Some(1), ..job(JobState::Running) });
        assert!(!job_events.is_complete() && job_events.ending().is_none());
    }

    #[test]
    fn stop_reasons_follow_the_limits() {
        let reasons = [
            (v1::Limit::MaxLayers, StopReason::MaxLayers),
            (v1::Limit::Disk, StopReason::DiskLimit),
            (v1::Limit::DiskFull, StopReason::DiskFull),
            (v1::Limit::MemoryFull, StopReason::MemoryFull),
        ];
        for (limit, reason) in reasons {
            let job = v1::Job { limit: limit.into(), ..job(JobState::Stopped) };
            assert_eq!(stop_reason(&job), reason);
        }
    }

    #[test]
    fn every_ending_has_an_exit_code() {
        let cluster = cluster();
        let code = |job: v1::Job| {
            let ending = JobEvents::new(job, &cluster).ending();
            ending.map(|ending| (ending.code, ending.failure.is_some()))
        };
        let failed = |exit_code| v1::Job { exit_code, ..job(JobState::Failed) };
        assert_eq!(code(failed(12)), Some((ExitCode::Corrupt, true)));
        assert_eq!(code(failed(0)), Some((ExitCode::JobFailed, true)));
        assert_eq!(code(failed(77)), Some((ExitCode::JobFailed, true)));
        assert_eq!(code(job(JobState::Stopped)), Some((ExitCode::Limit, false)));
        assert_eq!(code(job(JobState::Cancelled)), Some((ExitCode::Limit, false)));
        assert_eq!(code(job(JobState::Running)), None);
        let result = |moves, exhaust: &str| {
            let mut done = v1::Job {
                result: Some(v1::JobResult { moves, ..Default::default() }),
                ..job(JobState::Done)
            };
            let spec = done.spec.as_mut().unwrap();
            spec.parameters.insert("exhaust".to_owned(), exhaust.to_owned());
            code(done)
        };
        assert_eq!(result(Some(42), "false"), Some((ExitCode::Done, false)));
        assert_eq!(result(None, "true"), Some((ExitCode::Done, false)));
        assert_eq!(result(None, "false"), Some((ExitCode::NoGoal, false)));
        assert_eq!(code(job(JobState::Done)), Some((ExitCode::JobFailed, true)));
    }

    #[test]
    fn the_first_event_names_the_search() {
        let cluster = cluster();
        let running = v1::Job { workers: 3, ..job(JobState::Running) };
        let Event::Job(first) = JobEvents::new(running, &cluster).beginning() else {
            panic!("not a job")
        };
        assert!(first.is_remote());
        assert_eq!((first.space.as_str(), first.shards, first.workers), ("panex", 64, 3));
        assert_eq!(first.params["level"], 3);
    }
}

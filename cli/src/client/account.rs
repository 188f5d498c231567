//! What happens in a job, as events: messages of the protocol in, what the displays show out.
//!
//! Layers come in order of depth, each once. A rollback forgets the deeper ones; layers that come
//! a second time without one, after a new connection, are passed over.

use strata_proto::v1;

use crate::args::cluster::ClientArgs;
use crate::client::record;
use crate::output::events::{self, Event};
use crate::output::exit::ExitCode;
use crate::spaces::request::{self, Naming};

/// What is known of a job that is being followed.
pub(crate) struct Account<'a> {
    cluster: &'a ClientArgs,
    naming: Naming,
    /// The job as it was last told.
    job: v1::Job,
    /// By depth.
    layers: Vec<Known>,
    /// Layers up to this depth were there before.
    replayed: Option<u32>,
}

/// A layer that was told.
#[derive(Clone, Copy)]
struct Known {
    /// States up to it.
    states: u64,
    /// Seconds up to it.
    end: f64,
}

/// A layer came whose predecessor has not come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gap;

/// How a job ended.
pub(crate) struct Ending {
    pub(crate) event: Event,
    pub(crate) code: ExitCode,
    /// What went wrong, in a line.
    pub(crate) failure: Option<String>,
}

impl<'a> Account<'a> {
    /// Begins with the job as it is: its layers until now will be told as replayed.
    pub(crate) fn new(job: v1::Job, cluster: &'a ClientArgs) -> Self {
        let spec = record::spec(&job);
        let naming = Naming::new(&job.id, spec.space, &spec.parameters);
        let replayed = job.depth;
        Account { cluster, naming, job, layers: Vec::new(), replayed }
    }

    /// The job as it was last told.
    pub(crate) fn job(&self) -> &v1::Job {
        &self.job
    }

    /// Takes the job's new state.
    pub(crate) fn update(&mut self, job: v1::Job) {
        self.job = job;
    }

    /// Depth of the last layer told.
    pub(crate) fn depth(&self) -> Option<u32> {
        u32::try_from(self.layers.len()).ok()?.checked_sub(1)
    }

    /// Whether the job has ended and all its layers were told.
    pub(crate) fn is_complete(&self) -> bool {
        record::has_ended(&self.job) && self.depth() >= self.job.depth
    }

    /// The first event.
    pub(crate) fn beginning(&self) -> Event {
        let spec = record::spec(&self.job);
        // Where a run that is under way came from is not told.
        let is_running = self.job.state() == v1::JobState::Running;
        Event::Job(events::Job {
            job: self.job.id.clone(),
            space: spec.space.to_owned(),
            params: request::json(&spec.parameters),
            engine: spec.engine.name(),
            shards: spec.shards,
            // These belong to the workers, each of which has its own.
            data_dir: String::new(),
            threads: 0,
            memory_bytes: 0,
            workers: self.job.workers as usize,
            resumed_from: self.job.checkpoint.filter(|_| !is_running),
        })
    }

    /// Takes a layer; none if it is known already.
    pub(crate) fn layer(&mut self, line: &v1::LayerLine) -> Result<Option<Event>, Gap> {
        match (line.depth as usize).cmp(&self.layers.len()) {
            std::cmp::Ordering::Less => return Ok(None),
            std::cmp::Ordering::Greater => return Err(Gap),
            std::cmp::Ordering::Equal => {}
        }
        let before = self.layers.last().copied().unwrap_or(Known { states: 0, end: 0.0 });
        let total = before.states.saturating_add(line.states);
        self.layers.push(Known { states: total, end: line.seconds });
        Ok(Some(Event::Layer(events::Layer {
            depth: line.depth,
            states: line.states,
            generated: line.generated,
            regions: line.regions,
            bytes: line.bytes,
            digest: record::digest(line.digest),
            seconds: took(line.seconds, before.end),
            total_states: total,
            replayed: self.replayed.is_some_and(|replayed| line.depth <= replayed),
        })))
    }

    /// Forgets the layers after a depth, or all of them. None if there is nothing to forget.
    pub(crate) fn roll_back(&mut self, depth: Option<u32>) -> Option<Event> {
        let left = depth.map_or(0, |depth| depth as usize + 1);
        self.replayed = self.replayed.min(depth);
        if self.layers.len() <= left {
            return None;
        }
        self.layers.truncate(left);
        Some(Event::RolledBack(events::RolledBack { depth }))
    }

    /// How it ended, if it did.
    pub(crate) fn ending(&self) -> Option<Ending> {
        match self.job.state() {
            v1::JobState::Done => Some(self.done()),
            v1::JobState::Stopped => Some(self.stopped(stop_reason(&self.job), ExitCode::Limit)),
            v1::JobState::Cancelled => {
                Some(self.stopped(events::StopReason::Cancelled, ExitCode::Limit))
            }
            v1::JobState::Failed => Some(self.failed()),
            _ => None,
        }
    }

    fn done(&self) -> Ending {
        let Some(result) = &self.job.result else {
            return self.failed();
        };
        let summary = record::summary(&self.job, result, &self.naming);
        let code = match summary.outcome {
            events::Outcome::NoGoal => ExitCode::NoGoal,
            events::Outcome::Goal | events::Outcome::Exhausted => ExitCode::Done,
        };
        Ending { event: Event::Result(summary), code, failure: None }
    }

    fn stopped(&self, reason: events::StopReason, code: ExitCode) -> Ending {
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
            "" => "the coordinator does not say why".to_owned(),
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

/// Time between two readings of the job's clock.
pub(crate) fn took(end: f64, before: f64) -> f64 {
    (end - before).max(0.0)
}

/// Why a job stopped.
fn stop_reason(job: &v1::Job) -> events::StopReason {
    match job.limit() {
        v1::Limit::MaxLayers => events::StopReason::MaxLayers,
        v1::Limit::Disk => events::StopReason::DiskLimit,
        v1::Limit::DiskFull => events::StopReason::DiskFull,
        v1::Limit::MemoryFull => events::StopReason::MemoryFull,
        v1::Limit::Unspecified => events::StopReason::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
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

    fn line(depth: u32) -> v1::LayerLine {
        v1::LayerLine {
            depth,
            states: u64::from(depth) + 1,
            seconds: f64::from(depth) * 0.5,
            ..v1::LayerLine::default()
        }
    }

    fn told(event: Option<Event>) -> events::Layer {
        match event {
            Some(Event::Layer(layer)) => layer,
            other => panic!("not a layer: {other:?}"),
        }
    }

    #[test]
    fn layers_add_up_and_come_once() {
        let cluster = cluster();
        let mut account = Account::new(job(JobState::Running), &cluster);
        for depth in 0..4 {
            let layer = told(account.layer(&line(depth)).unwrap());
            let depth = u64::from(depth);
            assert_eq!(layer.total_states, (depth + 1) * (depth + 2) / 2);
            assert_eq!(layer.seconds, if depth == 0 { 0.0 } else { 0.5 });
        }
        assert!(account.layer(&line(2)).unwrap().is_none());
        assert_eq!(account.layer(&line(5)).unwrap_err(), Gap);
        assert_eq!(account.depth(), Some(3));
    }

    #[test]
    fn what_was_there_before_is_replayed() {
        let cluster = cluster();
        let begun = v1::Job { depth: Some(1), ..job(JobState::Running) };
        let mut account = Account::new(begun, &cluster);
        let replayed =
            |account: &mut Account, depth| told(account.layer(&line(depth)).unwrap()).replayed;
        assert_eq!([0, 1, 2].map(|depth| replayed(&mut account, depth)), [true, true, false]);
        assert!(account.roll_back(Some(0)).is_some());
        assert_eq!([1, 2].map(|depth| replayed(&mut account, depth)), [false, false]);
    }

    #[test]
    fn a_rollback_forgets() {
        let cluster = cluster();
        let mut account = Account::new(job(JobState::Running), &cluster);
        for depth in 0..4 {
            account.layer(&line(depth)).unwrap();
        }
        assert!(account.roll_back(Some(3)).is_none());
        let Some(Event::RolledBack(back)) = account.roll_back(Some(1)) else { panic!("no event") };
        assert_eq!((back.depth, account.depth()), (Some(1), Some(1)));
        assert_eq!(told(account.layer(&line(2)).unwrap()).total_states, 6);
        assert!(account.roll_back(None).is_some());
        assert_eq!(account.depth(), None);
        assert_eq!(told(account.layer(&line(0)).unwrap()).total_states, 1);
    }

    #[test]
    fn a_job_is_complete_when_its_layers_are() {
        let cluster = cluster();
        let done = v1::Job { depth: Some(1), ..job(JobState::Done) };
        let mut account = Account::new(done, &cluster);
        account.layer(&line(0)).unwrap();
        assert!(!account.is_complete());
        account.layer(&line(1)).unwrap();
        assert!(account.is_complete());
        account.update(v1::Job { depth: Some(1), ..job(JobState::Running) });
        assert!(!account.is_complete() && account.ending().is_none());
    }

    #[test]
    fn reasons_of_a_stop() {
        use events::StopReason;
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
    fn endings_have_codes() {
        let cluster = cluster();
        let code = |job: v1::Job| {
            let ending = Account::new(job, &cluster).ending();
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
        let Event::Job(first) = Account::new(running, &cluster).beginning() else {
            panic!("not a job")
        };
        assert!(first.is_remote());
        assert_eq!((first.space.as_str(), first.shards, first.workers), ("panex", 64, 3));
        assert_eq!(first.params["level"], 3);
    }
}

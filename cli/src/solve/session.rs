//! The driver: carries the plan's commands to the workers and their answers back, and keeps the
//! job's history and manifest.

use std::sync::Arc;
use std::time::Instant;

use strata_coordinator::{
    Command, Input, LayerNumbers, LayerSummary, Outcome, Plan, PlanOptions, Publication, Refusal,
    Report, Start, StopReason, Totals,
};
use strata_search::Engine;
use strata_space::Space;
use strata_store::{
    Checkpoint, Counters, Hex128, History, JobDir, JobResult, JobState, LayerLine, Manifest,
    StoreError,
};
use strata_worker::{LayerReport, Restore};

use super::crew::{Answer, Crew, Done, Order};
use super::signals::Signals;
use super::{Search, report, rule};
use crate::args::SolveArgs;
use crate::audit::{Ledger, summary_of};
use crate::events::{self, Event};
use crate::exit::{ExitCode, Failure};
use crate::progress::Progress;
use crate::rss;

/// Kept layers that may wait for a checkpoint: each holds a mapping.
const MOST_WAITING: usize = 1024;

/// A job's folder and what is known of it.
pub(super) struct Job {
    /// The folder.
    pub(super) folder: JobDir,
    /// Its manifest.
    pub(super) manifest: Manifest,
    /// Its history; empty without a checkpoint.
    pub(super) ledger: Ledger,
    /// Whether this session has made it.
    pub(super) new: bool,
}

/// Why a session ended without an end of the search.
enum Trouble {
    Store(StoreError),
    Refused(Refusal),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Trouble {
        Trouble::Store(error)
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Trouble {
        Trouble::Refused(refusal)
    }
}

/// One run of a job.
pub(super) struct Session<'a> {
    search: &'a Search,
    args: &'a SolveArgs,
    progress: &'a Progress,
    signals: &'a Signals,
    folder: JobDir,
    manifest: Manifest,
    history: History,
    crew: Crew,
    plan: Plan,
    restore: Option<Arc<Restore>>,
    started: Instant,
    /// Seconds of earlier sessions.
    before: f64,
    /// Seconds when the last layer was complete.
    layer_end: f64,
    last_checkpoint: Instant,
    /// When the workers were last told to save.
    saving: Instant,
}

impl<'a> Session<'a> {
    /// Makes the workers and shows what was found before.
    pub(super) fn start(
        search: &'a Search,
        args: &'a SolveArgs,
        progress: &'a Progress,
        signals: &'a Signals,
        (job, space): (Job, Space),
        started: Instant,
    ) -> Result<Session<'a>, Failure> {
        let Job { folder, mut manifest, ledger, new } = job;
        let resumed_from = manifest.checkpoint.as_ref().map(|checkpoint| checkpoint.depth);
        progress.emit(&report::job(search, args, &manifest.job, resumed_from));
        let history = match &manifest.checkpoint {
            Some(checkpoint) => folder.resume_history(&checkpoint.history)?.0,
            None => folder.create_history()?,
        };
        if !new {
            folder.remove_leftovers(&manifest, &ledger.lines)?;
            manifest.state = JobState::Running;
            folder.write_manifest(&manifest)?;
        }
        report::replay(&ledger.lines, progress);
        let engine = Arc::new(Engine::open(space, search.spec.shards));
        let options = PlanOptions {
            workers: args.workers,
            rule: rule(engine.finish()),
            max_layers: args.max_layers,
            disk_limit: args.disk_limit,
        };
        let (start, restore) = beginning(&manifest, &ledger);
        let crew = Crew::new(search, &engine, args, &folder)?;
        Ok(Session {
            search,
            args,
            progress,
            signals,
            crew,
            plan: Plan::new(options, start),
            restore,
            started,
            before: manifest.seconds,
            layer_end: manifest.seconds,
            last_checkpoint: Instant::now(),
            saving: started,
            folder,
            manifest,
            history,
        })
    }

    /// Searches until the end, or until something fails.
    pub(super) fn run(mut self) -> Result<ExitCode, Failure> {
        match self.drive() {
            Ok(outcome) => Ok(self.end(outcome)),
            Err(Trouble::Store(error)) if error.is_disk_full() => {
                tracing::error!("{error}");
                // No manifest names unfinished files: their room is free for what comes next.
                if let Err(error) = self.folder.remove_others(|name| !name.ends_with(".tmp")) {
                    tracing::warn!("{error}");
                }
                let depth = self.manifest.checkpoint.as_ref().map_or(0, |c| c.depth);
                Ok(self.stopped(StopReason::DiskFull, depth))
            }
            Err(Trouble::Store(error)) => Err(error.into()),
            Err(Trouble::Refused(refusal @ Refusal::Differs { .. })) => {
                let path = self.folder.path().display();
                Err(Failure::new(ExitCode::Corrupt, format!("{path} is corrupt: {refusal}")))
            }
            Err(Trouble::Refused(refusal)) => {
                Err(Failure::new(ExitCode::Unexpected, format!("the plan failed: {refusal}")))
            }
        }
    }

    fn drive(&mut self) -> Result<Outcome, Trouble> {
        loop {
            match self.plan.next_command() {
                Some(Command::Seed) => self.layer(&Order::Seed)?,
                Some(Command::Restore) => {
                    let from =
                        self.restore.take().ok_or(Refusal::NotAsked { what: "a restore" })?;
                    self.layer(&Order::Restore(from))?;
                }
                Some(Command::Advance { .. }) => self.layer(&Order::Advance)?,
                Some(Command::Commit(layer)) => self.commit(layer)?,
                Some(Command::Save { .. }) => self.save()?,
                Some(Command::Publish(publication)) => self.publish(*publication)?,
                Some(Command::End(outcome)) => return Ok(outcome),
                None => return Err(Refusal::NotAsked { what: "no command" }.into()),
            }
        }
    }

    fn seconds(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }

    /// All workers make a layer.
    fn layer(&mut self, order: &Order) -> Result<(), Trouble> {
        let answers = self.crew.run(order);
        if answers.iter().any(|answer| answer.done.is_err()) {
            return self.failed(order, answers);
        }
        if self.signals.stop() {
            self.plan.handle(Input::Stop(StopReason::Interrupted))?;
        }
        let reports = answers.iter().filter_map(|answer| match &answer.done {
            Ok(Done::Layer(report)) => Some(report.waiting),
            _ => None,
        });
        let late = self.last_checkpoint.elapsed() >= self.args.checkpoint_interval;
        if late || reports.sum::<usize>() > MOST_WAITING {
            self.plan.handle(Input::CheckpointDue)?;
        }
        for Answer { worker, done, .. } in answers {
            let Ok(Done::Layer(report)) = done else { continue };
            let depth = report.depth;
            let numbers = numbers(*report);
            self.plan.handle(Input::Layer(Report { worker, depth, numbers }))?;
        }
        Ok(())
    }

    /// A layer could not be made. If only the disk is full, what is there can be saved, as long
    /// as no worker has gone on.
    fn failed(&mut self, order: &Order, answers: Vec<Answer>) -> Result<(), Trouble> {
        let all = answers.iter().all(|answer| answer.done.is_err());
        let mut errors: Vec<StoreError> =
            answers.into_iter().filter_map(|answer| answer.done.err()).collect();
        let worst = errors.iter().position(|error| !error.is_disk_full());
        let error = errors.swap_remove(worst.unwrap_or(0));
        if !(matches!(order, Order::Advance) && all && worst.is_none()) {
            return Err(error.into());
        }
        tracing::error!("{error}");
        // The exits are used up: they are sent again when the job is resumed.
        self.folder.remove_others(|name| !name.starts_with("run-"))?;
        Ok(self.plan.handle(Input::GiveUp(StopReason::DiskFull))?)
    }

    fn commit(&mut self, layer: LayerSummary) -> Result<(), Trouble> {
        let seconds = self.seconds();
        let took = seconds - std::mem::replace(&mut self.layer_end, seconds);
        let line = LayerLine {
            depth: layer.depth,
            states: layer.states,
            generated: layer.generated,
            regions: layer.regions,
            bytes: layer.bytes,
            digest: Hex128(layer.digest.0),
            seconds,
            kept: Some(layer.kept).filter(|kept| !kept.is_empty()),
        };
        self.history.append(&line)?;
        let total = self.plan.totals().states;
        self.progress.emit(&report::layer(&line, took, total, false));
        Ok(())
    }

    fn save(&mut self) -> Result<(), Trouble> {
        self.saving = Instant::now();
        for Answer { worker, depth, done } in self.crew.run(&Order::Save) {
            if let Done::Saved(records) = done? {
                self.plan.handle(Input::Saved { worker, depth, records })?;
            }
        }
        Ok(())
    }

    fn publish(&mut self, publication: Publication) -> Result<(), Trouble> {
        let Publication { depth, records, totals, ending } = publication;
        let mut manifest = self.manifest.clone();
        manifest.seconds = self.seconds();
        (manifest.state, manifest.result) = match ending {
            None => (JobState::Running, None),
            Some(Outcome::Stopped(_)) => (JobState::Stopped, None),
            Some(Outcome::Goal(moves)) => {
                (JobState::Done, Some(result(Some(moves), &totals, manifest.seconds)))
            }
            Some(Outcome::Exhausted) => {
                (JobState::Done, Some(result(None, &totals, manifest.seconds)))
            }
        };
        let bytes = records.iter().map(|record| record.bytes).sum();
        manifest.checkpoint = Some(Checkpoint {
            depth,
            layers: records,
            history: self.history.checkpoint()?,
            counters: Counters {
                states: totals.states,
                generated: totals.generated,
                disk_peak_bytes: totals.disk_peak,
                spilled_bytes: totals.spilled,
            },
        });
        self.folder.write_manifest(&manifest)?;
        self.manifest = manifest;
        for answer in self.crew.run(&Order::Saved) {
            answer.done?;
        }
        let seconds = self.saving.elapsed().as_secs_f64();
        self.progress.emit(&Event::Checkpoint(events::Checkpoint { depth, bytes, seconds }));
        self.last_checkpoint = Instant::now();
        Ok(self.plan.handle(Input::Published { depth })?)
    }

    fn end(&self, outcome: Outcome) -> ExitCode {
        let totals = self.plan.totals();
        if let Outcome::Stopped(reason) = outcome {
            return self.stopped(reason, totals.depth);
        }
        let seconds = self.started.elapsed().as_secs_f64();
        match &self.manifest.result {
            Some(result) => report::result(self.search, self.progress, result, totals, seconds),
            // A publication with an end writes the result.
            None => ExitCode::Unexpected,
        }
    }

    fn stopped(&self, reason: StopReason, depth: u32) -> ExitCode {
        report::stopped(self.args, self.progress, reason, depth)
    }
}

/// Where the plan begins, and what the workers load for it.
fn beginning(manifest: &Manifest, ledger: &Ledger) -> (Start, Option<Arc<Restore>>) {
    let (Some(checkpoint), [before @ .., last]) = (&manifest.checkpoint, &*ledger.lines) else {
        return (Start::Seeds, None);
    };
    let kept = || ledger.lines.iter().flat_map(|line| line.kept.iter().flatten());
    // The workers count the two last layers themselves.
    let searched = manifest.files();
    let elsewhere = kept().filter(|kept| !searched.contains(&*kept.file));
    let start = Start::Checkpoint {
        totals: ledger.totals.clone(),
        last: summary_of(last),
        previous_bytes: before.last().map_or(0, |line| line.bytes),
        kept_bytes: elsewhere.map(|kept| kept.bytes).sum(),
    };
    let restore = Restore {
        depth: checkpoint.depth,
        records: checkpoint.layers.clone(),
        kept: kept().map(|kept| kept.file.clone()).collect(),
    };
    (start, Some(Arc::new(restore)))
}

fn numbers(report: LayerReport) -> LayerNumbers {
    let LayerReport { tally, bytes, kept, disk_bytes, disk_left, spilled_bytes, .. } = report;
    LayerNumbers {
        states: tally.states,
        regions: tally.regions,
        generated: tally.generated,
        digest: tally.digest,
        odd: tally.odd,
        even: tally.even,
        found: tally.found,
        bytes,
        disk_peak: disk_bytes,
        disk_left,
        spilled: spilled_bytes,
        kept,
    }
}

fn result(moves: Option<u64>, totals: &Totals, seconds: f64) -> JobResult {
    JobResult {
        moves,
        layers: totals.depth,
        states: totals.states,
        generated: totals.generated,
        widest: totals.widest,
        digest: Hex128(totals.digest.0),
        disk_peak_bytes: totals.disk_peak,
        peak_rss_bytes: rss::peak().unwrap_or(0),
        seconds,
    }
}

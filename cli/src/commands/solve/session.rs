//! One run of a job in this process: the driver with its workers, and the job's records.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use strata::catalogue::Space;
use strata::{
    CheckpointSink, DriveError, Driver, LayerSummary, Outcome, Plan, PlanOptions, Publication,
    Refusal, Retryable, Rule, Start, StopReason, Totals,
};
use strata::{Restore, SymbolicWorker};
use strata_store::{Checkpoint, Counters, History, JobDir, Manifest, RunState, StoreError};

use super::crew::{self, Crew, owners};
use super::report;
use super::run::{Search, rule};
use super::signals::Signals;
use crate::cli::SolveArgs;
use crate::folder::audit::Ledger;
use crate::output::events::{self, Event};
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;
use crate::output::rss;

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

/// How a run ended.
pub(super) enum Ended {
    /// With a result, which has been shown.
    Finished(ExitCode),
    /// Early.
    Stopped {
        /// Why.
        reason: StopReason,
        /// The last complete layer.
        depth: u32,
    },
}

/// One run of a job.
pub(super) struct Session<'a> {
    progress: &'a Progress,
    search: &'a Search,
    started: Instant,
    driver: Driver<Crew, Records<'a>>,
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
            manifest.state = RunState::Running;
            folder.write_manifest(&manifest)?;
        }
        report::replay(&ledger.lines, progress);
        let (start, restore) = beginning(&manifest, &ledger, args.workers);
        let (rule, crew) = crew(search, args, (&folder, space), restore)?;
        let (max_layers, disk_limit) = (args.max_layers, args.disk_limit);
        let options = PlanOptions { workers: args.workers, rule, max_layers, disk_limit };
        let before = manifest.seconds;
        let records = Records {
            progress,
            signals,
            folder,
            manifest,
            history,
            started,
            before,
            layer_end: before,
        };
        let driver =
            Driver::new(Plan::new(options, start), crew, records, args.checkpoint_interval);
        Ok(Session { progress, search, started, driver })
    }

    /// Searches until the end, or until something fails.
    pub(super) fn run(mut self) -> Result<Ended, Failure> {
        let outcome = self.driver.run();
        let records = self.driver.sink();
        match outcome {
            Ok(outcome) => Ok(self.end(outcome)),
            Err(DriveError::Failed(error)) => {
                let Some(reason) = error.exhausted() else { return Err(error.into()) };
                tracing::error!("{error}");
                // No manifest names unfinished files: their room is free for what comes next.
                if let Err(error) = records.folder.remove_others(|name| !name.ends_with(".tmp")) {
                    tracing::warn!("{error}");
                }
                let depth = records.manifest.checkpoint.as_ref().map_or(0, |c| c.depth);
                Ok(Ended::Stopped { reason, depth })
            }
            Err(DriveError::Refused(refusal @ Refusal::Differs { .. })) => {
                let path = records.folder.path().display();
                Err(Failure::new(ExitCode::Corrupt, format!("{path} is corrupt: {refusal}")))
            }
            Err(DriveError::Refused(refusal)) => {
                Err(Failure::new(ExitCode::Unexpected, format!("the plan failed: {refusal}")))
            }
        }
    }

    fn end(&self, outcome: Outcome) -> Ended {
        let totals = self.driver.totals();
        if let Outcome::Stopped(reason) = outcome {
            return Ended::Stopped { reason, depth: totals.depth };
        }
        let seconds = self.started.elapsed().as_secs_f64();
        Ended::Finished(match &self.driver.sink().manifest.result {
            Some(result) => report::result(self.search, self.progress, result, totals, seconds),
            // A publication with an end writes the result.
            None => ExitCode::Unexpected,
        })
    }
}

/// The workers, and what ends the search.
fn crew(
    search: &Search,
    args: &SolveArgs,
    (folder, space): (&JobDir, Space),
    restore: Arc<[Restore]>,
) -> Result<(Rule, Crew), Failure> {
    if let Some(budget) = search.budget {
        let engine = Arc::new(space.engine(search.spec.shards));
        let setups = crew::setups(search, budget, args, folder);
        return Ok((rule(engine.finish()), Crew::new(setups, &engine, folder, restore)?));
    }
    let form = space.nested().map_err(Failure::usage)?;
    let worker = SymbolicWorker::new(0, folder.clone(), form, search.symbolic(args))?;
    Ok((rule(worker.finish()), Crew::single(worker, folder, restore)))
}

/// Keeps the job's history and manifest, and shows what happens.
struct Records<'a> {
    progress: &'a Progress,
    signals: &'a Signals,
    folder: JobDir,
    manifest: Manifest,
    history: History,
    started: Instant,
    /// Seconds of earlier sessions.
    before: f64,
    /// Seconds when the last layer was complete.
    layer_end: f64,
}

impl Records<'_> {
    fn seconds(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }
}

impl CheckpointSink for Records<'_> {
    type Error = StoreError;

    fn stop(&mut self, _: &LayerSummary) -> Option<StopReason> {
        self.signals.stop().then_some(StopReason::Interrupted)
    }

    fn commit(&mut self, layer: LayerSummary, totals: &Totals) -> Result<(), StoreError> {
        let seconds = self.seconds();
        let took = seconds - std::mem::replace(&mut self.layer_end, seconds);
        let line = layer.into_line(seconds);
        self.history.append(&line)?;
        self.progress.emit(&report::layer(&line, took, totals.states, false));
        Ok(())
    }

    fn publish(&mut self, publication: Publication) -> Result<(), StoreError> {
        let Publication { depth, records, totals, ending } = publication;
        let mut manifest = self.manifest.clone();
        manifest.seconds = self.seconds();
        let result = |moves| totals.result(moves, rss::peak().unwrap_or(0), manifest.seconds);
        (manifest.state, manifest.result) = match ending {
            None => (RunState::Running, None),
            Some(Outcome::Stopped(_)) => (RunState::Stopped, None),
            Some(Outcome::Goal(moves)) => (RunState::Done, Some(result(Some(moves)))),
            Some(Outcome::Exhausted) => (RunState::Done, Some(result(None))),
        };
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
        Ok(())
    }

    fn checkpointed(&mut self, depth: u32, bytes: u64, took: Duration) {
        let seconds = took.as_secs_f64();
        self.progress.emit(&Event::Checkpoint(events::Checkpoint { depth, bytes, seconds }));
    }
}

/// Where the plan begins, and what each worker loads for it.
fn beginning(manifest: &Manifest, ledger: &Ledger, workers: usize) -> (Start, Arc<[Restore]>) {
    let (Some(checkpoint), [before @ .., last]) = (&manifest.checkpoint, &*ledger.lines) else {
        return (Start::Seeds, Arc::new([]));
    };
    let kept = || ledger.lines.iter().flat_map(|line| line.kept.iter().flatten());
    // The workers count the two last layers themselves.
    let searched = manifest.files();
    let elsewhere = kept().filter(|kept| !searched.contains(&*kept.file));
    let start = Start::Checkpoint {
        totals: ledger.totals.clone(),
        last: LayerSummary::of_line(last),
        previous_bytes: before.last().map_or(0, |line| line.bytes),
        kept_bytes: elsewhere.map(|kept| kept.bytes).sum(),
    };
    let writers = checkpoint.layers.iter().map(|record| record.worker as usize + 1).max();
    let owners_before = owners(manifest.spec.shards, writers.unwrap_or(1));
    let gone = checkpoint.layers.iter().filter(|record| record.worker as usize >= workers);
    let gone: HashSet<String> = gone.map(|record| record.file.clone()).collect();
    let restore = |worker| Restore {
        depth: checkpoint.depth,
        records: checkpoint.layers.clone(),
        owners_before: Arc::clone(&owners_before),
        kept: kept().map(|kept| kept.file.clone()).collect(),
        // The first worker looks after the files of those that are gone.
        retire: if worker == 0 { gone.clone() } else { HashSet::new() },
    };
    (start, (0..workers).map(restore).collect())
}

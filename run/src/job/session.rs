//! One run of a job in this process, with its driver, worker pool and records.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_space::Finish;
use strata_store::{
    Checkpoint, CheckpointFile, Counters, EncodeOptions, History, JobDir, JobResult, LayerRecord,
    LocalWidth, Manifest, RunState, StoreError,
};

use super::cancel::CancelToken;
use super::event::{Event, LayerEvents};
use super::folder::remove_parts;
use super::history::{JobHistory, read_history};
use super::request::Request;
use super::verify;
use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::local::budget::Budget;
use crate::local::dense::DenseWorker;
use crate::local::error::WorkerError;
use crate::local::pool::LocalPool;
use crate::local::restore::Restore;
use crate::local::symbolic::SymbolicWorker;
use crate::local::worker::Setup;
use crate::memory;
use crate::plan::driver::{CheckpointSink, DriveError, Driver, Retryable};
use crate::plan::machine::{
    Outcome, Plan, PlanOptions, Publication, ResumePoint, Start, StopReason,
};
use crate::plan::refusal::Refusal;
use crate::plan::sums::Totals;

/// Outcome of a run.
#[derive(Clone, Debug)]
pub enum Ended {
    /// The search is finished and has a result.
    Finished(Box<Finished>),
    /// The search stopped early; the job can be resumed.
    Stopped {
        /// Why.
        reason: StopReason,
        /// The last complete layer.
        depth: u32,
    },
}

/// The result of a finished search.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The recorded result.
    pub result: JobResult,
    /// Sums over all layers.
    pub totals: Totals,
    /// Time of this run in seconds; for a job that an earlier run finished, the time of all its runs.
    pub seconds: f64,
}

/// Cancellation, event receiver and start time of a run.
pub struct RunControl<'a> {
    /// Stops the run after the running layer.
    pub cancel: &'a CancelToken,
    /// Receives the events, on the calling thread.
    pub on_event: &'a mut dyn FnMut(&Event),
    /// When the run began.
    pub started: Instant,
}

/// Runs a job until the search ends or stops. `is_new` means that this process has created the job and has
/// not searched yet.
///
/// # Errors
/// Those of [`Job::run`](crate::Job::run).
pub(crate) fn run(
    request: &Request,
    folder: &JobDir,
    is_new: bool,
    space: Space,
    control: RunControl<'_>,
) -> Result<Ended> {
    let RunControl { cancel, on_event, started } = control;
    let mut manifest = folder.read_manifest()?;
    let ledger = checked_history(folder, &manifest)?;
    // The result records the peak memory of this run, not that of earlier work of the process.
    memory::reset_peak();
    on_event(&Event::Started {
        job: manifest.job.clone(),
        resumed_from: manifest.checkpoint.as_ref().map(|checkpoint| checkpoint.depth),
    });
    if manifest.state == RunState::Done {
        return finished_before(folder, manifest, &ledger, on_event);
    }
    let history = match &manifest.checkpoint {
        Some(checkpoint) => folder.resume_history(&checkpoint.history)?.0,
        None => folder.create_history()?,
    };
    if !is_new {
        folder.remove_leftovers(&manifest, &ledger.lines)?;
        remove_parts(folder)?;
        manifest.state = RunState::Running;
        manifest.run = Some(request.options().settings());
        folder.write_manifest(&manifest)?;
    }
    let layers = replay(&ledger, on_event);
    let options = request.options();
    let (start, restore) = starting_point(&manifest, &ledger, options.workers);
    let (rule, pool) = match pool(request, folder, space, restore) {
        // A new job whose search cannot begin is removed.
        Err(error @ Error::Space(_)) if is_new => {
            drop(history);
            folder.remove()?;
            return Err(error);
        }
        pool => pool?,
    };
    let plan_options = PlanOptions {
        rule,
        max_layers: options.max_layers,
        disk_limit: options.disk_limit,
        engine: request.spec().engine,
        is_directed: request.is_directed,
        is_folded: request.is_folded,
        states_are_orbits: request.spec().states_are_orbits(),
    };
    let before = manifest.seconds;
    let folder = folder.clone();
    let records = Records { on_event, cancel, folder, manifest, history, started, before, layers };
    let plan = Plan::new(plan_options, start);
    let mut driver = Driver::new(plan, pool, records, options.checkpoint_interval);
    let outcome = driver.run();
    ended(&driver, outcome, started)
}

/// Reads the history of a job, and checks its files.
fn checked_history(folder: &JobDir, manifest: &Manifest) -> Result<JobHistory> {
    let history = read_history(folder, manifest)?;
    if manifest.state == RunState::Done {
        verify::read_files(folder, manifest, &history)?;
    } else {
        // The workers check the checkpoint's own files when they load them.
        verify::read_kept_files(folder, manifest, &history)?;
    }
    Ok(history)
}

/// Emits the layers of earlier runs again.
fn replay(history: &JobHistory, on_event: &mut dyn FnMut(&Event)) -> LayerEvents {
    let mut layers = LayerEvents::default();
    for line in &history.lines {
        on_event(&Event::Layer(layers.next(line.clone(), true)));
    }
    layers
}

/// The result of a job that an earlier run finished.
fn finished_before(
    folder: &JobDir,
    manifest: Manifest,
    history: &JobHistory,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Ended> {
    // The earlier run may have been killed after it wrote the result and before it removed
    // leftovers. A search for its path may have been killed, too.
    folder.remove_leftovers(&manifest, &history.lines)?;
    remove_parts(folder)?;
    replay(history, on_event);
    let result = manifest.result.ok_or_else(|| StoreError::Inconsistent {
        file: folder.path().join("manifest.json"),
        what: format!("job {} is done without a result", folder.job()),
    })?;
    let (totals, seconds) = (history.totals.clone(), result.seconds);
    Ok(Ended::Finished(Box::new(Finished { result, totals, seconds })))
}

fn ended(
    driver: &Driver<LocalPool, Records<'_>>,
    outcome: std::result::Result<Outcome, DriveError<WorkerError>>,
    started: Instant,
) -> Result<Ended> {
    let records = driver.sink();
    let totals = driver.totals();
    match outcome {
        Ok(Outcome::Stopped(reason)) => Ok(Ended::Stopped { reason, depth: totals.depth }),
        Ok(Outcome::Goal(_) | Outcome::Exhausted) => {
            // A publication with an ending has written the result.
            let result = records.manifest.result.clone();
            let result =
                result.ok_or(Error::Plan(Refusal::NotRequested { what: "end of the search" }))?;
            let (totals, seconds) = (totals.clone(), started.elapsed().as_secs_f64());
            Ok(Ended::Finished(Box::new(Finished { result, totals, seconds })))
        }
        Err(DriveError::Failed(error)) => {
            let Some(reason) = error.exhausted() else { return Err(error.into()) };
            tracing::error!("{error}");
            if let Err(error) = remove_unfinished(&records.folder, &records.manifest) {
                tracing::warn!("{error}");
            }
            let depth = records.manifest.checkpoint.as_ref().map_or(0, |last| last.depth);
            Ok(Ended::Stopped { reason, depth })
        }
        Err(DriveError::Refused(refusal @ Refusal::Differs { .. })) => {
            Err(Error::Restored { folder: records.folder.path().to_owned(), refusal })
        }
        Err(DriveError::Refused(refusal)) => Err(Error::Plan(refusal)),
    }
}

/// Removes unfinished files to free disk space, except those that the manifest names.
///
/// # Errors
/// Those of [`JobDir::remove_others`].
fn remove_unfinished(
    folder: &JobDir,
    manifest: &Manifest,
) -> std::result::Result<usize, StoreError> {
    let named = manifest.files();
    folder.remove_others(|name| !name.ends_with(".tmp") || named.contains(name))
}

/// The workers, and the rule that ends the search.
fn pool(
    request: &Request,
    folder: &JobDir,
    space: Space,
    restore: Arc<[Restore]>,
) -> Result<(Finish<()>, LocalPool)> {
    if let Some(budget) = request.budget {
        let rule = space.finish().rule();
        let engine = Arc::new(space.engine(request.spec.shards));
        let setups = setups(request, engine.width(), budget, folder);
        return Ok((rule, LocalPool::explicit(setups, &engine, folder, restore)?));
    }
    if request.spec.engine.is_dense() {
        let dense = space.dense()?;
        // The space's own tables are not needed besides those of the dense form.
        drop(space);
        let rule = match dense.tables().goals() {
            [] => Finish::Exhausted,
            _ => Finish::State(()),
        };
        let owners = owners(request.spec.shards, request.options.workers);
        let worker = |number| {
            let setup = request.dense(number, &owners, folder);
            DenseWorker::new(setup, Arc::clone(&dense)).map(|worker| Box::new(worker) as _)
        };
        let workers = (0..request.options.workers).map(worker);
        let workers = workers.collect::<std::result::Result<Vec<_>, WorkerError>>()?;
        return Ok((rule, LocalPool::new(workers, folder, restore)?));
    }
    let form = space.nested()?;
    let worker = SymbolicWorker::new(0, folder.clone(), form, request.symbolic())?;
    Ok((worker.finish(), LocalPool::new(vec![Box::new(worker)], folder, restore)?))
}

/// The owner of each shard: every worker has a contiguous share.
fn owners(shards: u32, workers: usize) -> Arc<[u16]> {
    let all = shards as usize;
    (0..all).map(|shard| (shard * workers / all) as u16).collect()
}

fn setups(request: &Request, width: LocalWidth, budget: Budget, folder: &JobDir) -> Vec<Setup> {
    let options = request.options();
    let owners = owners(request.spec.shards, options.workers);
    let setup = |worker| Setup {
        worker,
        width,
        last_depth: options.max_layers,
        owners: Arc::clone(&owners),
        threads: options.threads,
        budget,
        encode: EncodeOptions::default(),
        keep: options.keep_layers,
        folder: folder.clone(),
    };
    (0..options.workers).map(setup).collect()
}

/// Sink of layers and checkpoints that writes the job's history and manifest, and emits events.
struct Records<'a> {
    on_event: &'a mut dyn FnMut(&Event),
    cancel: &'a CancelToken,
    folder: JobDir,
    manifest: Manifest,
    history: History,
    started: Instant,
    /// Seconds of earlier runs.
    before: f64,
    layers: LayerEvents,
}

impl CheckpointSink for Records<'_> {
    type Error = WorkerError;

    fn stop(&mut self, _: &LayerRecord) -> Option<StopReason> {
        self.cancel.is_cancelled().then_some(StopReason::Interrupted)
    }

    fn seconds(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }

    fn commit(&mut self, layer: LayerRecord, _: &Totals) -> std::result::Result<(), WorkerError> {
        self.history.append(&layer)?;
        (self.on_event)(&Event::Layer(self.layers.next(layer, false)));
        Ok(())
    }

    fn publish(&mut self, publication: Publication) -> std::result::Result<(), WorkerError> {
        let Publication { depth, records, totals, ending } = publication;
        let mut manifest = self.manifest.clone();
        manifest.seconds = self.seconds();
        let result = |moves| totals.result(moves, memory::peak().unwrap_or(0), manifest.seconds);
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
                positions: totals.positions,
                generated: totals.generated,
                disk_peak_bytes: totals.disk_peak,
                spilled_bytes: totals.spilled,
            },
        });
        self.folder.write_manifest(&manifest)?;
        self.manifest = manifest;
        Ok(())
    }

    fn abandoned(&mut self, error: &WorkerError) {
        tracing::error!("{error}");
    }

    fn checkpointed(&mut self, depth: u32, bytes: u64, took: Duration) {
        let seconds = took.as_secs_f64();
        (self.on_event)(&Event::Checkpoint { depth, bytes, seconds });
    }
}

/// The starting point of the plan, and the checkpoint that each worker restores.
fn starting_point(
    manifest: &Manifest,
    history: &JobHistory,
    workers: usize,
) -> (Start, Arc<[Restore]>) {
    let (Some(checkpoint), [before @ .., last]) = (&manifest.checkpoint, &*history.lines) else {
        return (Start::Seeds, Arc::new([]));
    };
    let kept = || history.lines.iter().flat_map(|line| &line.kept);
    // The workers report the bytes of the last two layers, so only other kept files are counted here.
    let searched = manifest.files();
    let elsewhere = kept().filter(|kept| !searched.contains(&*kept.file));
    let start = Start::Checkpoint(Box::new(ResumePoint {
        totals: history.totals.clone(),
        last: last.clone(),
        previous: before.last().cloned(),
        kept_bytes: elsewhere.map(|kept| kept.bytes).sum(),
        older_states: CheckpointFile::older_states(&checkpoint.layers),
    }));
    let writers = checkpoint.layers.iter().map(|record| record.worker as usize + 1).max();
    let owners_before = owners(manifest.spec.shards, writers.unwrap_or(1));
    let removed = checkpoint.layers.iter().filter(|record| record.worker as usize >= workers);
    let removed: HashSet<String> = removed.map(|record| record.file.clone()).collect();
    let restore = |worker| Restore {
        depth: checkpoint.depth,
        records: checkpoint.layers.clone(),
        owners_before: Arc::clone(&owners_before),
        kept: kept().map(|kept| kept.file.clone()).collect(),
        // The first worker manages the files of workers that no longer exist.
        inherited_files: if worker == 0 { removed.clone() } else { HashSet::new() },
    };
    (start, (0..workers).map(restore).collect())
}

#[cfg(test)]
mod tests {
    use strata_store::{EngineKind, Hex64, JobSpec, RealFs, Weight};

    use super::*;

    #[test]
    fn unfinished_files_are_removed_unless_the_manifest_names_them() {
        let dir = tempfile::tempdir().unwrap();
        let folder = JobDir::attach(Arc::new(RealFs), dir.path(), "job").unwrap();
        let file = |name: &str| CheckpointFile {
            depth: 3,
            worker: 0,
            file: name.to_owned(),
            bytes: 1,
            states: 1,
            positions: 1,
            regions: 1,
            generated: 1,
            digest: Weight([0; 2]),
            seal: Hex64(0),
        };
        let spec = JobSpec {
            space: "hanoi".to_owned(),
            params: Default::default(),
            shards: 1,
            engine: EngineKind::Explicit,
        };
        let mut manifest = Manifest::new("job", spec);
        manifest.checkpoint = Some(Checkpoint {
            depth: 3,
            layers: vec![file("layer-000003-000.strata"), file("older-000.1-0.tmp")],
            history: folder.create_history().unwrap().checkpoint().unwrap(),
            counters: Counters::default(),
        });
        let names = ["layer-000003-000.strata", "older-000.1-0.tmp", "layer-000.1-1.tmp"];
        for name in names {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        assert_eq!(remove_unfinished(&folder, &manifest).unwrap(), 1);
        assert_eq!(names.map(|name| folder.path().join(name).exists()), [true, true, false]);
    }
}

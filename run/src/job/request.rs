//! Checked request for a search: specification, resources and limits.

use std::sync::Arc;
use std::time::Duration;

use strata_space::dense::DenseFolding;
use strata_space::{Parameter, Work};
use strata_store::{EngineKind, JobDir, JobSpec, RunSettings};

use crate::catalogue::Space;
use crate::dense_memory::DenseMemory;
use crate::engine::{EngineNeeds, check_engine};
use crate::error::{Error, Result};
use crate::forecast::{Expected, Forecast, Resources};
use crate::keep_layers::{KeepLayers, KeepLayersError};
use crate::local::budget::Budget;
use crate::local::dense::DenseSetup;
use crate::local::symbolic::SymbolicWorker;
use crate::size::given_size;

/// Default number of shards: enough to balance over many workers.
pub const DEFAULT_SHARDS: u32 = 64;

/// Default number of states whose moves are checked for inverses. The check takes 0.04 s for the 3x3x3
/// with symmetry, whose successors are slow.
pub const REVERSIBLE_SAMPLES: usize = 64;

/// The default number of shards of a search: [`DEFAULT_SHARDS`], but at most the blocks of a dense space.
pub fn default_shards(engine: EngineKind, space: &Space) -> u32 {
    let dense = engine.is_dense().then(|| space.dense_size().ok()).flatten();
    dense.map_or(DEFAULT_SHARDS, |size| size.shape.blocks.min(DEFAULT_SHARDS))
}

/// With verification, the symbolic engine recomputes one in this many memoised steps.
const VERIFIED_ONE_IN: u32 = 64;

/// Resources and limits of a run. They may change from one run of a job to the next.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Threads of each worker, at least 1.
    pub threads: usize,
    /// Workers in this process, at least 1 and at most one per shard.
    pub workers: usize,
    /// Memory budget in bytes, for all workers together.
    pub memory: u64,
    /// Time between checkpoints.
    pub checkpoint_interval: Duration,
    /// Layers that stay on disk.
    pub keep_layers: KeepLayers,
    /// Depth at which to stop.
    pub max_layers: Option<u32>,
    /// Bytes on disk at which to stop.
    pub disk_limit: Option<u64>,
    /// Recompute one in 64 memoised steps of the symbolic engine, and compare.
    pub verify: bool,
    /// Number of states whose moves are checked for inverses before a search with the explicit engine, if
    /// the space is undirected.
    pub reversible_samples: usize,
}

impl RunOptions {
    /// The options of a job's last run from its manifest. Limits and checks apply to one run only; they
    /// get their defaults, and so do all options without `settings`.
    ///
    /// # Errors
    /// If the recorded layers to keep are invalid.
    pub fn of_last_run(
        settings: Option<&RunSettings>,
    ) -> std::result::Result<RunOptions, KeepLayersError> {
        let default = RunOptions::default();
        let Some(last) = settings else { return Ok(default) };
        Ok(RunOptions {
            threads: last.threads.max(1) as usize,
            workers: last.workers.max(1) as usize,
            memory: last.memory,
            checkpoint_interval: Duration::from_millis(last.checkpoint_interval_ms),
            keep_layers: last.keep_layers.parse()?,
            ..default
        })
    }

    /// The requirements of a search in one process with these options. `settings` has the names of the
    /// given settings.
    pub fn engine_needs<'a>(&self, settings: &'a [&'a str]) -> EngineNeeds<'a> {
        EngineNeeds {
            settings,
            path: false,
            memory: self.memory,
            threads: self.threads,
            disk_limit: self.disk_limit,
        }
    }

    /// The options as a manifest records them.
    pub(crate) fn settings(&self) -> RunSettings {
        RunSettings {
            threads: u32::try_from(self.threads).unwrap_or(u32::MAX),
            workers: u32::try_from(self.workers).unwrap_or(u32::MAX),
            memory: self.memory,
            checkpoint_interval_ms: u64::try_from(self.checkpoint_interval.as_millis())
                .unwrap_or(u64::MAX),
            keep_layers: self.keep_layers.to_string(),
        }
    }
}

impl Default for RunOptions {
    /// All processors, 1 GiB of memory, a checkpoint every 30 seconds, no limits.
    fn default() -> RunOptions {
        RunOptions {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            workers: 1,
            memory: 1 << 30,
            checkpoint_interval: Duration::from_secs(30),
            keep_layers: KeepLayers::Last,
            max_layers: None,
            disk_limit: None,
            verify: false,
            reversible_samples: REVERSIBLE_SAMPLES,
        }
    }
}

/// A checked request for a search.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) spec: JobSpec,
    pub(crate) label: String,
    pub(crate) forecast: Forecast,
    pub(crate) options: RunOptions,
    /// Division of the memory budget; None for engines that divide it themselves.
    pub(crate) budget: Option<Budget>,
    /// Whether a move need not have an inverse.
    pub(crate) is_directed: bool,
    /// Whether a state of the dense engine may stand for several positions.
    pub(crate) is_folded: bool,
    paths_need_layers: bool,
}

fn refused(option: &'static str, why: String) -> Error {
    Error::Option { option, why }
}

/// Checks the numbers of threads and workers.
fn check_threads(spec: &JobSpec, options: &RunOptions) -> Result<()> {
    for (option, value) in [("threads", options.threads), ("workers", options.workers)] {
        if value == 0 {
            return Err(refused(option, "at least 1 is needed".to_owned()));
        }
    }
    if options.workers > spec.shards as usize {
        let (workers, shards) = (options.workers, spec.shards);
        let why = format!(
            "{workers} workers cannot share {shards} shards: there must be at least as many shards"
        );
        return Err(refused("workers", why));
    }
    if spec.engine.is_symbolic() && options.workers > 1 {
        let engine = spec.engine.name();
        return Err(refused("workers", format!("the {engine} engine has one worker")));
    }
    Ok(())
}

/// Checks that the given memory is at least the least that an engine takes, both in bytes.
fn check_memory(engine: &str, given: u64, least: u64, place: &str) -> Result<()> {
    if given >= least {
        return Ok(());
    }
    let (given, least) = (given_size(given), least.div_ceil(1 << 20));
    let why =
        format!("{given} is too small: the {engine} engine takes at least {least} MiB{place}");
    Err(refused("memory", why))
}

impl Request {
    /// A request for a search of `space` by an engine, divided into `shards`.
    ///
    /// # Errors
    /// [`Error::Option`] for zero workers or threads, more workers than the engine or the shards
    /// permit, more shards than a dense space has blocks, or too little memory; [`Error::Space`] if
    /// the engine cannot search the space.
    pub fn new(
        space: &Space,
        engine: EngineKind,
        shards: u32,
        options: RunOptions,
    ) -> Result<Request> {
        let spec =
            JobSpec { space: space.name().to_owned(), params: space.parameters(), shards, engine };
        Request::with_spec(space, spec, options)
    }

    /// A request for the search of an existing job, whose space has been opened.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn with_spec(space: &Space, spec: JobSpec, options: RunOptions) -> Result<Request> {
        check_threads(&spec, &options)?;
        let label = space.label();
        let forecast = Forecast::new(space, spec.engine, options.max_layers);
        let mut request = Request {
            paths_need_layers: spec.engine.is_explicit(),
            spec,
            label,
            forecast,
            options,
            budget: None,
            is_directed: false,
            is_folded: false,
        };
        let RunOptions { memory, workers, threads, reversible_samples, .. } = request.options;
        let JobSpec { engine, shards, .. } = request.spec;
        check_engine(space, engine, shards, reversible_samples, &Work::default())?;
        if engine.is_explicit() {
            request.is_directed = !space.state_space().is_undirected();
            let budget = Budget::new(memory, space.table_bytes(), workers, threads);
            request.budget = Some(budget.map_err(|error| refused("memory", error.to_string()))?);
        } else if engine.is_dense() {
            request.check_dense(space)?;
        } else {
            check_memory("symbolic", memory, SymbolicWorker::LEAST_MEMORY, "")?;
        }
        Ok(request)
    }

    /// Checks that the dense engine has enough memory, and sets the fields that depend on the dense form.
    fn check_dense(&mut self, space: &Space) -> Result<()> {
        let size = space.dense_size()?;
        let DenseMemory { whole, least } = DenseMemory::of(&size, self.options.threads);
        let least = least.saturating_mul(self.options.workers as u64);
        check_memory("dense", self.options.memory, least, " here")?;
        self.is_directed = !size.is_undirected;
        self.is_folded = matches!(size.folding, DenseFolding::On { .. });
        self.paths_need_layers = self.is_directed || self.options.memory < whole;
        Ok(())
    }

    /// The job's identity: space, parameters, shards, engine.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// Space and size in one word.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The forecast of the search.
    pub fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// The expected cost of the search with its resources.
    pub fn expected(&self) -> Expected {
        let RunOptions { threads, workers, memory, keep_layers, .. } = self.options;
        let threads = threads * workers;
        self.forecast.expected(&Resources { threads, memory, keep: keep_layers })
    }

    /// Whether shortest paths are traced back through kept layers, instead of searched in memory.
    pub fn paths_need_layers(&self) -> bool {
        self.paths_need_layers
    }

    /// Resources and limits.
    pub fn options(&self) -> &RunOptions {
        &self.options
    }

    /// The same search with other resources or limits.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn with_options(&self, space: &Space, options: RunOptions) -> Result<Request> {
        Request::with_spec(space, self.spec.clone(), options)
    }

    /// The same search with all layers kept, if shortest paths are traced back through them.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn keeping_layers_for_paths(&self, space: &Space) -> Result<Request> {
        if !self.paths_need_layers {
            return Ok(self.clone());
        }
        let options = RunOptions { keep_layers: KeepLayers::All, ..self.options.clone() };
        self.with_options(space, options)
    }

    /// Configuration of a worker of the dense engine.
    pub(crate) fn dense(&self, worker: usize, owners: &Arc<[u16]>, folder: &JobDir) -> DenseSetup {
        DenseSetup {
            worker,
            owners: Arc::clone(owners),
            threads: self.options.threads,
            memory: self.options.memory / self.options.workers.max(1) as u64,
            digest: self.spec.engine.has_digests(),
            keep: self.options.keep_layers,
            folder: folder.clone(),
        }
    }

    /// Options of the symbolic engine.
    pub(crate) fn symbolic(&self) -> strata_engine::symbolic::Options {
        strata_engine::symbolic::Options {
            memory: usize::try_from(self.options.memory).unwrap_or(usize::MAX),
            keep_layers: false,
            digests: self.spec.engine.has_digests(),
            verify: if self.options.verify { VERIFIED_ONE_IN } else { 0 },
            threads: self.options.threads,
        }
    }

    /// Whether the whole space is listed instead of stopping at a goal.
    pub fn is_exhaustive(&self) -> bool {
        Parameter::EXHAUST.is_on(&self.spec.params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_the_last_run_are_read_back() {
        let options = RunOptions {
            threads: 3,
            workers: 2,
            memory: 64 << 20,
            checkpoint_interval: Duration::from_millis(1500),
            keep_layers: KeepLayers::All,
            max_layers: Some(7),
            disk_limit: Some(1 << 30),
            verify: true,
            reversible_samples: 0,
        };
        let read = RunOptions::of_last_run(Some(&options.settings())).unwrap();
        assert_eq!(read.settings(), options.settings());
        // What stopped the last run does not stop the next one, and checks are not repeated.
        assert_eq!((read.max_layers, read.disk_limit, read.verify), (None, None, false));
        let without = RunOptions::of_last_run(None).unwrap();
        assert_eq!(without.settings(), RunOptions::default().settings());
        let unknown = RunSettings { keep_layers: "some".to_owned(), ..options.settings() };
        assert!(RunOptions::of_last_run(Some(&unknown)).is_err());
    }
}

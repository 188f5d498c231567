//! Checked request for a search: specification, resources and limits.

use std::time::Duration;

use strata_store::{EngineKind, JobSpec};

use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::keep_layers::KeepLayers;
use crate::local::budget::Budget;
use crate::local::symbolic::SymbolicWorker;

/// Default number of shards: enough to balance over many workers.
pub const DEFAULT_SHARDS: u32 = 64;

/// With verification, the symbolic engine recomputes one in this many memoised steps.
const VERIFIED_ONE_IN: u32 = 64;

/// Resources and limits of a run. They may change from one run of a job to the next.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Threads of each worker, at least 1.
    pub threads: usize,
    /// Workers in this process, at least 1 and at most one per shard.
    pub workers: usize,
    /// Memory budget of everything that grows, in bytes.
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
        }
    }
}

/// A checked request for a search.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) spec: JobSpec,
    pub(crate) label: String,
    pub(crate) expected_layers: Option<u32>,
    pub(crate) options: RunOptions,
    /// Division of the memory budget; None for the symbolic engine, which divides it itself.
    pub(crate) budget: Option<Budget>,
}

impl Request {
    /// A request for a search of `space` by an engine, divided into `shards`.
    ///
    /// # Errors
    /// [`Error::Option`] for zero workers or threads, more workers than shards, or too little
    /// memory; [`Error::Space`] if the symbolic engine cannot search the space.
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
        let refused = |option, why: String| Err(Error::Option { option, why });
        for (option, value) in [("threads", options.threads), ("workers", options.workers)] {
            if value == 0 {
                return refused(option, "at least 1 is needed".to_owned());
            }
        }
        if options.workers > spec.shards as usize {
            let (workers, shards) = (options.workers, spec.shards);
            return refused(
                "workers",
                format!(
                    "{workers} workers cannot share {shards} shards: there must be at least as \
                     many shards"
                ),
            );
        }
        let budget = if spec.engine.is_explicit() {
            space.check_explicit()?;
            let tables = space.table_bytes();
            let budget = Budget::new(options.memory, tables, options.workers, options.threads);
            match budget {
                Ok(budget) => Some(budget),
                Err(error) => return refused("memory", error.to_string()),
            }
        } else if spec.engine.is_dense() {
            space.dense_size()?;
            return refused("engine", "dense searches have no jobs yet".to_owned());
        } else {
            space.nested()?;
            let least = SymbolicWorker::LEAST_MEMORY;
            if options.memory < least {
                let (given, least) = (options.memory >> 10, least >> 20);
                let why = format!(
                    "{given} KiB is too small: the symbolic engine takes at least {least} MiB"
                );
                return refused("memory", why);
            }
            None
        };
        let (label, expected_layers) = (space.label(), space.expected_layers());
        Ok(Request { spec, label, expected_layers, options, budget })
    }

    /// The job's identity: space, parameters, shards, engine.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// Space and size in one word.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Depth at which the search is expected to end at the latest, where a bound is known.
    pub fn expected_layers(&self) -> Option<u32> {
        self.expected_layers
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

    /// Options of the symbolic engine.
    pub(crate) fn symbolic(&self) -> strata_symbolic::Options {
        strata_symbolic::Options {
            memory: usize::try_from(self.options.memory).unwrap_or(usize::MAX),
            keep_layers: false,
            digests: self.spec.engine.has_digests(),
            verify: if self.options.verify { VERIFIED_ONE_IN } else { 0 },
            threads: self.options.threads,
        }
    }

    /// Whether the whole space is listed instead of stopping at a goal.
    pub fn is_exhaustive(&self) -> bool {
        self.spec.params.get("exhaust").is_some_and(|value| value == "true")
    }
}

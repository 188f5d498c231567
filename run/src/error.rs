//! Errors of a search, by what failed.

use std::path::PathBuf;

use strata_engine::symbolic::StepError;
use strata_space::SpaceError;
use strata_store::{EngineKind, StoreError};

use crate::local::error::WorkerError;
use crate::plan::machine::StopReason;
use crate::plan::refusal::Refusal;

/// Why a search has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option has an invalid value.
    #[error("{option}: {why}")]
    Option {
        /// The name of the option in the builder.
        option: &'static str,
        /// Why the value is invalid.
        why: String,
    },
    /// The named engine does not support a given setting.
    #[error(
        "the {} engine does not support `{setting}`: `engine` {} does",
        engine.name(),
        if engine.is_explicit() || *setting == "verify" { "symbolic" } else { "explicit" }
    )]
    Unsupported {
        /// The engine.
        engine: EngineKind,
        /// The setting.
        setting: &'static str,
    },
    /// The puzzle cannot be opened with its parameters.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A file or folder of the job cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The explicit engine could not follow a path through the layers.
    #[error(transparent)]
    Engine(strata_engine::explicit::Error),
    /// The data directory cannot be created, locked or written.
    #[error("{0}")]
    DataDir(StoreError),
    /// The data directory is itself the folder of a job.
    #[error("{} is the folder of one job: the data directory is the folder that holds it", .0.display())]
    IsJobFolder(PathBuf),
    /// The data directory has no job of this search.
    #[error("{0}")]
    NoSuchJob(String),
    /// The folder holds another search: nothing was changed.
    #[error("{} holds another search: {differences}", dir.display())]
    OtherSearch {
        /// The data directory.
        dir: PathBuf,
        /// How it differs, parameter by parameter.
        differences: String,
    },
    /// A worker failed.
    #[error(transparent)]
    Worker(WorkerError),
    /// A restored layer differs from the one that was saved.
    #[error("the checkpoint in {} differs from its records: {refusal}", folder.display())]
    Restored {
        /// The job's folder.
        folder: PathBuf,
        /// The difference.
        refusal: Refusal,
    },
    /// The plan refused a worker's answer, which indicates a defect of Strata.
    #[error("the plan failed: {0}")]
    Plan(Refusal),
    /// A layer of a symbolic job could not be computed again to list its states or to trace a path.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A path needs layers that the search has not kept.
    #[error("job {job} has not kept all layers: paths and look-ups need `keep_layers` all")]
    LayersNotKept {
        /// The job.
        job: String,
    },
    /// A symbolic job has no files of layers in which states can be looked up.
    #[error(
        "job {job} is symbolic: it has no layers in which states can be looked up; a search with `engine` \
         dense or explicit and `keep_layers` all has"
    )]
    LookUpEngine {
        /// The job.
        job: String,
    },
    /// The shortest ways to the states that are looked up visit more states than fit the memory.
    #[error(
        "the shortest ways visit more states from depth {depth} on than fit {memory} bytes: raise `memory`, or \
         look up fewer states at a time"
    )]
    LookUpMemory {
        /// The memory in bytes.
        memory: u64,
        /// The depth.
        depth: u32,
    },
    /// The job does not hold that layer.
    #[error(
        "job {job} does not hold layer {depth}: it holds {}; `keep_layers` all keeps every layer",
        if first < last { format!("layers {first} and {last}") } else { format!("layer {last}") }
    )]
    LayerNotHeld {
        /// The job.
        job: String,
        /// The layer asked for.
        depth: u32,
        /// The first layer of the last checkpoint.
        first: u32,
        /// The last layer.
        last: u32,
    },
    /// The search has no layer of that depth.
    #[error("there is no layer {depth}: the last is {last}")]
    NoLayer {
        /// The layer asked for.
        depth: u32,
        /// The last layer.
        last: u32,
    },
    /// The search has no path: it has no goal, has not reached it, or the puzzle names no moves.
    #[error("{0}")]
    NoPath(String),
    /// The search ended early; running it again resumes it.
    #[error("the search stopped at depth {depth}: {reason}")]
    Stopped {
        /// Why.
        reason: StopReason,
        /// The last complete layer.
        depth: u32,
    },
}

impl From<strata_engine::explicit::Error> for Error {
    fn from(error: strata_engine::explicit::Error) -> Error {
        match error {
            strata_engine::explicit::Error::Store(error) => Error::Store(error),
            error => Error::Engine(error),
        }
    }
}

impl From<WorkerError> for Error {
    fn from(error: WorkerError) -> Error {
        match error {
            WorkerError::Store(error) => Error::Store(error),
            error => Error::Worker(error),
        }
    }
}

/// The result of a search's operations.
pub type Result<T> = std::result::Result<T, Error>;

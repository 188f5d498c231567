//! Disk-based breadth-first search of implicit graphs.
//!
//! [`Search`] runs a puzzle in this process: with checkpoints, resume, typed events, and a
//! [`Report`] with layers and paths. [`catalogue`] opens puzzles by name. The rest is what the
//! command line and the cluster are built from:
//!
//! [`Plan`] is a pure state machine. [`Driver`] passes its commands to a [`WorkerPool`] and returns
//! the answers. Plan and driver are the same in one process and in a cluster. [`Worker`] and
//! [`SymbolicWorker`] compute the layers.
#![forbid(unsafe_code)]

pub mod catalogue;
mod dense_memory;
mod engine;
mod error;
pub mod forecast;
mod job;
mod keep_layers;
mod local;
pub mod memory;
mod path;
mod plan;
pub mod progress;
mod search;
pub mod size;
mod tracker;

pub use dense_memory::DenseMemory;
pub use engine::{
    EngineChoice, EngineNeeds, check_engine, choose_engine, choose_engine_by, engines_of,
};
pub use error::{Error, Result};
pub use job::cancel::CancelToken;
pub use job::checker::FileChecker;
pub use job::dense::find_state;
pub use job::event::{Event, LayerEvent, LayerEvents};
pub use job::folder::{Job, check_data_dir, lock_data_dir, spec_to_resume, temporary_data_dir};
pub use job::history::{JobHistory, read_history};
pub use job::layers::{LayerView, ListedState, layer_states, open_layer, search_layer};
pub use job::request::{DEFAULT_SHARDS, REVERSIBLE_SAMPLES, Request, RunOptions, default_shards};
pub use job::session::{Ended, Finished, RunControl, run};
pub use job::verify;
pub use keep_layers::{KeepLayers, KeepLayersError};
pub use local::budget::{Budget, BudgetError};
pub use local::dense::{DenseSetup, DenseWorker, numbering};
pub use local::error::WorkerError;
pub use local::restore::Restore;
pub use local::symbolic::{SymbolicWorker, check_diagram, load_diagram};
pub use local::work::Work;
pub use local::worker::{Setup, Worker};
pub use path::antipodes::{Antipode, Antipodes, antipodes};
pub use path::dense::trace_dense;
pub use path::find::find_path;
pub use path::outcome::{FoundPath, Moves, OpenSpace, PathOutcome};
pub use path::symbolic::{PathProgress, symbolic_path};
pub use plan::driver::{CheckpointSink, Done, DriveError, Driver, Order, Retryable, WorkerPool};
pub use plan::machine::{
    Command, Input, Outcome, Plan, PlanOptions, Publication, ResumePoint, Start, StopReason,
};
pub use plan::refusal::Refusal;
pub use plan::report::LayerReport;
pub use plan::sums::Totals;
pub use search::builder::{Engine, Search};
pub use search::report::Report;
pub use strata_engine::symbolic::{Options as SymbolicOptions, StepError};
/// The traits of state spaces, with everything that an implementation of [`Tabled`] or
/// [`space::nested::NestedSpace`] needs.
pub use strata_space as space;
pub use strata_space::{
    DrawingTheme, KeySpace, NestedPuzzle, Parameter, ParameterReader, Parameters, Puzzle, Seed,
    SpaceError, State, Tabled,
};
pub use strata_store::LayerRecord;
pub use tracker::{Figures, Tracker};

//! Running of search jobs: plan, driver, workers of one process, checkpoints, paths, forecasts, choice of
//! the engine.
//!
//! [`Plan`] is a pure state machine. [`Driver`] passes its commands to a [`WorkerPool`] and returns
//! the answers. Plan and driver are the same in one process and in a cluster. [`Worker`], [`DenseWorker`]
//! and [`SymbolicWorker`] compute the layers. [`catalogue`] opens puzzles by name.
//!
//! Programs use the crate `strata`, which is built on this one.
#![forbid(unsafe_code)]

pub mod catalogue;
mod dense_memory;
mod engine;
mod error;
pub mod forecast;
mod job;
mod jobs;
mod keep_layers;
mod local;
mod look_up;
pub mod memory;
mod path;
mod plan;
pub mod progress;
pub mod size;
mod tracker;

pub use dense_memory::DenseMemory;
pub use engine::{
    EngineChoice, EngineNeeds, check_engine, check_settings, choose_engine, choose_engine_by,
    engine_of, engine_settings, engines_of, named_engine,
};
pub use error::{Error, Result};
pub use job::cancel::CancelToken;
pub use job::checker::FileChecker;
pub use job::dense::find_state;
pub use job::event::{Event, LayerEvent, LayerEvents};
pub use job::folder::{differences, spec_to_resume};
pub use job::history::{JobHistory, read_history};
pub use job::layers::{LayerView, ListedState, layer_states, open_layer, search_layer};
pub use job::request::{DEFAULT_SHARDS, REVERSIBLE_SAMPLES, Request, RunOptions, default_shards};
pub use job::session::{Ended, Finished, RunControl};
pub use job::verify;
pub use jobs::{Job, Jobs, space_of};
pub use keep_layers::{KeepLayers, KeepLayersError};
pub use local::budget::{Budget, BudgetError};
pub use local::dense::{DenseSetup, DenseWorker, numbering};
pub use local::error::WorkerError;
pub use local::restore::Restore;
pub use local::symbolic::{SymbolicWorker, load_diagram};
pub use local::work::Work;
pub use local::worker::{Setup, Worker};
pub use look_up::{LookUp, LookUpAnswer, LookUpOptions};
pub use path::antipodes::{Antipode, Antipodes};
pub use path::dense::trace_dense;
pub use path::outcome::{FoundPath, Moves, OpenSpace, PathOutcome};
pub use path::symbolic::{PathProgress, symbolic_path};
pub use plan::driver::{CheckpointSink, Done, DriveError, Driver, Order, Retryable, WorkerPool};
pub use plan::machine::{
    Command, Input, Outcome, Plan, PlanOptions, Publication, ResumePoint, Start, StopReason,
};
pub use plan::refusal::Refusal;
pub use plan::report::LayerReport;
pub use plan::sums::Totals;
pub use strata_engine::symbolic::{Options as SymbolicOptions, StepError};
pub use tracker::{Figures, Tracker};

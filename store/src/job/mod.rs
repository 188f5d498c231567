//! Jobs on disk: the data directory, the folder of a job, its manifest, its history, its removal.

pub(crate) mod checkpoint;
pub(crate) mod data_dir;
pub(crate) mod dir;
pub(crate) mod history;
pub(crate) mod layer_names;
pub(crate) mod layer_record;
mod lock_file;
pub(crate) mod manifest;
pub(crate) mod removal;
pub(crate) mod spec;

pub use checkpoint::{Checkpoint, CheckpointFile, Counters, HistoryPrefix};
pub use data_dir::{DataDir, jobs_in};
pub use dir::JobDir;
pub use history::{History, HistoryView, read_history};
pub use layer_names::{frontier_file, is_layer_file, layer_file, older_file};
pub use layer_record::{KeptFile, LayerRecord};
pub use manifest::{JobResult, Manifest, RunSettings, RunState};
pub use removal::{OwnedJob, Removed, owned_jobs, remove_job, remove_remains, take_job};
pub use spec::{EngineKind, JobSpec};

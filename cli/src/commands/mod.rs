//! One module per command: its arguments and its run.

pub(crate) mod completions;
pub(crate) mod domains;
pub(crate) mod gc;
pub(crate) mod health;
pub(crate) mod jobs;
pub(crate) mod layer;
mod local_jobs;
mod local_path;
pub(crate) mod lookup;
pub(crate) mod man;
pub(crate) mod nodes;
pub(crate) mod path;
pub(crate) mod plot;
pub(crate) mod puzzle;
pub(crate) mod replay;
pub(crate) mod rm;
pub(crate) mod solve;
pub(crate) mod stats;
pub(crate) mod submit;
pub(crate) mod verify;
pub(crate) mod view;

//! The facade: a search in one process, with checkpoints, resume and paths.

pub(crate) mod builder;
pub(crate) mod report;

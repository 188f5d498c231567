//! Paths: the moves of a shortest solution of a finished job.

pub(crate) mod antipodes;
pub(crate) mod dense;
pub(crate) mod find;
mod midpoints;
pub(crate) mod outcome;
pub(crate) mod symbolic;

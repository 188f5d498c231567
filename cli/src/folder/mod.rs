//! The files of a job in a folder.

pub(crate) mod audit;

//! The journal: a database file with everything that survives a restart of the coordinator.
//!
//! It holds the jobs with their layers, the cluster's workers, and the last epoch. Every operation
//! that changes something is one durable transaction. Every value has a checksum, and the numbers
//! of values are stored as well, so that a damaged file is refused and never misread.

pub(crate) mod ended;
pub(crate) mod error;
mod file;
mod health;
mod index;
mod layers;
pub(crate) mod lists;
pub(crate) mod names;
pub(crate) mod operations;
pub(crate) mod queue;
mod records;
mod removal;
pub(crate) mod setup;
mod table;
mod tombstones;
pub(crate) mod workers;

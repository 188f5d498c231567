//! Tests of Strata that belong to no crate alone.
//!
//! - [`simulation`]: a whole cluster in one process, on simulated time, network and disks.
//! - [`fuzz`]: mutated files, messages and texts for everything that reads them.
//!
//! `testing/faulty-fs` has faulty disks for real processes.
#![deny(unsafe_code)]

pub mod fuzz;
pub mod simulation;

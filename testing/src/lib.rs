//! Tests of Strata that belong to no crate alone.
//!
//! - [`simulation`]: a whole cluster in one process, on simulated time, network and disks.
//! - [`fuzz`]: mutated files, messages and texts for everything that reads them.
//! - `window`: a model of workers that synchronise among themselves, which its tests explore.
//!
//! `testing/faulty-fs` has faulty disks for real processes.
#![deny(unsafe_code)]

pub mod fuzz;
pub mod simulation;
#[cfg(test)]
mod window;

//! Tests of the coordinator's journal and plan, without a network.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod common;
mod full_disk;
mod journal;
mod model;

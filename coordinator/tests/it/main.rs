//! Tests of the coordinator's journal.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod common;
mod full_disk;
mod journal;
mod model;

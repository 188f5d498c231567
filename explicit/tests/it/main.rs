//! The explicit engine.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod encoded;
mod inbox;
mod kernel;
mod tasks;

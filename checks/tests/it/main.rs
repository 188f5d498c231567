//! Tests of the structure of the workspace.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod architecture;
mod cycles;

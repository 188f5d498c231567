//! The move-restricted puzzle of N by P tiles.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod clockwise;
mod paper;
mod walks;

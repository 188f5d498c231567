//! Clockwise walks of sliding tiles.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod clockwise;

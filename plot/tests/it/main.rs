//! Integration tests of charts.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod images;

//! Tests of a cluster's connections and messages.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod net;

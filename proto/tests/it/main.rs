//! Connections and messages of a cluster.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod net;

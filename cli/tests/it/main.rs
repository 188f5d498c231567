//! Commands as processes, embedded and in clusters.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod antipodes;
mod browser;
mod client;
mod cluster;
mod codes;
mod common;
mod completions;
mod damage;
mod dense;
mod engines;
mod examples;
mod extensions;
mod lookup;
mod path;
mod plot;
mod puzzle;
mod recovery;
mod resume;
mod rm;
mod solve;
mod symbolic;
mod tiles;
mod ui;
mod usage;

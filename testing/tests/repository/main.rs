//! Tests of the repository's other files: pages, scripts, deployment files, mutants.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod deploy;
mod mutants;
mod nightly;
mod pages;
mod recovery;

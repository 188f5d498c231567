//! Checks of the workspace: its structure, its pages, its deployment files.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod architecture;
mod cycles;
mod deploy;
mod mutants;
mod nightly;
mod pages;
mod recovery;

//! Files of layers and of jobs.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod images;
mod jobs;
mod layers;
mod long_lists;
mod read_errors;
mod recycled;
mod removal;
mod repeats;

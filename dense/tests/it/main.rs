//! Dense searches against independent ones and published tables.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod folded;
mod hanoi;
mod layers;
mod parts;
mod published;
mod puzzles;

//! A table of small spaces of all kinds. Layers of the explicit engine are those of an independent
//! search, whatever the workers, threads and memory, and if the search is stopped and resumed.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

#[allow(dead_code, reason = "the table uses a part of it")]
#[path = "../../../puzzles/tests/permutation/orbits.rs"]
mod orbits;
#[allow(dead_code, reason = "the table uses a part of it")]
#[path = "../../../puzzles/tests/permutation/reference.rs"]
mod reference;
#[path = "../reference/mod.rs"]
mod rules;

mod check;
mod hooks;
mod permutations;
mod published;
mod shipped;
mod user;

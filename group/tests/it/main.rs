//! Permutation groups: orders, symmetries, and spaces folded by them.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod axioms;
mod cube;
mod folded;
mod orders;
mod space;
mod symmetries;

//! Fuzzing: mutated inputs for every parser of bytes and texts from outside.
//!
//! A [`Target`] has valid inputs, mutations that follow the format, and properties that must hold
//! for every input: no panic; an accepted input is read back the same after it is written; a
//! damaged file is refused; memory is bounded by the length of the input. Most mutated inputs get
//! new checksums, because otherwise the checksums would refuse all of them.
//!
//! `docs/testing.md` has the commands.

mod memory;
pub mod mutate;
mod rng;
pub mod runner;
mod target;
pub mod targets;

pub use rng::Rng;
pub use target::{Finding, Outcome, Target};

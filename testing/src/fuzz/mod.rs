//! Fuzzing: mutated inputs for every parser of bytes and texts from outside.
//!
//! A [`Target`] has valid inputs, a way to change them that knows the format, and properties that
//! every input must keep: no panic; what is accepted is read back the same after it is written; a
//! damaged file is refused; memory is bounded by the length of the input. Changed inputs get new
//! checksums most of the time. Otherwise no change would reach what lies below a checksum.
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

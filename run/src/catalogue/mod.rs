//! Puzzles by name: the registry of a program, and opened puzzles with their engines.
//!
//! A [`Registry`] lists the puzzles of a program. The command line, the coordinator and the workers
//! open every [`Space`] through a registry. Puzzles that ship with Strata are in
//! [`Registry::shipped`]; an [`Entry`] adds another.

mod registry;
#[cfg(feature = "puzzles")]
mod shipped;
mod space;

pub use registry::{Entry, Registry};
pub use space::{NestedForm, OpenedPuzzle, Space};
pub use strata_space::{
    DrawingTheme, KeySpace, Keyed, NoNested, Parameter, ParameterReader, Parameters, Puzzle, Seed,
    SpaceError, Tabled, WithTables, Work,
};

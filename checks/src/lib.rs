//! Checks of the workspace's own sources.
//!
//! The sources are parsed, not compiled: [`modules`] builds the module tree of a crate,
//! [`names`] resolves paths in it, [`imports`] lists which file imports which, and [`cycles`]
//! finds the files that import each other. The tests in `tests/` apply these to every crate of the
//! workspace.

pub mod cycles;
pub mod imports;
pub mod modules;
pub mod names;
pub mod uses;
pub mod workspace;

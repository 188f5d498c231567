//! The explicit engine.

mod encoded;
mod inbox;
mod kernel;
mod tasks;

//! The three engines of breadth-first search. Each makes one layer from the layers before it.
//!
//! - [`explicit`]: every state is stored; a worker makes its part of a layer in a pass.
//! - [`symbolic`]: layers of nested spaces are decision diagrams in memory.
//! - [`dense`]: a layer has one bit for each state of a numbered space.
//!
//! They share [`memory`]. An engine uses no other engine, and contains no puzzle, runtime or network code.
#![deny(unsafe_code)]

pub mod dense;
pub mod explicit;
pub mod memory;
pub mod symbolic;

//! The three engines: each makes one layer of a breadth-first search from those before it.
//!
//! - [`explicit`]: every state is stored; a worker's pass over its part of a layer.
//! - [`symbolic`]: layers of nested spaces are decision diagrams in memory.
//! - [`dense`]: layers are bits of all states of a numbered space.
//!
//! They share [`memory`]. None knows another, a puzzle, a runtime or a network.
#![deny(unsafe_code)]

pub mod dense;
pub mod explicit;
pub mod memory;
pub mod symbolic;

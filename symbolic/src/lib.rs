//! The symbolic engine: layers of nested spaces as hash-consed diagrams, stepped with a memo.
//!
//! The states of a layer are not listed. Below each configuration of a level hangs the set of what
//! the smaller levels may be doing; sets of equal content are one node, and what becomes of a node
//! in one step is remembered. As the same contents occur under very many configurations, a layer
//! of 10^10 states is a diagram of some ten thousand nodes, of which a step makes some hundred.
//!
//! A node holds two layers, the current and the one before, so that what is new is found below
//! each node by itself. Nothing is taken on trust from a hash: nodes are compared by content. Only
//! the question whether the same has come in as last time is answered by a 64-bit fingerprint.
#![deny(unsafe_code)]

mod derived;
mod diagram;
mod error;
mod exits;
mod index;
mod memory;
mod node;
mod options;
mod search;

pub use error::StepError;
pub use options::Options;
pub use search::any::{AnySearch, Ends, open};
pub use search::layer::{Layer, Usage};
pub use search::snapshot::SnapshotError;
pub use search::typed::Search;

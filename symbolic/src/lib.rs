//! Symbolic engine: searches a nested space with its layers held as decision diagrams.
//!
//! States are not listed. A node is the set of states below one configuration, and nodes of equal
//! content are stored once (hash-consing). The successor of a node in the next layer is memoised.
//! The same contents recur below many configurations: a layer of 10^10 states is a diagram of about
//! ten thousand nodes, and a step creates a few hundred.
//!
//! A node holds two layers, the current one and the one before, so new states are found below each
//! node by itself. Nodes are compared by content. One test is probabilistic: a 64-bit fingerprint
//! tells whether the incoming sets equal those of a memoised step.
//!
//! The folders, each of which uses only those above it:
//!
//! - `memory`: budget, prefetching, growth of large lists
//! - `index`: numbers for the space's configurations and classes
//! - `node`: references, records, packed contents, canonical orientation, hash tables
//! - `exits`: sets of states after a larger piece's move
//! - `derived`: exit sets and statistics of new nodes, on one thread or two
//! - `diagram`: interning, steps, queries
//! - `search`: the layer loop, snapshots, shortest paths, the type-erased search
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
pub use search::any::{AnySearch, open};
pub use search::layer::{Layer, Usage};
pub use search::snapshot::SnapshotError;
pub use search::typed::Search;

//! Symbolic engine: searches a nested space with its layers held as decision diagrams.
//!
//! States are not listed. A node is the set of states below one configuration, and nodes with equal
//! content are stored once (hash-consing). The successor of a node in the next layer is memoised. The
//! same contents recur below many configurations: a layer of 10^10 states is a diagram of about ten
//! thousand nodes, and a step to the next layer creates a few hundred.
//!
//! A node holds states of two layers, the current and the previous one, so that the new states below a
//! node are found without other nodes. Nodes are compared by content. One test is probabilistic: the
//! incoming sets of a step are compared with those of a memoised step by a 64-bit fingerprint.
//!
//! The modules; each uses only those listed before it:
//!
//! - `memory`: budget, growth of large lists
//! - `index`: numbers for the space's configurations and classes
//! - `node`: references, records, packed contents, canonical orientation, hash tables
//! - `exits`: sets of states after a move of a larger piece
//! - `derived`: exit sets and statistics of new nodes, on one thread or two
//! - `diagram`: interning, steps, queries
//! - `search`: the layer loop, snapshots, shortest paths, the type-erased search

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

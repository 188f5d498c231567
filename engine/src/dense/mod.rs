//! Dense engine: searches a space whose states are numbered, with a few bits for every state.
//!
//! States are not listed. Each state has one bit in each of four planes. Two planes hold its depth
//! modulo 3, or that it was not reached; the other two hold the current and the next layer. A row of a
//! block is a word of up to 64 lanes. A move takes a word to a word by one permutation of bits, so one
//! table entry gives up to 64 successors. Nothing is sorted or hashed.
//!
//! A layer is made by a *push* or by a *pull*, whichever needs fewer words. A push adds the successors
//! of each word to the next plane. A pull collects, for each word, the states that have a predecessor
//! in the current plane. Then the candidates of each block are *settled*: states that were reached
//! before are removed; the rest are marked, counted and added to the digest.
//!
//! The successors of a thin layer that is stored elsewhere are put into a list of numbers. Only the
//! blocks that have one of them are then read.
//!
//! A space may store one block for all blocks that symmetries map to one another
//! ([`DenseTables::is_folded`]). Its layers are always pulled, and a state counts as many positions as its
//! block stands for.
//!
//! [`DenseTables::is_folded`]: strata_space::dense::DenseTables::is_folded
//!
//! Each thread makes the next layer of a range of blocks. It writes only to that range, and of other
//! blocks reads only the current plane. So results do not depend on the number of threads.
//!
//! The modules; each uses only those listed before it:
//!
//! - `error`: errors of a search
//! - `kernel`: permutations of bits, for AVX-512, AVX2 and other processors
//! - `options`: threads, memory, digests, kernel and direction
//! - `plane`: planes in large pages
//! - `digest`: sums of weights by tables
//! - `count`: figures of states counted from their words
//! - `pass`: one layer of a range of blocks
//! - `tasks`: tasks of a layer on several threads
//! - `search`: the whole space in memory: layer loop, queries, shortest paths
//! - `layers`: the stored layers that a search by parts reads and writes
//! - `thin`: the layer after a thin one, from a list of successors
//! - `parts`: a layer of a range of blocks, from layers that are stored elsewhere
//! - `share`: some of the blocks in memory, from the current layer of those that lead to them
//!
//! ```
//! use std::sync::Arc;
//! use strata_engine::dense::{Options, Search};
//! use strata_puzzles::group::{Effort, GroupOptions, GroupSpace, Shape, StabiliserChain};
//!
//! // Reversals of the first two, three or four pancakes of a stack.
//! let shape = Shape::plain(4)?;
//! let stacks = [[1, 0, 2, 3], [2, 1, 0, 3], [3, 2, 1, 0]];
//! let moves = stacks.iter().map(|images| shape.permutation(images)).collect::<Result<Vec<_>, _>>()?;
//! let chain = StabiliserChain::new(&shape, &moves, Effort::default())?;
//! let space = GroupSpace::new(&chain, &moves, &GroupOptions::default())?;
//! let mut search = Search::new(Arc::new(space), &Options::default())?;
//! let mut layers = vec![search.stats().states];
//! layers.extend(std::iter::from_fn(|| search.advance()).map(|layer| layer.states));
//! assert_eq!(layers, [1, 3, 6, 11, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod count;
mod digest;
mod error;
mod kernel;
mod layers;
mod options;
mod parts;
mod pass;
mod plane;
mod search;
mod share;
mod tasks;
mod thin;

pub use count::Counter;
pub use error::SearchError;
pub use kernel::Kernel;
pub use layers::PartLayers;
pub use options::{Direction, Options};
pub use parts::PartSearch;
pub use search::{Search, Step};
pub use share::{ShareSearch, sources};

//! Dense engine: searches a space whose states are numbered, with a few bits for every state.
//!
//! States are not listed. Each has a bit in four planes: two have its depth modulo 3, or that it was
//! not reached, and one each the states of the current and of the next layer. A row of a block is a
//! word of 64 lanes. A move takes a word to a word by one permutation of bits, so one table entry
//! gives 64 successors. Nothing is sorted or hashed.
//!
//! A layer is made by pushing or by pulling, whichever needs fewer words. A push adds the successors
//! of each word to the next plane. A pull collects for each word the states that have a predecessor
//! in the current plane. Then the new words of each block are settled: what was reached before is
//! removed, the rest is marked, counted and added to the digest.
//!
//! A thin layer that is stored elsewhere is made from a list of its successors' numbers, and no plane
//! is read or cleared for it.
//!
//! Of blocks that symmetries map to one another, a space may have one ([`DenseTables::is_folded`]). Its
//! layers are pulled only, and a state counts as many positions as its block stands for.
//!
//! [`DenseTables::is_folded`]: strata_space::dense::DenseTables::is_folded
//!
//! A thread makes the next layer of a range of blocks. It writes only to that range, and reads only
//! the current plane of the others. So results do not depend on the number of threads.
//!
//! The modules; each uses only those listed before it:
//!
//! - `error`: why a search cannot start or answer
//! - `kernel`: permutations of bits, for AVX-512, AVX2 and other processors
//! - `options`: threads, memory, digests, kernel and direction
//! - `plane`: planes in large pages
//! - `digest`: sums of weights by tables
//! - `count`: figures of given states
//! - `pass`: one layer of a range of blocks
//! - `tasks`: tasks of a layer on several threads
//! - `search`: the whole space in memory: layer loop, queries, shortest paths
//! - `layers`: the stored layers that a search by parts reads and writes
//! - `thin`: a thin layer by a list of successors
//! - `parts`: a layer of a range of blocks, from layers that are stored elsewhere
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
mod tasks;
mod thin;

pub use count::Counter;
pub use error::SearchError;
pub use kernel::Kernel;
pub use layers::PartLayers;
pub use options::{Direction, Options};
pub use parts::PartSearch;
pub use search::{Search, Step};

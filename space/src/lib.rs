//! State spaces: what a search explores, as pure functions without I/O or threads.
//!
//! Engines contain no puzzle. They use a [`StateSpace`], which splits every state into a **region**
//! (the part that changes rarely) and a **local** part (the part that changes with most moves).
//! Most successors are then in the same region as the state and can be deduplicated there. A space
//! that also implements [`Tabled`] is searched by table look-ups.
//!
//! The simplest way to add a puzzle is [`KeySpace`]: a function from a key to its successor keys.
//! [`Keyed`] wraps it as a [`StateSpace`] with the high bits of the key as the region:
//!
//! ```
//! use strata_space::{KeySpace, Keyed, Seed};
//!
//! /// A walk on the integers 0..=limit.
//! struct Line {
//!     limit: u64,
//! }
//!
//! impl KeySpace for Line {
//!     type Key = u64;
//!     fn seeds(&self) -> Vec<Seed> {
//!         vec![Seed::start(0)]
//!     }
//!     fn key_bits(&self) -> u32 {
//!         64 - self.limit.leading_zeros()
//!     }
//!     fn successors(&self, key: u64, out: &mut Vec<u64>) {
//!         out.extend(key.checked_sub(1));
//!         out.extend((key < self.limit).then_some(key + 1));
//!     }
//!     fn text(&self, key: u64) -> String {
//!         key.to_string()
//!     }
//! }
//!
//! let space = Keyed::new(Line { limit: 10 }).expect("11 keys fit");
//! # use strata_space::StateSpace;
//! # assert_eq!(space.text(space.seeds()[0]), "0");
//! ```
#![forbid(unsafe_code)]

pub mod dense;
mod digest;
mod drawing;
mod error;
mod forms;
mod key;
mod key192;
mod keyed;
pub mod nested;
mod parameter;
mod puzzle;
mod reversible;
mod sink;
mod size;
mod state;
mod state_space;
mod stats;
mod symmetry;
mod tabled;
mod text;
mod work;

pub use digest::{Digest, MODULI, Weight, mix};
pub use drawing::DrawingTheme;
pub use error::SpaceError;
pub use forms::{
    ExplicitForm, ExplicitVisitor, NoNested, SymbolicForm, SymbolicVisitor, WithTables,
};
pub use key::Key;
pub use key192::Key192;
pub use keyed::{KeySpace, Keyed, Seed, each_successor};
pub use parameter::{
    Flag, MAX_FILE_BYTES, Parameter, ParameterReader, Parameters, Values, file_content, file_value,
    usage, with_line_feeds,
};
pub use puzzle::Puzzle;
pub use reversible::check_reversible;
pub use sink::{Successor, SuccessorSink};
pub use size::{Curve, ExplicitSize, NestedSize, SearchSize};
pub use state::{Chain, Finish, Local, RegionKey, State};
pub use state_space::StateSpace;
pub use stats::LayerStats;
pub use symmetry::{check_ends, check_nested, check_tables};
pub use tabled::{
    EdgeTarget, ExitEdge, InsideSuccessors, LegalMoves, LocalWeights, MAX_EXIT_EDGES, MAX_INDICES,
    MAX_MOVE_KINDS, MoveKind, Tabled, check_tabled,
};
pub use text::{VALUE_CHARS, shortened};
pub use work::{Work, WorkError};

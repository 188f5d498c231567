//! Permutation puzzles defined by files or families: twisty puzzles, Cayley graphs and the like.
//!
//! [`Definition`] is the internal form: sets of pieces with orientations, moves, the solved state.
//! [`Definition::read`] reads the formats `.tws` (twsearch), `.def` (ksolve+), KPuzzle JSON
//! (cubing.js) and plain lists of permutations. [`Permutation`] is a definition with selected moves,
//! a start and goals, ready to be searched, with symmetries on request. A [`Family`] makes
//! definitions from numbers.

mod blocks;
mod builder;
mod coordinates;
mod definition;
mod delegate;
mod dense;
mod effort;
mod error;
mod family;
mod generators;
mod goals;
mod graph;
mod json;
mod keys;
mod kpuzzle;
mod ksolve;
mod lines;
mod moves;
mod names;
mod orbit;
mod puzzle;
mod ranking;
mod read;
mod sequence;
mod statements;
mod survey;
mod symmetry;
mod text;
mod tws;
mod word;

pub use crate::group::Term;
pub use definition::{Definition, Format, Illegal, Kind, NamedElement, Set, State};
pub use error::ReadError;
pub use family::{BurntPancake, Family, Lrx, Lx, Member, Pancake, TopSpin};
pub use puzzle::{Permutation, PermutationPuzzle, WidePermutation};
pub use survey::{Survey, Symmetries};
pub use word::RankKey;

//! Groups of permutations with orientations, as the moves of twisty puzzles generate them.
//!
//! A [`Shape`] has slots, each with a number of orientations. An [`Element`] permutes slots and
//! turns what it moves. It is both a move and the arrangement that the move makes of the solved
//! puzzle. A [`StabiliserChain`] has the order of the group that some elements generate, and tells
//! which elements belong to it. [`Invariants`] are the constraints of parity and orientation that
//! all members satisfy. A [`GroupNumbering`] numbers all members, so that an engine can keep a few
//! bits for each, and a [`GroupSpace`] has the tables for that. A [`Symmetry`] is a relabelling that maps
//! moves to moves. A [`FoldedNumbering`] has one number for blocks of members that symmetries map to one
//! another.
//!
//! ```
//! use strata_puzzles::group::{Effort, Shape, StabiliserChain};
//!
//! // Two generators of the symmetric group of four slots.
//! let shape = Shape::plain(4)?;
//! let cycle = shape.permutation(&[1, 2, 3, 0])?;
//! let swap = shape.permutation(&[1, 0, 2, 3])?;
//! let chain = StabiliserChain::new(&shape, &[cycle, swap], Effort::default())?;
//! assert_eq!(chain.order().to_string(), "24");
//! assert!(chain.is_verified());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chain;
mod element;
mod error;
mod fixed;
mod folded;
mod invariants;
mod lanes;
mod numbering;
mod radix;
mod random;
mod shape;
mod space;
mod steps;
mod symmetry;

pub use chain::{Effort, Level, StabiliserChain};
pub use element::Element;
pub use error::GroupError;
pub use folded::{FoldedNumbering, FoldedSize};
pub use invariants::{Invariants, Orbit, Parity, Term};
pub use num_bigint::BigUint;
pub use numbering::{GroupNumbering, MemberNumber};
pub use shape::{MAX_SLOTS, Shape};
pub use space::{GroupOptions, GroupSpace};
pub use symmetry::{Pieces, Symmetry, SymmetryLimits};

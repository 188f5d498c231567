//! Sparse kernel, for spaces without tables.
//!
//! The moves of a state are computed once, when the state is new. All successors are exits, also those
//! in the same region: the next pass finds the new ones among them, by bits or by sorting.

mod kernel;
mod new_states;
mod targets;

pub(crate) use kernel::SparseKernel;
pub(crate) use new_states::{Narrow, Wide};

//! Sparse kernel, for spaces without tables.
//!
//! The moves of a state are computed once, when the state is new. All successors are exits, even those in
//! the same region. The next pass finds the new states among them, with a bit set or by sorting.

mod kernel;
mod new_states;
mod targets;

pub(crate) use kernel::SparseKernel;
pub(crate) use new_states::{Narrow, Wide};

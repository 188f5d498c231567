//! Errors of a step from a layer to the next.

/// The reason why the next layer could not be computed. The last layer is unchanged.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StepError {
    /// The memory budget is exceeded.
    #[error("a layer of the diagram does not fit the memory budget of {budget} bytes")]
    Memory {
        /// The budget in bytes.
        budget: usize,
    },
    /// A memoised step differs from its recomputation: a fingerprint collision, or a bug.
    #[error("a memoised step of level {level} differs from its recomputation")]
    Mismatch {
        /// Level of the node.
        level: u8,
    },
    /// There are more items of a kind than numbers for them.
    #[error("the diagram needs more than {limit} {what}, which is the limit")]
    TooMany {
        /// The numbered items, in the plural.
        what: &'static str,
        /// The largest number of items.
        limit: usize,
    },
}

/// Checks that `wanted` items can be numbered, of at most `limit`.
///
/// # Errors
/// [`StepError::TooMany`] if they exceed the limit.
pub(crate) fn check_count(
    what: &'static str,
    wanted: usize,
    limit: usize,
) -> Result<(), StepError> {
    if wanted > limit { Err(StepError::TooMany { what, limit }) } else { Ok(()) }
}

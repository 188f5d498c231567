//! Why a step cannot be made.

/// Why a layer could not be made. What was there before is still there.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StepError {
    /// The memory budget.
    #[error("a layer of the diagram does not fit the memory of {budget} bytes")]
    Memory {
        /// The budget in bytes.
        budget: usize,
    },
    /// A step that was remembered is not what it is now: a collision of fingerprints, or a bug.
    #[error("a step of level {level} that was remembered is not what it is when made again")]
    Mismatch {
        /// The level of the node.
        level: u8,
    },
    /// Numbers of one kind.
    #[error("the diagram has too many {what}: at most {limit} can be numbered")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there can be.
        limit: usize,
    },
}

/// Refuses more of something than can be numbered.
pub(crate) fn most(what: &'static str, wanted: usize, most: usize) -> Result<(), StepError> {
    if wanted > most { Err(StepError::TooMany { what, limit: most }) } else { Ok(()) }
}

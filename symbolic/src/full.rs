//! What can run out.

/// Why a layer could not be made. What was there before is still there.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Full {
    /// The memory budget.
    #[error("a layer of the diagram does not fit the memory of {budget} bytes")]
    Memory {
        /// The budget in bytes.
        budget: usize,
    },
    /// Numbers of one kind.
    #[error("the diagram has too many {what}: at most {most} can be numbered")]
    Numbers {
        /// Of what.
        what: &'static str,
        /// How many there can be.
        most: usize,
    },
}

//! Errors of the engine.

/// A search cannot start, or cannot answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The planes and tables exceed the memory budget.
    #[error("{states} states need {needed} bytes of memory, more than the budget of {budget}")]
    Budget {
        /// States of the space.
        states: u64,
        /// Bytes needed.
        needed: u64,
        /// The budget in bytes.
        budget: u64,
    },
    /// The system has no memory for the planes.
    #[error("the system refused {bytes} bytes of memory: {why}")]
    Allocation {
        /// Bytes asked for.
        bytes: usize,
        /// The system's message.
        why: String,
    },
    /// The processor lacks the instructions of the chosen kernel.
    #[error("this processor has no {0}")]
    Kernel(&'static str),
    /// Two layers that were loaded have a state in common.
    #[error("a state of layer {depth} is in another layer, too")]
    Repeated {
        /// The layer that was loaded later.
        depth: u32,
    },
    /// A search whose blocks are folded cannot push.
    #[error("symmetric blocks are folded, so layers are pulled and never pushed")]
    Push,
    /// Depths modulo 3 give shortest paths only if edges are undirected.
    #[error("the moves are not closed under inversion, so depths modulo 3 give no shortest paths")]
    Directed,
}

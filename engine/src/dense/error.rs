//! Errors of the dense engine.

/// The reason why a search cannot start, load a layer, or return a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The planes and tables exceed the memory budget.
    #[error("{states} states need {needed} bytes of memory, more than the budget of {budget}")]
    Budget {
        /// Number of states of the space.
        states: u64,
        /// Bytes needed.
        needed: u64,
        /// The budget in bytes.
        budget: u64,
    },
    /// The system has no memory for the planes.
    #[error("the system refused {bytes} bytes of memory: {why}")]
    Allocation {
        /// Bytes requested.
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
    /// States were added to a block that the search does not make.
    #[error("block {block} is not one of this search")]
    NotOwn {
        /// The block.
        block: u32,
    },
    /// A push was requested for a space with folded blocks, which can only be pulled.
    #[error("symmetric blocks are folded, so layers are pulled and never pushed")]
    Push,
    /// A path was requested in a space with directed edges. Depths modulo 3 give shortest paths only if
    /// edges are undirected.
    #[error("the moves are not closed under inversion, so depths modulo 3 give no shortest paths")]
    Directed,
}

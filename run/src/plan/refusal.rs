//! Refusals: inputs that do not fit the plan, and reports that contradict each other.

/// An input that does not fit the plan's state. It has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A report of another layer than the running one.
    #[error("a report of depth {found}, not {expected}")]
    WrongDepth {
        /// The running layer.
        expected: u32,
        /// The report's.
        found: u32,
    },
    /// The pool has not returned a result for each worker.
    #[error("{found} results of {expected} workers")]
    Results {
        /// The workers.
        expected: usize,
        /// The results.
        found: usize,
    },
    /// The plan does not expect the input in its state.
    #[error("unexpected {what}")]
    NotRequested {
        /// The input.
        what: &'static str,
    },
    /// No search can have found the reported layer: the plan is over.
    #[error("the reports of layer {depth} cannot be true: {what}")]
    Implausible {
        /// The layer.
        depth: u32,
        /// Which figures contradict each other.
        what: String,
    },
    /// The files of a checkpoint do not hold the reported layer: the plan is over.
    #[error("the files of layer {depth} have {found}; the layer has {expected}")]
    Incomplete {
        /// The layer.
        depth: u32,
        /// What the workers reported of the layer.
        expected: String,
        /// What they reported of its files.
        found: String,
    },
    /// A restored layer is not the one that was saved: the plan is over.
    #[error("the layer of depth {depth} has {found}, not {expected}")]
    Differs {
        /// The layer.
        depth: u32,
        /// What was recorded.
        expected: String,
        /// What the workers found.
        found: String,
    },
}

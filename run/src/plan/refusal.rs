//! Refusals: inputs that do not fit the plan, and reports that contradict each other.

/// An input that the plan refuses. It changes nothing, unless the variant says that the plan is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A report of another layer than the running one.
    #[error("a report of depth {found}, not {expected}")]
    WrongDepth {
        /// The running layer.
        expected: u32,
        /// The layer of the report.
        found: u32,
    },
    /// The pool has not returned a result for each worker.
    #[error("{found} results of {expected} workers")]
    Results {
        /// The number of workers.
        expected: usize,
        /// The number of results.
        found: usize,
    },
    /// Workers have made different numbers of layers in one window.
    #[error("one worker has made {one} layers, another one {other}")]
    DifferentEnds {
        /// Layers of one worker.
        one: usize,
        /// Layers of another worker.
        other: usize,
    },
    /// The workers went on after a layer that ends the search or the window: the plan is over.
    #[error("the workers have not stopped after layer {depth}")]
    PastEnd {
        /// The layer.
        depth: u32,
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
        /// The figures that contradict each other.
        what: String,
    },
    /// The files of a checkpoint do not hold the reported layer: the plan is over.
    #[error("the files of layer {depth} have {found}; the layer has {expected}")]
    Incomplete {
        /// The layer.
        depth: u32,
        /// The figures that the workers reported for the layer.
        expected: String,
        /// The figures that they reported for its files.
        found: String,
    },
    /// A restored layer is not the one that was saved: the plan is over.
    #[error("the layer of depth {depth} has {found}, not {expected}")]
    Differs {
        /// The layer.
        depth: u32,
        /// The recorded figures.
        expected: String,
        /// The figures that the workers counted.
        found: String,
    },
}

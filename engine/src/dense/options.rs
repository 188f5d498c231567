//! Options of a dense search.

use strata_space::dense::DenseTables;

use crate::dense::error::SearchError;
use crate::dense::kernel::Kernel;

/// Options of a search. Kernel, direction and threads change its speed, never its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Limit, in bytes, of planes, tables (also those of the space) and scratch memory.
    pub memory: u64,
    /// Whether layers have digests.
    pub digest: bool,
    /// The instructions to use; None for the fastest that the processor supports.
    pub kernel: Option<Kernel>,
    /// The direction in which all layers are made; None to choose the cheaper one for each layer.
    pub direction: Option<Direction>,
}

impl Default for Options {
    /// One thread, 1 GiB, digests.
    fn default() -> Options {
        Options { threads: 1, memory: 1 << 30, digest: true, kernel: None, direction: None }
    }
}

impl Options {
    /// The direction in which all layers of a space are made; None to choose the cheaper one for each
    /// layer. Folded blocks are pulled: a push would miss the other images of a successor in its block.
    ///
    /// # Errors
    /// [`SearchError::Push`] if the options request a push of folded blocks.
    pub(crate) fn direction_of(
        &self,
        tables: &DenseTables,
    ) -> Result<Option<Direction>, SearchError> {
        match self.direction {
            Some(Direction::Push) if tables.is_folded() => Err(SearchError::Push),
            None if tables.is_folded() => Ok(Some(Direction::Pull)),
            direction => Ok(direction),
        }
    }
}

/// The direction in which a layer is made from the layer before.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From every state of the layer before to its successors.
    Push,
    /// From every state that was not reached yet to its predecessors.
    Pull,
}

//! Options of a search.

use strata_space::dense::DenseTables;

use crate::dense::error::SearchError;
use crate::dense::kernel::Kernel;

/// Options of a search. Kernel, direction and threads change its speed, never its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads, at least 1.
    pub threads: usize,
    /// Limit in bytes of planes, tables and scratch memory, the space's tables included.
    pub memory: u64,
    /// Whether layers have digests.
    pub digest: bool,
    /// The instructions to use; None for the best that the processor has.
    pub kernel: Option<Kernel>,
    /// How every layer is made; None for the cheaper way.
    pub direction: Option<Direction>,
}

impl Default for Options {
    /// One thread, 1 GiB, digests.
    fn default() -> Options {
        Options { threads: 1, memory: 1 << 30, digest: true, kernel: None, direction: None }
    }
}

impl Options {
    /// How every layer of a space is made; None for the cheaper way. Folded blocks are pulled: a push
    /// would miss images of a successor in its own block.
    ///
    /// # Errors
    /// [`SearchError::Push`] if the options ask for a push of folded blocks.
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

/// How a layer is made from the one before.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From every state of the layer before to its successors.
    Push,
    /// From every state that was not reached to its predecessors.
    Pull,
}

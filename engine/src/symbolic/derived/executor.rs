//! Where derived data is computed: on the calling thread, or on a helper thread.

use crate::symbolic::derived::data::DerivedData;
use crate::symbolic::derived::helper::HelperThread;
use crate::symbolic::exits::sets::ExitSets;
use crate::symbolic::memory::budget::BudgetShare;
use crate::symbolic::node::reference::Ref;

/// Executor of derivations.
pub(crate) enum Executor<C> {
    Inline(Box<DerivedData>),
    Helper(HelperThread<C>),
}

impl<C: Copy + Send + Sync + 'static> Executor<C> {
    /// An executor for `threads` threads: with two or more a helper thread, if it can be started.
    pub(crate) fn new(
        threads: usize,
        share: &BudgetShare,
        with_stats: bool,
        prealloc_bytes: usize,
    ) -> Executor<C> {
        let second = || HelperThread::start(share, with_stats, prealloc_bytes);
        match (threads > 1).then(second).flatten() {
            Some(helper) => Executor::Helper(helper),
            None => Executor::Inline(Box::new(DerivedData::new(share, with_stats, prealloc_bytes))),
        }
    }

    /// Memory in bytes; the exit sets count where they are not a copy.
    pub(crate) fn bytes(&self, exit_sets: &ExitSets) -> usize {
        match self {
            Executor::Inline(data) => data.bytes() + exit_sets.bytes(),
            Executor::Helper(helper) => helper.bytes,
        }
    }

    /// Memory in bytes of exit sets that are a copy of the helper thread's.
    pub(crate) fn copy_bytes(&self, exit_sets: &ExitSets) -> usize {
        match self {
            Executor::Inline(_) => 0,
            Executor::Helper(_) => exit_sets.bytes(),
        }
    }

    /// Number of exit sets.
    pub(crate) fn set_count(&self) -> usize {
        match self {
            Executor::Inline(data) => data.set_count(),
            Executor::Helper(helper) => helper.set_count,
        }
    }

    /// Prefetches what the derivation of a parent reads of a node.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        if let Executor::Inline(data) = self {
            data.prefetch(set);
        }
    }
}

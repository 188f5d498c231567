//! Executor of derivations: it computes derived data on the calling thread or on a helper thread.

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
    /// An executor for `threads` threads. With two or more it uses a helper thread, if that can be started.
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

    /// Memory in bytes. It includes `exit_sets`, unless they are a copy of the helper thread's.
    pub(crate) fn bytes(&self, exit_sets: &ExitSets) -> usize {
        match self {
            Executor::Inline(data) => data.bytes() + exit_sets.bytes(),
            Executor::Helper(helper) => helper.bytes,
        }
    }

    /// Memory of `exit_sets` in bytes if they are a copy of the helper thread's; otherwise 0.
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

    /// Prefetches the data of a node that the derivation of its parent reads.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        if let Executor::Inline(data) = self {
            data.prefetch(set);
        }
    }
}

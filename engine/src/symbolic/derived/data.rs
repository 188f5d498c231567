//! Derived data of nodes: exit sets, legal moves and digests.
//!
//! The data follows from a node's content, so comparisons of nodes ignore it.

use crate::symbolic::derived::stats::{NodeStats, NodeStatsTable};
use crate::symbolic::error::StepError;
use crate::symbolic::exits::intern::ExitInterner;
use crate::symbolic::exits::sets::ExitSets;
use crate::symbolic::exits::source::{ExitSource, InnerNode};
use crate::symbolic::index::shared::SharedIndex;
use crate::symbolic::memory::budget::BudgetShare;
use crate::symbolic::node::reference::Ref;

/// A new node, as input of [`DerivedData::derive`].
#[derive(Copy, Clone)]
pub(crate) enum NewNode<'a> {
    Inner(InnerNode<'a>),
    /// A leaf node: its exit moves as a bit mask, the leaf states after each move, and its statistics.
    Leaf {
        moves: u16,
        exits: &'a [u64],
        stats: NodeStats,
    },
}

/// Computes and stores the derived data of nodes, which come in the order of their numbers, from 1 on.
pub(crate) struct DerivedData {
    exits: ExitInterner,
    /// None if statistics are not requested.
    stats: Option<NodeStatsTable>,
    /// The first error, after which nothing more is derived.
    error: Option<StepError>,
}

impl DerivedData {
    /// An empty store. It takes memory from shares of the same budget as `share`. No list preallocates
    /// more than `prealloc_bytes` bytes.
    pub(crate) fn new(share: &BudgetShare, with_stats: bool, prealloc_bytes: usize) -> DerivedData {
        let stats = || NodeStatsTable::new(share.split(), prealloc_bytes);
        DerivedData {
            exits: ExitInterner::new(share.split(), prealloc_bytes / 4),
            stats: with_stats.then(stats),
            error: None,
        }
    }

    /// Memory in bytes, without the exit sets themselves.
    pub(crate) fn bytes(&self) -> usize {
        self.exits.bytes() + self.stats.as_ref().map_or(0, NodeStatsTable::bytes)
    }

    /// Number of exit sets.
    pub(crate) fn set_count(&self) -> usize {
        self.exits.len()
    }

    /// Statistics of a set; None if statistics are not requested.
    pub(crate) fn stats(&self, set: Ref) -> Option<NodeStats> {
        Some(self.stats.as_ref()?.get(set))
    }

    /// Prefetches the statistics of a node.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        if let Some(stats) = &self.stats {
            stats.prefetch(set);
        }
    }

    /// Returns the first error of the derivations so far.
    pub(crate) fn check(&self) -> Result<(), StepError> {
        self.error.map_or(Ok(()), Err)
    }

    /// Derives the data of the next node. Appends its exit sets to `exits_out`, in the order of moves.
    #[inline(always)]
    pub(crate) fn derive<C>(
        &mut self,
        index: &SharedIndex<C>,
        exit_sets: &mut ExitSets,
        nodes: &impl ExitSource,
        node: NewNode<'_>,
        exits_out: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        self.check()?;
        let result = match node {
            NewNode::Inner(inner) => self.derive_inner(index, exit_sets, nodes, inner, exits_out),
            NewNode::Leaf { exits, stats, .. } => {
                self.derive_leaf(index, exit_sets, exits, stats, exits_out)
            }
        };
        self.error = result.err();
        result
    }

    fn derive_inner<C>(
        &mut self,
        index: &SharedIndex<C>,
        exit_sets: &mut ExitSets,
        nodes: &impl ExitSource,
        inner: InnerNode<'_>,
        exits_out: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        if let Some(stats) = &mut self.stats {
            stats.push_inner(index, inner.level, inner.configs, inner.children)?;
        }
        if inner.moves == 0 {
            return Ok(());
        }
        self.exits.intern_exits(index, exit_sets, nodes, inner, exits_out)
    }

    fn derive_leaf<C>(
        &mut self,
        index: &SharedIndex<C>,
        exit_sets: &mut ExitSets,
        exits: &[u64],
        leaf_stats: NodeStats,
        exits_out: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        if let Some(stats) = &mut self.stats {
            stats.push(leaf_stats)?;
        }
        for set in exits {
            exits_out.push(self.exits.intern_leaf(index, exit_sets, *set)?.word());
        }
        Ok(())
    }
}

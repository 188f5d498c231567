//! Statistics of nodes: numbers of legal moves and digests of their current states.

use strata_space::Weight;
use strata_space::nested::NestedSpace;

use crate::memory::preallocate;
use crate::memory::prefetch;
use crate::symbolic::error::StepError;
use crate::symbolic::index::bits::{ConfigSet, bits};
use crate::symbolic::index::shared::SharedIndex;
use crate::symbolic::index::space::{ClassId, SpaceIndex};
use crate::symbolic::memory::budget::BudgetShare;
use crate::symbolic::memory::grow::reserve;
use crate::symbolic::node::reference::Ref;

/// Statistics of a node's current states, besides their number.
#[derive(Copy, Clone, Default, Debug, PartialEq)]
pub(crate) struct NodeStats {
    /// Number of legal moves.
    pub(crate) moves: u64,
    /// Sum of the weights.
    pub(crate) digest: Weight,
    /// Sum of the weights of the states' flips.
    flipped_digest: Weight,
}

impl NodeStats {
    /// Statistics of a leaf's states.
    pub(crate) fn of_leaf<S: NestedSpace>(
        index: &SpaceIndex<S>,
        class: ClassId,
        current: u64,
    ) -> NodeStats {
        let mut sum = NodeStats::default();
        for leaf in bits(current) {
            let [own, flip] = index.leaves().weights[leaf];
            sum.moves += index.degree(class, leaf);
            sum.digest += own;
            sum.flipped_digest += flip;
        }
        sum
    }

    fn flip_if(self, flip: bool) -> NodeStats {
        let NodeStats { moves, digest, flipped_digest } = self;
        if flip {
            NodeStats { moves, digest: flipped_digest, flipped_digest: digest }
        } else {
            self
        }
    }
}

/// Statistics by node. They take 40 bytes per node, half as much memory as everything else together.
pub(crate) struct NodeStatsTable {
    stats: Vec<NodeStats>,
    share: BudgetShare,
}

impl NodeStatsTable {
    /// A table with the empty set only, with `prealloc_bytes` bytes preallocated.
    pub(crate) fn new(share: BudgetShare, prealloc_bytes: usize) -> NodeStatsTable {
        let mut stats = Vec::new();
        preallocate(&mut stats, prealloc_bytes);
        stats.push(NodeStats::default());
        NodeStatsTable { stats, share }
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.stats.len() * size_of::<NodeStats>()
    }

    /// Statistics of a set.
    pub(crate) fn get(&self, set: Ref) -> NodeStats {
        self.stats[set.id()].flip_if(set.is_flipped())
    }

    /// Prefetches the statistics of a set.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        prefetch(&self.stats, set.id());
    }

    /// Appends the statistics of the next node: sums over its children, of which each has the weight of its
    /// configuration as a factor.
    #[inline(always)]
    pub(crate) fn push_inner<C>(
        &mut self,
        index: &SharedIndex<C>,
        level: u8,
        configs: ConfigSet,
        children: &[u32],
    ) -> Result<(), StepError> {
        let mut sum = NodeStats::default();
        for (config, set) in configs.iter().zip(children) {
            let NodeStats { moves, digest, flipped_digest } = self.get(Ref::from_word(*set));
            let [own, flip] = index.config(level, config).weights;
            sum.moves += moves;
            sum.digest += own * digest;
            sum.flipped_digest += flip * flipped_digest;
        }
        self.push(sum)
    }

    /// Appends the statistics of the next node.
    pub(crate) fn push(&mut self, stats: NodeStats) -> Result<(), StepError> {
        self.share.grow_to(self.bytes() + size_of::<NodeStats>())?;
        reserve(&mut self.stats, 1);
        self.stats.push(stats);
        Ok(())
    }
}

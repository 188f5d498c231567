//! Stats.

use strata_space::Weight;
use strata_space::nested::NestedSpace;

use crate::error::StepError;
use crate::index::bits::{Configs, bits};
use crate::index::shared::Known;
use crate::index::space::{ClassId, Levels};
use crate::memory::budget::Share;
use crate::memory::prefetch::prefetch;
use crate::memory::reserve::{promise, reserve};
use crate::node::reference::Ref;

/// What is known of a node's current states besides their number.
#[derive(Copy, Clone, Default, Debug, PartialEq)]
pub(crate) struct Detail {
    /// Legal moves.
    pub(crate) moves: u64,
    /// Sum of the weights.
    pub(crate) digest: Weight,
    /// Sum of the weights of the flips.
    flipped: Weight,
}

impl Detail {
    /// That of a leaf.
    pub(crate) fn of_leaf<S: NestedSpace>(
        levels: &Levels<S>,
        class: ClassId,
        current: u64,
    ) -> Detail {
        let mut sum = Detail::default();
        for leaf in bits(current) {
            let [own, flip] = levels.leaves().weights[leaf];
            sum.moves += levels.degree(class, leaf);
            sum.digest += own;
            sum.flipped += flip;
        }
        sum
    }

    fn flip_if(self, flip: bool) -> Detail {
        let Detail { moves, digest, flipped } = self;
        if flip { Detail { moves, digest: flipped, flipped: digest } } else { self }
    }
}

/// Details, by node: they take half as much memory as all the rest.
pub(crate) struct Details {
    details: Vec<Detail>,
    share: Share,
}

impl Details {
    /// Of the empty set, within a share of the budget and with a promise of so many bytes.
    pub(crate) fn new(share: Share, promised: usize) -> Details {
        let mut details = Vec::new();
        promise(&mut details, promised);
        details.push(Detail::default());
        Details { details, share }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.details.len() * size_of::<Detail>()
    }

    /// A node's.
    pub(crate) fn of(&self, set: Ref) -> Detail {
        self.details[set.id()].flip_if(set.is_flipped())
    }

    /// Asks for a node's, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        prefetch(&self.details, set.id());
    }

    /// Sums up those of the next node, which has these configurations and what is below them.
    #[inline(always)]
    pub(crate) fn sum_up<C>(
        &mut self,
        known: &Known<C>,
        level: u8,
        configs: Configs,
        below: &[u32],
    ) -> Result<(), StepError> {
        let mut sum = Detail::default();
        for (config, set) in configs.iter().zip(below) {
            let Detail { moves, digest, flipped } = self.of(Ref::of_word(*set));
            let [own, flip] = known.config(level, config).weights;
            sum.moves += moves;
            sum.digest += own * digest;
            sum.flipped += flip * flipped;
        }
        self.add(sum)
    }

    /// Adds those of the next node.
    pub(crate) fn add(&mut self, detail: Detail) -> Result<(), StepError> {
        self.share.allow(self.bytes() + size_of::<Detail>())?;
        reserve(&mut self.details, 1);
        self.details.push(detail);
        Ok(())
    }
}

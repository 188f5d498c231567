//! Numbers of each node's current states: how many, their moves, their digest.

use rustc_hash::FxHashMap;
use strata_space::Weight;
use strata_space::nested::NestedSpace;

use crate::budget::Share;
use crate::diagram::Diagram;
use crate::error::StepError;
use crate::levels::{ClassId, Configs, Known, Levels, bits};
use crate::memory::{prefetch, promise, reserve};
use crate::node::MANY;
use crate::refs::Ref;

/// Numbers of states that nodes have no room for.
#[derive(Default)]
pub(crate) struct Many(FxHashMap<u32, u64>);

impl Many {
    /// How many states a node has, of which many are noted here.
    #[inline(always)]
    pub(crate) fn states(&self, id: usize, noted: u32) -> u64 {
        if noted < MANY { noted.into() } else { self.many_states(id) }
    }

    #[cold]
    fn many_states(&self, id: usize) -> u64 {
        self.0.get(&(id as u32)).copied().unwrap_or(MANY.into())
    }

    /// What a node notes of its number of states.
    #[inline(always)]
    pub(crate) fn note(&mut self, id: u32, states: u64) -> u32 {
        let noted = states.min(MANY.into()) as u32;
        if noted == MANY {
            self.0.insert(id, states);
        }
        noted
    }
}

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

/// Current states of a top node that are their own flips, and their moves.
pub(crate) fn fixed<S: NestedSpace>(diagram: &Diagram<S>, top: Ref) -> (u64, u64) {
    fixed_below(diagram, diagram.levels.top(), top, &mut FxHashMap::default())
}

fn fixed_below<S: NestedSpace>(
    diagram: &Diagram<S>,
    level: u8,
    set: Ref,
    known: &mut FxHashMap<usize, (u64, u64)>,
) -> (u64, u64) {
    let id = set.id();
    if let Some(sums) = known.get(&id) {
        return *sums;
    }
    // A set and its flip have the same fixed states.
    let stored = Ref::new(id as u32, false, false);
    let mut sums = (0, 0);
    if level == diagram.levels.leaf() {
        let class = diagram.node(stored).class();
        let states = bits(diagram.leaf(stored).current);
        for leaf in states.filter(|leaf| diagram.levels.leaves().is_fixed(*leaf)) {
            sums = (sums.0 + 1, sums.1 + diagram.levels.degree(class, leaf));
        }
    } else {
        for entry in diagram.stored(id) {
            if diagram.levels.config(level, entry.config).flip == entry.config {
                let (states, moves) = fixed_below(diagram, level - 1, entry.below, known);
                sums = (sums.0 + states, sums.1 + moves);
            }
        }
    }
    known.insert(id, sums);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_states_are_noted_beside_the_node() {
        let mut many = Many::default();
        for (id, states) in (1..).zip([0, 1, 1 << 31, u32::MAX.into(), 1 << 32, 3 << 60]) {
            let noted = many.note(id, states);
            assert_eq!(many.states(id as usize, noted), states);
        }
    }
}

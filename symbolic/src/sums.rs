//! Numbers of each node's current states: how many, their moves, their digest.

use rustc_hash::FxHashMap;
use strata_space::Weight;
use strata_space::nested::NestedSpace;

use crate::diagram::Diagram;
use crate::levels::{ClassId, Configs, Levels, bits};
use crate::memory::{prefetch, promise, reserve};
use crate::node::MANY;
use crate::refs::Ref;

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

/// Numbers of current states, as far as they are not in the nodes.
pub(crate) struct Sums {
    /// By node, how many there are where that is [`MANY`] or more.
    many: FxHashMap<u32, u64>,
    /// By node; None if they are not wanted: they take half as much memory as all the rest.
    details: Option<Vec<Detail>>,
}

impl Sums {
    /// Of the empty set; the details are promised so many bytes.
    pub(crate) fn new(with_details: bool, promised: usize) -> Sums {
        let details = || {
            let mut details = Vec::new();
            promise(&mut details, promised);
            details.push(Detail::default());
            details
        };
        Sums { many: FxHashMap::default(), details: with_details.then(details) }
    }

    /// Bytes of memory for each node.
    pub(crate) fn bytes_each(&self) -> usize {
        self.details.as_ref().map_or(0, |_| size_of::<Detail>())
    }

    /// Makes room for a node.
    #[inline(always)]
    pub(crate) fn reserve(&mut self) {
        if let Some(details) = &mut self.details {
            reserve(details, 1);
        }
    }

    /// How many states a node has, of which many are noted here.
    #[inline(always)]
    pub(crate) fn states(&self, id: usize, noted: u32) -> u64 {
        if noted < MANY { noted.into() } else { self.many_states(id) }
    }

    #[cold]
    fn many_states(&self, id: usize) -> u64 {
        self.many.get(&(id as u32)).copied().unwrap_or(MANY.into())
    }

    /// What a node notes of its number of states.
    #[inline(always)]
    pub(crate) fn note(&mut self, id: u32, states: u64) -> u32 {
        let noted = states.min(MANY.into()) as u32;
        if noted == MANY {
            self.many.insert(id, states);
        }
        noted
    }

    /// What else is known of them.
    pub(crate) fn detail(&self, set: Ref) -> Option<Detail> {
        let detail = self.details.as_ref()?[set.id()];
        let Detail { moves, digest, flipped } = detail;
        Some(if set.is_flipped() {
            Detail { moves, digest: flipped, flipped: digest }
        } else {
            detail
        })
    }

    /// Asks for what else is known of a node's states, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        if let Some(details) = &self.details {
            prefetch(details, set.id());
        }
    }

    /// What else is known of the next node, which has these configurations and what is below them.
    pub(crate) fn add_node<S: NestedSpace>(
        &mut self,
        levels: &Levels<S>,
        level: u8,
        configs: Configs,
        below: &[u32],
    ) {
        let Some(details) = &mut self.details else { return };
        let mut sum = Detail::default();
        for (config, set) in configs.iter().zip(below) {
            let set = Ref::of_word(*set);
            let Detail { moves, digest, flipped } = details[set.id()];
            let (digest, flipped) =
                if set.is_flipped() { (flipped, digest) } else { (digest, flipped) };
            let [own, flip] = levels.config(level, config).weights;
            sum.moves += moves;
            sum.digest += own * digest;
            sum.flipped += flip * flipped;
        }
        details.push(sum);
    }

    /// What else is known of the next node, which is a leaf.
    pub(crate) fn add_leaf<S: NestedSpace>(
        &mut self,
        levels: &Levels<S>,
        class: ClassId,
        current: u64,
    ) {
        let Some(details) = &mut self.details else { return };
        let mut sum = Detail::default();
        for leaf in bits(current) {
            let [own, flip] = levels.leaves.weights[leaf];
            sum.moves += levels.degree(class, leaf);
            sum.digest += own;
            sum.flipped += flip;
        }
        details.push(sum);
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
        for leaf in states.filter(|leaf| diagram.levels.leaves.is_fixed(*leaf)) {
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
        let mut sums = Sums::new(false, 0);
        for (id, states) in (1..).zip([0, 1, 1 << 31, u32::MAX.into(), 1 << 32, 3 << 60]) {
            let noted = sums.note(id, states);
            assert_eq!(sums.states(id as usize, noted), states);
        }
    }
}

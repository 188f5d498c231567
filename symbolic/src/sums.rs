//! Numbers of each node's current states: how many, their moves, their digest.

use rustc_hash::FxHashMap;
use strata_space::Weight;
use strata_space::nested::NestedSpace;

use crate::diagram::Diagram;
use crate::levels::{ClassId, Configs, Levels, bits};
use crate::prefetch::prefetch;
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

/// Numbers of current states, by node.
pub(crate) struct Sums {
    states: Vec<u64>,
    /// None if they are not wanted: they take five times as much memory as the states.
    details: Option<Vec<Detail>>,
}

impl Sums {
    /// Of the empty set.
    pub(crate) fn new(with_details: bool) -> Sums {
        Sums { states: vec![0], details: with_details.then(|| vec![Detail::default()]) }
    }

    pub(crate) fn bytes_each(&self) -> usize {
        size_of::<u64>() + self.details.as_ref().map_or(0, |_| size_of::<Detail>())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.states.capacity() * self.bytes_each()
    }

    /// Makes room for so many nodes in all.
    pub(crate) fn reserve(&mut self, nodes: usize) {
        self.states.reserve_exact(nodes - self.states.len());
        if let Some(details) = &mut self.details {
            details.reserve_exact(nodes - details.len());
        }
    }

    /// The number of a node's current states.
    pub(crate) fn states(&self, set: Ref) -> u64 {
        self.states[set.id()]
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

    /// Asks for the numbers of a node, ahead of their use.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        prefetch(&self.states, set.id());
        if let Some(details) = &self.details {
            prefetch(details, set.id());
        }
    }

    /// The numbers of the next node, which has these configurations and what is below them.
    pub(crate) fn add_node<S: NestedSpace>(
        &mut self,
        levels: &Levels<S>,
        level: u8,
        configs: Configs,
        below: &[u32],
    ) {
        let sets = || below.iter().map(|word| Ref::of_word(*word));
        self.states.push(sets().map(|set| self.states[set.id()]).sum());
        let Some(details) = &mut self.details else { return };
        let mut sum = Detail::default();
        for (config, set) in configs.iter().zip(sets()) {
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

    /// The numbers of the next node, which is a leaf.
    pub(crate) fn add_leaf<S: NestedSpace>(
        &mut self,
        levels: &Levels<S>,
        class: ClassId,
        current: u64,
    ) {
        self.states.push(current.count_ones().into());
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

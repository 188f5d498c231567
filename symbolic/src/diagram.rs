//! The diagram: all nodes and sets of exits, each content once.

use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::exits::Slots;
use crate::gathered::Gathered;
use crate::intern::RECENT;
use crate::levels::{ConfigId, Configs, Levels};
use crate::node::{HOLLOW, LeafSets, NEAR, Node, moves_in};
use crate::prefetch::prefetch;
use crate::refs::Ref;
use crate::sums::Sums;

/// A word of 64 bits, in two.
#[inline(always)]
pub(crate) fn split(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Undoes [`split`].
#[inline(always)]
pub(crate) fn joined(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

/// See the module.
pub(crate) struct Diagram<S: NestedSpace> {
    pub(crate) levels: Levels<S>,
    pub(crate) nodes: Vec<Node>,
    /// By node.
    pub(crate) sums: Sums,
    pub(crate) words: Vec<u32>,
    pub(crate) numbers: HashTable<u32>,
    pub(crate) leaf_numbers: HashTable<u32>,
    /// Sets of exits, each an even number of words: its configurations (two words) and what is below
    /// each, in order; of the leaf its states (two words). A set's number is half of where it begins.
    pub(crate) exit_words: Vec<u32>,
    pub(crate) exit_numbers: HashTable<u32>,
    pub(crate) leaf_exit_numbers: HashTable<u32>,
    /// Sets of exits that were asked for lately, by hash: few, so that they stay in the processor's
    /// cache.
    pub(crate) recent_exits: Box<[(u64, u32); RECENT]>,
    /// What became of a node when something else came in than its own memory holds.
    pub(crate) further: FxHashMap<(u32, u64), Ref>,
    pub(crate) budget: usize,
    /// Of so many steps from memory one is made again; 0 for none.
    pub(crate) verify: u32,
    /// Steps from memory since the last that was made again.
    pub(crate) remembered: u32,
    /// Scratch of a step: sets that come in.
    pub(crate) incoming: Vec<Ref>,
    /// Scratch of a step: sets that come in below a node of a level, by configuration.
    pub(crate) gathered: Vec<Gathered>,
    /// Scratch: what hangs below the configurations of nodes that are being made, in order.
    pub(crate) made: Vec<u32>,
    /// Scratch: by level, the sets of exits of a node that are being made.
    pub(crate) slots: Vec<Slots>,
    pub(crate) flipped: [u32; 64],
}

/// A configuration and what hangs below it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entry {
    pub(crate) config: ConfigId,
    pub(crate) below: Ref,
}

/// A strong mix of one word into another.
#[inline(always)]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl<S: NestedSpace> Diagram<S> {
    /// An empty diagram that keeps to a budget in bytes.
    pub(crate) fn new(space: Arc<S>, budget: usize, with_digests: bool) -> Diagram<S> {
        let levels = Levels::new(space);
        let all = usize::from(levels.top()) + 1;
        Diagram {
            // Number 0 is the empty set.
            nodes: vec![Node { meta: HOLLOW, ..Node::default() }],
            sums: Sums::new(with_digests),
            words: Vec::new(),
            numbers: HashTable::new(),
            leaf_numbers: HashTable::new(),
            exit_words: vec![0; 2],
            exit_numbers: HashTable::new(),
            leaf_exit_numbers: HashTable::new(),
            recent_exits: Box::new([(0, 0); RECENT]),
            further: FxHashMap::default(),
            budget,
            verify: 0,
            remembered: 0,
            incoming: Vec::new(),
            gathered: vec![Gathered::default(); all],
            made: Vec::new(),
            slots: vec![Slots::default(); all],
            flipped: [0; 64],
            levels,
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        let tables = [&self.numbers, &self.exit_numbers].map(HashTable::allocation_size);
        let further = self.further.capacity() * 3 * size_of::<u64>();
        let words = (self.words.capacity() + self.exit_words.capacity()) * size_of::<u32>();
        let nodes = self.nodes.capacity() * size_of::<Node>();
        nodes + self.sums.bytes() + words + tables.iter().sum::<usize>() + further
    }

    /// Drops what a step left behind that could not be finished.
    pub(crate) fn clear_scratch(&mut self) {
        self.incoming.clear();
        self.made.clear();
    }

    #[inline(always)]
    pub(crate) fn node(&self, set: Ref) -> &Node {
        &self.nodes[set.id()]
    }

    /// The exits of a set, flipped or not.
    #[inline(always)]
    pub(crate) fn exit_moves(&self, set: Ref) -> u16 {
        let mask = self.node(set).exits();
        if set.is_flipped() { self.levels.flip_moves(mask) } else { mask }
    }

    /// The configurations of a node above the leaf, not flipped.
    #[inline(always)]
    pub(crate) fn configs(&self, id: usize) -> Configs {
        if id == 0 {
            return Configs::default();
        }
        Configs(joined(&self.words[self.nodes[id].content()..]))
    }

    /// Where what hangs below the configurations of a node above the leaf begins.
    #[inline(always)]
    pub(crate) fn children(&self, id: usize) -> usize {
        self.nodes[id].content() + 2
    }

    /// What hangs below a configuration, by [`Self::children`] and its place, not flipped.
    #[inline(always)]
    pub(crate) fn child(&self, children: usize, at: usize) -> Ref {
        Ref::of_word(self.words[children + at])
    }

    /// The entries of a node above the leaf, not flipped.
    #[inline(always)]
    pub(crate) fn stored(&self, id: usize) -> impl Iterator<Item = Entry> {
        let begin = self.children(id);
        let children = (0..).map(move |at| self.child(begin, at));
        let entries = self.configs(id).iter().zip(children);
        entries.map(|(config, below)| Entry { config, below })
    }

    /// The entries of a node above the leaf, flipped if the reference is.
    pub(crate) fn entries(&self, level: u8, set: Ref) -> impl Iterator<Item = Entry> {
        self.stored(set.id())
            .map(move |entry| if set.is_flipped() { self.flip_entry(level, entry) } else { entry })
    }

    pub(crate) fn flip_entry(&self, level: u8, entry: Entry) -> Entry {
        let config = self.levels.config(level, entry.config).flip;
        Entry { config, below: entry.below.flip() }
    }

    /// The sets of a leaf, flipped if the reference is.
    pub(crate) fn leaf(&self, set: Ref) -> LeafSets {
        if set == Ref::EMPTY {
            return LeafSets::default();
        }
        let at = self.node(set).content();
        let [current, previous] = [at, at + 2].map(|at| joined(&self.words[at..]));
        let sets = LeafSets { current, previous };
        if set.is_flipped() { self.flip_leaf(sets) } else { sets }
    }

    pub(crate) fn flip_leaf(&self, sets: LeafSets) -> LeafSets {
        let flip = |set| self.levels.leaves.flip(set);
        LeafSets { current: flip(sets.current), previous: flip(sets.previous) }
    }

    /// A node's memory of its exits by a move.
    #[inline(always)]
    pub(crate) fn exit_memory(&mut self, id: usize, mv: usize) -> &mut u32 {
        let node = &mut self.nodes[id];
        let before = moves_in(node.exits() & ((1 << mv) - 1));
        match before.checked_sub(NEAR) {
            None => &mut node.near[before],
            Some(far) => &mut self.words[node.words as usize + far],
        }
    }

    /// The leaf states of a set of exits.
    pub(crate) fn leaf_exits(&self, set: Ref) -> u64 {
        let states = joined(&self.exit_words[2 * set.id()..]);
        if set.is_flipped() { self.levels.leaves.flip(states) } else { states }
    }

    /// The entries of a set of exits above the leaf, not flipped.
    #[inline(always)]
    pub(crate) fn stored_exits(&self, id: usize) -> impl Iterator<Item = Entry> {
        let content = &self.exit_words[2 * id..];
        let below = content[2..].iter().map(|word| Ref::of_word(*word));
        let entries = Configs(joined(content)).iter().zip(below);
        entries.map(|(config, below)| Entry { config, below })
    }

    /// Asks for what is below a node's configurations, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch_children(&self, id: usize) {
        let below = self.nodes[id].content() + 2;
        let children = &self.words[below..][..self.configs(id).len()];
        for word in children {
            prefetch(&self.nodes, Ref::of_word(*word).id());
        }
        for word in children {
            let child = &self.nodes[Ref::of_word(*word).id()];
            // Those that are new will be gone through themselves.
            if child.near[0] == 0 || child.next == 0 {
                prefetch(&self.words, child.words as usize);
            }
        }
    }

    /// Number of sets of exits.
    pub(crate) fn exit_sets(&self) -> usize {
        self.exit_numbers.len() + self.leaf_exit_numbers.len()
    }
}

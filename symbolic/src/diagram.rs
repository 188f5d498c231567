//! The diagram: all nodes and sets of exits, each content once.

use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::exits::Slots;
use crate::gathered::Gathered;
use crate::intern::RECENT;
use crate::levels::{ConfigId, Levels};
use crate::memory::{prefetch, promise};
use crate::node::{EXIT, LeafSets, NEAR, Node, UNIT, moves_in};
use crate::packed::{ConfigSets, List, Packed, Store};
use crate::refs::Ref;
use crate::sums::Sums;
use crate::table::Table;

/// Sets of exits begin at multiples of so many bytes.
pub(crate) const EXIT_UNIT: usize = 4;

/// See the module.
pub(crate) struct Diagram<S: NestedSpace> {
    pub(crate) levels: Levels<S>,
    pub(crate) nodes: Vec<Node>,
    /// By node.
    pub(crate) sums: Sums,
    /// What the nodes hold.
    pub(crate) content: Store<UNIT>,
    pub(crate) config_sets: ConfigSets,
    pub(crate) numbers: Table<27>,
    pub(crate) leaf_numbers: HashTable<u32>,
    /// Sets of exits: lists; of the leaf the states. A set's number is where it begins, in units.
    pub(crate) exit_content: Store<EXIT_UNIT>,
    pub(crate) exit_numbers: Table<25>,
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
    /// Scratch: a list that is being looked for.
    pub(crate) packed: Packed,
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
        // More than any of them takes of a budget that is full.
        let promised = budget / 2;
        let mut nodes = Vec::new();
        promise(&mut nodes, promised);
        // Number 0 is the empty set.
        nodes.push(Node::default());
        Diagram {
            nodes,
            sums: Sums::new(with_digests, promised),
            content: Store::new(0, promised),
            config_sets: ConfigSets::new(),
            numbers: Table::new(promised / 4),
            leaf_numbers: HashTable::new(),
            exit_content: Store::new(1, promised / 2),
            exit_numbers: Table::new(promised / 4),
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
            packed: Packed::default(),
            levels,
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        let further = self.further.capacity() * 3 * size_of::<u64>();
        let nodes = self.nodes.len() * self.bytes_each();
        let contents = self.content.bytes() + self.exit_content.bytes() + self.config_sets.bytes();
        let tables = self.numbers.bytes() + self.exit_numbers.bytes();
        nodes + contents + tables + further
    }

    /// Bytes of a node besides its content.
    pub(crate) fn bytes_each(&self) -> usize {
        size_of::<Node>() + self.sums.bytes_each()
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

    /// How many current states a set has.
    #[inline(always)]
    pub(crate) fn states(&self, set: Ref) -> u64 {
        self.sums.states(set.id(), self.node(set).states)
    }

    /// What hangs below a node above the leaf, not flipped.
    #[inline(always)]
    pub(crate) fn list(&self, id: usize) -> List {
        if id == 0 {
            return List::default();
        }
        self.content.list_at(&self.config_sets, self.nodes[id].content())
    }

    /// The entries of a node above the leaf, not flipped.
    #[inline(always)]
    pub(crate) fn stored(&self, id: usize) -> impl Iterator<Item = Entry> {
        self.content.entries(self.list(id))
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
        let [current, previous] = [at, at + size_of::<u64>()].map(|at| self.content.word(at));
        let sets = LeafSets { current, previous };
        if set.is_flipped() { self.flip_leaf(sets) } else { sets }
    }

    pub(crate) fn flip_leaf(&self, sets: LeafSets) -> LeafSets {
        let flip = |set| self.levels.leaves.flip(set);
        LeafSets { current: flip(sets.current), previous: flip(sets.previous) }
    }

    /// A node's exits by a move; 0 if not known yet.
    #[inline(always)]
    pub(crate) fn known_exits(&self, id: usize, mv: usize) -> u32 {
        let node = &self.nodes[id];
        let before = moves_in(node.exits() & ((1 << mv) - 1));
        match before.checked_sub(NEAR) {
            None => node.near[before],
            Some(far) => self.content.half(node.begin() + far * EXIT),
        }
    }

    /// Keeps a node's exits by a move.
    #[inline(always)]
    pub(crate) fn keep_exits(&mut self, id: usize, mv: usize, set: Ref) {
        let node = &mut self.nodes[id];
        let before = moves_in(node.exits() & ((1 << mv) - 1));
        match before.checked_sub(NEAR) {
            None => node.near[before] = set.word(),
            Some(far) => self.content.set_half(node.begin() + far * EXIT, set.word()),
        }
    }

    /// The leaf states of a set of exits.
    pub(crate) fn leaf_exits(&self, set: Ref) -> u64 {
        let states = self.exit_content.word(set.id() * EXIT_UNIT);
        if set.is_flipped() { self.levels.leaves.flip(states) } else { states }
    }

    /// The entries of a set of exits above the leaf, not flipped.
    #[inline(always)]
    pub(crate) fn stored_exits(&self, id: usize) -> impl Iterator<Item = Entry> {
        let list = self.exit_content.list_at(&self.config_sets, id * EXIT_UNIT);
        self.exit_content.entries(list)
    }

    /// Asks for a set of exits, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch_exits(&self, set: Ref) {
        prefetch(self.exit_content.from(set.id() * EXIT_UNIT), 0);
    }

    /// Reads the entries of a node above the leaf, and asks for what is below them, ahead of its use.
    #[inline(always)]
    pub(crate) fn read_entries(&self, id: usize, entries: &mut Vec<Entry>) {
        entries.clear();
        for entry in self.stored(id) {
            prefetch(&self.nodes, entry.below.id());
            entries.push(entry);
        }
        for entry in entries.iter() {
            let child = self.node(entry.below);
            // Those that are new will be gone through themselves; of others exits may be there.
            if child.near[0] == 0 || child.next == 0 || child.near[NEAR - 1] != 0 {
                prefetch(self.content.from(child.begin()), 0);
            }
        }
    }

    /// Number of sets of exits.
    pub(crate) fn exit_sets(&self) -> usize {
        self.exit_numbers.len() + self.leaf_exit_numbers.len()
    }
}

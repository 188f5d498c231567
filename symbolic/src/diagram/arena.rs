//! The diagram: all nodes and sets of exits, each content once.

use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::derived::executor::Work;
use crate::derived::stats::Detail;
use crate::diagram::incoming::Gathered;
use crate::exits::sets::ExitLists;
use crate::exits::source::Leaving;
use crate::index::space::Levels;
use crate::memory::budget::Share;
use crate::memory::prefetch::prefetch;
use crate::memory::reserve::promise;
use crate::node::config_sets::ConfigSets;
use crate::node::content::{Entry, List, Packed, Store};
use crate::node::counts::Many;
use crate::node::record::{EXIT, LeafSets, NEAR, Node, UNIT, moves_in};
use crate::node::reference::Ref;
use crate::node::table::Table;
use crate::options::Options;

/// See the module.
pub(crate) struct Diagram<S: NestedSpace> {
    pub(crate) levels: Levels<S>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) many: Many,
    /// What the nodes hold.
    pub(crate) content: Store<UNIT>,
    pub(crate) config_sets: ConfigSets,
    pub(crate) numbers: Table<27>,
    pub(crate) leaf_numbers: HashTable<u32>,
    pub(crate) exit_lists: ExitLists,
    /// Who works out exits and details.
    pub(crate) work: Work<S::Config>,
    /// The first node of which that is not known yet.
    pub(crate) unknown: usize,
    /// The detail of the last layer's top; None if details are not wanted.
    pub(crate) detail: Option<Detail>,
    /// What became of a node when something else came in than its own memory holds.
    pub(crate) further: FxHashMap<(u32, u64), Ref>,
    pub(crate) share: Share,
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
    /// Scratch: a list that is being looked for.
    pub(crate) packed: Packed,
    /// Scratch: a node's sets of exits, by move.
    pub(crate) found: Vec<u32>,
}

impl<S: NestedSpace> Diagram<S> {
    /// An empty diagram.
    pub(crate) fn new(space: Arc<S>, options: Options) -> Diagram<S> {
        let Options { memory, digests, verify, threads, .. } = options;
        let levels = Levels::new(space);
        let all = usize::from(levels.top()) + 1;
        // More than any of them takes of a budget that is full.
        let promised = memory / 2;
        let share = Share::of(memory);
        let mut nodes = Vec::new();
        promise(&mut nodes, promised);
        // Number 0 is the empty set.
        nodes.push(Node::default());
        Diagram {
            nodes,
            many: Many::default(),
            content: Store::new(0, promised),
            config_sets: ConfigSets::new(),
            numbers: Table::new(promised / 4),
            leaf_numbers: HashTable::new(),
            exit_lists: ExitLists::new(promised / 2),
            work: Work::new(threads, &share, digests, promised),
            unknown: 1,
            detail: None,
            further: FxHashMap::default(),
            share,
            verify,
            remembered: 0,
            incoming: Vec::new(),
            gathered: vec![Gathered::default(); all],
            made: Vec::new(),
            packed: Packed::default(),
            found: Vec::new(),
            levels,
        }
    }

    /// Bytes of memory that count as the diagram's own, not as the share of who works out exits.
    pub(crate) fn own_bytes(&self) -> usize {
        let further = self.further.capacity() * 3 * size_of::<u64>();
        let nodes = self.nodes.len() * size_of::<Node>();
        let contents = self.content.bytes() + self.config_sets.bytes();
        nodes + contents + self.numbers.bytes() + further + self.work.copy_bytes(&self.exit_lists)
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.own_bytes() + self.work.bytes(&self.exit_lists)
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
        self.many.states(set.id(), self.node(set).states)
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
        let flip = |set| self.levels.leaves().flip(set);
        LeafSets { current: flip(sets.current), previous: flip(sets.previous) }
    }

    /// The current states of a node that let something larger make a move, after it.
    #[inline(always)]
    pub(crate) fn exits(&self, set: Ref, mv: usize) -> Ref {
        let flipped = set.is_flipped();
        let mv = if flipped { self.levels.known.flip_move(mv) } else { mv };
        let nodes = Stored { nodes: &self.nodes, content: &self.content };
        let exits = nodes.exits(set.id(), mv);
        debug_assert_ne!(exits, 0, "exits of a node that have not been worked out");
        Ref::of_word(exits).flip_if(flipped)
    }

    /// Keeps a node's exits, by move.
    #[inline(always)]
    pub(crate) fn keep_exits(&mut self, id: usize, exits: &[u32]) {
        let node = &mut self.nodes[id];
        for (at, word) in exits.iter().enumerate() {
            match at.checked_sub(NEAR) {
                None => node.near[at] = *word,
                Some(far) => self.content.set_half(node.begin() + far * EXIT, *word),
            }
        }
    }

    /// The leaf states of a set of exits.
    pub(crate) fn leaf_exits(&self, set: Ref) -> u64 {
        let states = self.exit_lists.leaf(set.id());
        if set.is_flipped() { self.levels.leaves().flip(states) } else { states }
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
            if child.next == 0 || child.near[NEAR - 1] != 0 {
                prefetch(self.content.from(child.begin()), 0);
            }
        }
    }
}

/// The nodes of a diagram and their exits.
pub(crate) struct Stored<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) content: &'a Store<UNIT>,
}

impl Leaving for Stored<'_> {
    #[inline(always)]
    fn moves(&self, id: usize) -> u16 {
        self.nodes[id].exits()
    }

    #[inline(always)]
    fn exits(&self, id: usize, mv: usize) -> u32 {
        let node = &self.nodes[id];
        let before = moves_in(node.exits() & ((1 << mv) - 1));
        match before.checked_sub(NEAR) {
            None => node.near[before],
            Some(far) => self.content.half(node.begin() + far * EXIT),
        }
    }
}

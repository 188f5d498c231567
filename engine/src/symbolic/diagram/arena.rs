//! Data of the diagram: nodes, contents, tables and scratch buffers.

use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::memory::preallocate;
use crate::memory::prefetch;
use crate::symbolic::derived::executor::Executor;
use crate::symbolic::derived::stats::NodeStats;
use crate::symbolic::diagram::incoming::IncomingSets;
use crate::symbolic::exits::sets::ExitSets;
use crate::symbolic::exits::source::ExitSource;
use crate::symbolic::index::space::SpaceIndex;
use crate::symbolic::memory::budget::BudgetShare;
use crate::symbolic::node::config_sets::ConfigSetTable;
use crate::symbolic::node::content::{Child, ChildList, ContentStore, PackedList};
use crate::symbolic::node::counts::LargeCounts;
use crate::symbolic::node::record::{
    CONTENT_UNIT, EXIT_BYTES, INLINE_EXITS, LeafSets, Node, count_moves,
};
use crate::symbolic::node::reference::Ref;
use crate::symbolic::node::table::CompactTable;
use crate::symbolic::options::Options;

/// All nodes and exit sets of a search. Each content is stored once.
pub(crate) struct Diagram<S: NestedSpace> {
    pub(crate) index: SpaceIndex<S>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) large_counts: LargeCounts,
    /// Contents of the nodes.
    pub(crate) content: ContentStore<CONTENT_UNIT>,
    pub(crate) config_sets: ConfigSetTable,
    pub(crate) node_table: CompactTable<27>,
    pub(crate) leaf_table: HashTable<u32>,
    pub(crate) exit_sets: ExitSets,
    /// Computes exit sets and statistics.
    pub(crate) executor: Executor<S::Config>,
    /// The first node whose derived data has not been received.
    pub(crate) first_underived: usize,
    /// Statistics of the last layer; None if they are not requested.
    pub(crate) top_stats: Option<NodeStats>,
    /// Memoised steps by node and fingerprint, in addition to the one in each node.
    pub(crate) step_overflow: FxHashMap<(u32, u64), Ref>,
    pub(crate) share: BudgetShare,
    /// Every `verify_interval`-th reuse of a memoised step is verified by recomputing the step; 0 for none.
    pub(crate) verify_interval: u32,
    /// Number of memoised steps reused since the last recomputation.
    pub(crate) reused_steps: u32,
    /// Scratch of steps: incoming sets, as a stack.
    pub(crate) incoming: Vec<Ref>,
    /// Scratch buffers of steps, one per level: incoming sets by configuration.
    pub(crate) incoming_sets: Vec<IncomingSets>,
    /// Scratch: child references of the nodes under construction, as a stack.
    pub(crate) child_words: Vec<u32>,
    /// Scratch: the list to look up.
    pub(crate) packed: PackedList,
    /// Scratch: a node's exit sets, by move.
    pub(crate) exit_scratch: Vec<u32>,
}

impl<S: NestedSpace> Diagram<S> {
    /// An empty diagram.
    pub(crate) fn new(space: Arc<S>, options: Options) -> Diagram<S> {
        let Options { memory, digests, verify, threads, .. } = options;
        let index = SpaceIndex::new(space);
        let all = usize::from(index.top_level()) + 1;
        // A single list takes at most half of the budget.
        let prealloc_bytes = memory / 2;
        let share = BudgetShare::new(memory);
        let mut nodes = Vec::new();
        preallocate(&mut nodes, prealloc_bytes);
        // Number 0 is the empty set.
        nodes.push(Node::default());
        Diagram {
            nodes,
            large_counts: LargeCounts::default(),
            content: ContentStore::new(0, prealloc_bytes),
            config_sets: ConfigSetTable::new(),
            node_table: CompactTable::new(prealloc_bytes / 4),
            leaf_table: HashTable::new(),
            exit_sets: ExitSets::new(prealloc_bytes / 2),
            executor: Executor::new(threads, &share, digests, prealloc_bytes),
            first_underived: 1,
            top_stats: None,
            step_overflow: FxHashMap::default(),
            share,
            verify_interval: verify,
            reused_steps: 0,
            incoming: Vec::new(),
            incoming_sets: vec![IncomingSets::default(); all],
            child_words: Vec::new(),
            packed: PackedList::default(),
            exit_scratch: Vec::new(),
            index,
        }
    }

    /// Memory in bytes, without the memory that the executor counts.
    pub(crate) fn own_bytes(&self) -> usize {
        let step_overflow = self.step_overflow.capacity() * 3 * size_of::<u64>();
        let nodes = self.nodes.len() * size_of::<Node>();
        let contents = self.content.bytes() + self.config_sets.bytes();
        nodes
            + contents
            + self.node_table.bytes()
            + step_overflow
            + self.executor.copy_bytes(&self.exit_sets)
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.own_bytes() + self.executor.bytes(&self.exit_sets)
    }

    /// Clears the scratch stacks after an unfinished step.
    pub(crate) fn clear_scratch(&mut self) {
        self.incoming.clear();
        self.child_words.clear();
    }

    #[inline(always)]
    pub(crate) fn node(&self, set: Ref) -> &Node {
        &self.nodes[set.id()]
    }

    /// The exit moves of a set, as a bit mask.
    #[inline(always)]
    pub(crate) fn exit_moves(&self, set: Ref) -> u16 {
        let mask = self.node(set).exit_moves();
        if set.is_flipped() { self.index.flip_moves(mask) } else { mask }
    }

    /// Number of current states of a set.
    #[inline(always)]
    pub(crate) fn states(&self, set: Ref) -> u64 {
        self.large_counts.states(set.id(), self.node(set).states)
    }

    /// The children of a stored inner node, packed.
    #[inline(always)]
    pub(crate) fn child_list(&self, id: usize) -> ChildList {
        if id == 0 {
            return ChildList::default();
        }
        self.content.list_at(&self.config_sets, self.nodes[id].content_byte())
    }

    /// The children of a stored inner node.
    #[inline(always)]
    pub(crate) fn stored_children(&self, id: usize) -> impl Iterator<Item = Child> {
        self.content.children(self.child_list(id))
    }

    /// The children of an inner set. They are flipped if the reference is flipped.
    pub(crate) fn children(&self, level: u8, set: Ref) -> impl Iterator<Item = Child> {
        self.stored_children(set.id())
            .map(move |child| if set.is_flipped() { self.flip_child(level, child) } else { child })
    }

    pub(crate) fn flip_child(&self, level: u8, child: Child) -> Child {
        let config = self.index.config(level, child.config).flip;
        Child { config, set: child.set.flip() }
    }

    /// The states of a leaf set. They are flipped if the reference is flipped.
    pub(crate) fn leaf(&self, set: Ref) -> LeafSets {
        if set == Ref::EMPTY {
            return LeafSets::default();
        }
        let at = self.node(set).content_byte();
        let [current, previous] = [at, at + size_of::<u64>()].map(|at| self.content.u64_at(at));
        let sets = LeafSets { current, previous };
        if set.is_flipped() { self.flip_leaf(sets) } else { sets }
    }

    pub(crate) fn flip_leaf(&self, sets: LeafSets) -> LeafSets {
        let flip = |set| self.index.leaves().flip(set);
        LeafSets { current: flip(sets.current), previous: flip(sets.previous) }
    }

    /// The exit set of a set for a move of a larger piece: the states after the move, of all states in
    /// which the move is legal.
    #[inline(always)]
    pub(crate) fn exit_set(&self, set: Ref, kind: usize) -> Ref {
        let flipped = set.is_flipped();
        let kind = if flipped { self.index.shared.flip_move(kind) } else { kind };
        let nodes = DiagramExits { nodes: &self.nodes, content: &self.content };
        let exits = nodes.exit_set(set.id(), kind);
        debug_assert_ne!(exits, 0, "exit sets that have not been derived");
        Ref::from_word(exits).flip_if(flipped)
    }

    /// Stores a node's exit sets, in the order of moves.
    #[inline(always)]
    pub(crate) fn set_exits(&mut self, id: usize, exits: &[u32]) {
        let node = &mut self.nodes[id];
        for (at, word) in exits.iter().enumerate() {
            match at.checked_sub(INLINE_EXITS) {
                None => node.inline_exits[at] = *word,
                Some(overflow) => {
                    self.content.set_u32_at(node.begin_byte() + overflow * EXIT_BYTES, *word)
                }
            }
        }
    }

    /// The states of a leaf exit set.
    pub(crate) fn leaf_exits(&self, set: Ref) -> u64 {
        let states = self.exit_sets.leaf(set.id());
        if set.is_flipped() { self.index.leaves().flip(states) } else { states }
    }

    /// Reads the children of a stored inner node into `children`, and prefetches the data that a step reads
    /// of them.
    #[inline(always)]
    pub(crate) fn read_children(&self, id: usize, children: &mut Vec<Child>) {
        children.clear();
        for child in self.stored_children(id) {
            prefetch(&self.nodes, child.set.id());
            children.push(child);
        }
        for child in children.iter() {
            let child = self.node(child.set);
            // A step computes the successors of children without a memoised step, and reads their
            // content. Of other children it reads only the exit sets that are not inline.
            if child.next == 0 || child.inline_exits[INLINE_EXITS - 1] != 0 {
                prefetch(self.content.bytes_from(child.begin_byte()), 0);
            }
        }
    }
}

/// Exit sets of the diagram's nodes.
pub(crate) struct DiagramExits<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) content: &'a ContentStore<CONTENT_UNIT>,
}

impl ExitSource for DiagramExits<'_> {
    #[inline(always)]
    fn exit_moves(&self, id: usize) -> u16 {
        self.nodes[id].exit_moves()
    }

    #[inline(always)]
    fn exit_set(&self, id: usize, kind: usize) -> u32 {
        let node = &self.nodes[id];
        let before = count_moves(node.exit_moves() & ((1 << kind) - 1));
        match before.checked_sub(INLINE_EXITS) {
            None => node.inline_exits[before],
            Some(overflow) => self.content.u32_at(node.begin_byte() + overflow * EXIT_BYTES),
        }
    }
}

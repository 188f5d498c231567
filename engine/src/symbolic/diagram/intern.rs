//! Interning: nodes with equal class and content become one node.

use strata_space::nested::{MAX_MOVE_KINDS, NestedSpace, Shift};

use crate::symbolic::derived::data::NewNode;
use crate::symbolic::derived::stats::NodeStats;
use crate::symbolic::diagram::arena::Diagram;
use crate::symbolic::error::{StepError, check_count};
use crate::symbolic::exits::source::InnerNode;
use crate::symbolic::index::bits::{ConfigSet, bits};
use crate::symbolic::index::space::ClassId;
use crate::symbolic::memory::grow::reserve;
use crate::symbolic::node::hash::{hash_leaf, hash_list};
use crate::symbolic::node::orientation::{Orientation, canonicalise};
use crate::symbolic::node::record::{CONTENT_UNIT, EXIT_BYTES, EXIT_MASK_BITS, LeafSets, Node};
use crate::symbolic::node::reference::Ref;

impl<S: NestedSpace> Diagram<S> {
    /// The node with a class and configurations, which is created if it does not exist. Its children are
    /// the entries of `child_words` from index `base` on; they are removed.
    ///
    /// # Errors
    /// [`StepError::Memory`] or [`StepError::TooMany`].
    pub(crate) fn intern(
        &mut self,
        level: u8,
        class: ClassId,
        configs: ConfigSet,
        base: usize,
    ) -> Result<Ref, StepError> {
        if configs == ConfigSet::default() {
            return Ok(Ref::EMPTY);
        }
        let flip_class = self.index.flip_class(class);
        let children = &mut self.child_words[base..];
        let (configs, orientation) =
            canonicalise(&self.index.shared, level, configs, children, flip_class.cmp(&class));
        let class = if orientation == Orientation::Flipped { flip_class } else { class };
        let children = &self.child_words[base..];
        let key = hash_list(class, configs, children);
        self.node_table.prefetch(key);
        self.packed.pack(children);
        // Nearly all nodes are new and need the summary. Computing it here hides the latency of the
        // table's prefetch.
        let (mask, states) = self.summarise(level, configs, base)?;
        let Diagram { nodes, content, config_sets, packed, .. } = &*self;
        let found = self.node_table.find(key, |id| {
            let node = &nodes[id as usize];
            node.class() == class
                && content.matches(config_sets, node.content_byte(), configs, packed)
        });
        let id = match found {
            Some(id) => id,
            None => {
                let set = self.config_sets.number(configs)?;
                let meta = class << EXIT_MASK_BITS | u32::from(mask);
                let id = self.push_node(meta, states, self.packed.len())?;
                let content = self.packed.finish(set);
                self.content.push(self.nodes[id as usize].overflow_exits() * EXIT_BYTES, content);
                self.derive_inner(level, mask, configs, base)?;
                self.node_table.insert(key, id);
                id
            }
        };
        self.child_words.truncate(base);
        Ok(orientation.reference(id))
    }

    /// The exit moves and the number of states of the node whose children are the entries of `child_words`
    /// from `base` on.
    #[inline(always)]
    fn summarise(
        &mut self,
        level: u8,
        configs: ConfigSet,
        base: usize,
    ) -> Result<(u16, u64), StepError> {
        let mut mask = 0;
        let mut states = 0u64;
        for (config, at) in configs.iter().zip(base..) {
            let set = Ref::from_word(self.child_words[at]);
            states = states.saturating_add(self.states(set));
            for kind in bits(self.exit_moves(set).into()) {
                if let Shift::Outside(_) = self.index.shift(level, config, kind)? {
                    mask |= 1 << kind;
                }
            }
        }
        Ok((mask, states))
    }

    /// The leaf node with a class and states, which is created if it does not exist.
    ///
    /// # Errors
    /// [`StepError::Memory`] or [`StepError::TooMany`].
    pub(crate) fn intern_leaf(&mut self, class: ClassId, sets: LeafSets) -> Result<Ref, StepError> {
        if sets == LeafSets::default() {
            return Ok(Ref::EMPTY);
        }
        let own = (class, sets);
        let flip = (self.index.flip_class(class), self.flip_leaf(sets));
        let orientation = Orientation::from_flip_order(flip.cmp(&own));
        let (class, sets) = own.min(flip);
        let key = hash_leaf(class, sets);
        let (nodes, content) = (&self.nodes, &self.content);
        let stored = |node: &Node| LeafSets {
            current: content.u64_at(node.content_byte()),
            previous: content.u64_at(node.content_byte() + size_of::<u64>()),
        };
        let found = self.leaf_table.find(key, |id| {
            let node = &nodes[*id as usize];
            node.class() == class && stored(node) == sets
        });
        if let Some(id) = found {
            return Ok(orientation.reference(*id));
        }
        let open = |leaf| self.index.leaf_moves(class, leaf).exits;
        let exits = bits(sets.current).fold(0, |mask, leaf| mask | open(leaf));
        let meta = class << EXIT_MASK_BITS | u32::from(exits);
        let words = [sets.current, sets.previous].map(u64::to_le_bytes);
        let states = sets.current.count_ones().into();
        let id = self.push_node(meta, states, words.as_flattened().len())?;
        self.content
            .push(self.nodes[id as usize].overflow_exits() * EXIT_BYTES, words.as_flattened());
        self.derive_leaf(class, exits, sets.current)?;
        let (nodes, content) = (&self.nodes, &self.content);
        self.leaf_table.insert_unique(key, id, |id| {
            let node = &nodes[*id as usize];
            let [current, previous] =
                [0, size_of::<u64>()].map(|at| content.u64_at(node.content_byte() + at));
            hash_leaf(node.class(), LeafSets { current, previous })
        });
        Ok(orientation.reference(id))
    }

    /// Appends a node. The caller appends its content, of `content` bytes, afterwards.
    fn push_node(&mut self, meta: u32, states: u64, content: usize) -> Result<u32, StepError> {
        let node = Node { meta, begin: self.content.end_unit() as u32, ..Node::default() };
        self.reserve_node(node.overflow_exits() * EXIT_BYTES + content)?;
        let id = self.nodes.len() as u32;
        self.nodes.push(Node { states: self.large_counts.store(id, states), ..node });
        Ok(id)
    }

    /// Reserves memory for a node and its content within the budget.
    fn reserve_node(&mut self, bytes: usize) -> Result<(), StepError> {
        let id = self.nodes.len();
        check_count("nodes", id + 1, Ref::MAX_SETS)?;
        check_count("children", self.content.end_unit() + bytes, u32::MAX as usize)?;
        let bytes = bytes + CONTENT_UNIT;
        let growth = bytes + size_of::<Node>() + self.node_table.growth_bytes(id as u32);
        self.share.grow_to(self.own_bytes() + growth)?;
        reserve(&mut self.nodes, 1);
        reserve(self.content.bytes_mut(), bytes);
        Ok(())
    }

    /// Derives the data of the last node, an inner one.
    #[inline(always)]
    fn derive_inner(
        &mut self,
        level: u8,
        moves: u16,
        configs: ConfigSet,
        base: usize,
    ) -> Result<(), StepError> {
        let child_words = std::mem::take(&mut self.child_words);
        let inner = InnerNode { level, moves, configs, children: &child_words[base..] };
        let done = self.derive_node(NewNode::Inner(inner));
        self.child_words = child_words;
        done
    }

    /// Derives the data of the last node, a leaf.
    fn derive_leaf(&mut self, class: ClassId, moves: u16, current: u64) -> Result<(), StepError> {
        let mut exits = [0; MAX_MOVE_KINDS as usize];
        for (exit, kind) in exits.iter_mut().zip(bits(moves.into())) {
            let open = |leaf: &usize| self.index.leaf_moves(class, *leaf).exits >> kind & 1 == 1;
            let leave = |leaf| 1 << self.index.leaves().after_exit(leaf, kind);
            *exit = bits(current).filter(open).fold(0, |set, leaf| set | leave(leaf));
        }
        let stats = NodeStats::of_leaf(&self.index, class, current);
        let exits = &exits[..moves.count_ones() as usize];
        self.derive_node(NewNode::Leaf { moves, exits, stats })
    }
}

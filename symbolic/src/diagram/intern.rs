//! Equal contents become one node.

use strata_space::nested::{MAX_MOVES, NestedSpace};

use crate::derived::data::Made;
use crate::derived::stats::Detail;
use crate::diagram::arena::Diagram;
use crate::error::{StepError, most};
use crate::exits::source::Inner;
use crate::index::bits::{Configs, bits};
use crate::index::shared::Moved;
use crate::index::space::ClassId;
use crate::memory::reserve::reserve;
use crate::node::hash::{hash, leaf_hash};
use crate::node::orientation::{Turned, orient};
use crate::node::record::{EXIT, LeafSets, MASK_BITS, Node, UNIT};
use crate::node::reference::Ref;

impl<S: NestedSpace> Diagram<S> {
    /// The node with these configurations, what is below them having been made from `base` on, which
    /// is taken away.
    pub(crate) fn intern(
        &mut self,
        (level, class): (u8, ClassId),
        configs: Configs,
        base: usize,
    ) -> Result<Ref, StepError> {
        if configs == Configs::default() {
            return Ok(Ref::EMPTY);
        }
        let flip_class = self.levels.flip_class(class);
        let below = &mut self.made[base..];
        let (configs, turned) =
            orient(&self.levels.known, level, configs, below, flip_class.cmp(&class));
        let class = if turned == Turned::Flipped { flip_class } else { class };
        let below = &self.made[base..];
        let key = hash(class, configs, below);
        self.numbers.prefetch(key);
        self.packed.pack(below);
        // Nearly all are new, and the line of the table is under way.
        let (mask, states) = self.sum_up(level, configs, base)?;
        let Diagram { nodes, content, config_sets, packed, .. } = &*self;
        let found = self.numbers.find(key, |id| {
            let node = &nodes[id as usize];
            node.class() == class && content.is_at(config_sets, node.content(), configs, packed)
        });
        let id = match found {
            Some(id) => id,
            None => {
                let set = self.config_sets.number(configs)?;
                let meta = class << MASK_BITS | u32::from(mask);
                let id = self.push_node(meta, states, self.packed.len())?;
                let content = self.packed.finish(set);
                self.content.push(self.nodes[id as usize].far() * EXIT, content);
                self.work_out_inner(level, mask, configs, base)?;
                self.numbers.insert(key, id);
                id
            }
        };
        self.made.truncate(base);
        Ok(turned.reference(id))
    }

    /// By which moves something larger may move, and how many states there are, in what has been made
    /// from `base` on.
    #[inline(always)]
    fn sum_up(
        &mut self,
        level: u8,
        configs: Configs,
        base: usize,
    ) -> Result<(u16, u64), StepError> {
        let mut mask = 0;
        let mut states = 0u64;
        for (config, at) in configs.iter().zip(base..) {
            let below = Ref::of_word(self.made[at]);
            states = states.saturating_add(self.states(below));
            for mv in bits(self.exit_moves(below).into()) {
                if let Moved::Outside(_) = self.levels.shift(level, config, mv)? {
                    mask |= 1 << mv;
                }
            }
        }
        Ok((mask, states))
    }

    /// The leaf node of two sets.
    pub(crate) fn intern_leaf(&mut self, class: ClassId, sets: LeafSets) -> Result<Ref, StepError> {
        if sets == LeafSets::default() {
            return Ok(Ref::EMPTY);
        }
        let own = (class, sets);
        let flip = (self.levels.flip_class(class), self.flip_leaf(sets));
        let turned = Turned::of(flip.cmp(&own));
        let (class, sets) = own.min(flip);
        let key = leaf_hash(class, sets);
        let (nodes, content) = (&self.nodes, &self.content);
        let stored = |node: &Node| LeafSets {
            current: content.word(node.content()),
            previous: content.word(node.content() + size_of::<u64>()),
        };
        let found = self.leaf_numbers.find(key, |id| {
            let node = &nodes[*id as usize];
            node.class() == class && stored(node) == sets
        });
        if let Some(id) = found {
            return Ok(turned.reference(*id));
        }
        let open = |leaf| self.levels.row(class, leaf).exits;
        let exits = bits(sets.current).fold(0, |mask, leaf| mask | open(leaf));
        let meta = class << MASK_BITS | u32::from(exits);
        let words = [sets.current, sets.previous].map(u64::to_le_bytes);
        let states = sets.current.count_ones().into();
        let id = self.push_node(meta, states, words.as_flattened().len())?;
        self.content.push(self.nodes[id as usize].far() * EXIT, words.as_flattened());
        self.work_out_leaf(class, exits, sets.current)?;
        let (nodes, content) = (&self.nodes, &self.content);
        self.leaf_numbers.insert_unique(key, id, |id| {
            let node = &nodes[*id as usize];
            let [current, previous] =
                [0, size_of::<u64>()].map(|at| content.word(node.content() + at));
            leaf_hash(node.class(), LeafSets { current, previous })
        });
        Ok(turned.reference(id))
    }

    /// A new node whose content, of so many bytes, is still to be added.
    fn push_node(&mut self, meta: u32, states: u64, content: usize) -> Result<u32, StepError> {
        let node = Node { meta, bytes: self.content.end() as u32, ..Node::default() };
        self.make_room(node.far() * EXIT + content)?;
        let id = self.nodes.len() as u32;
        self.nodes.push(Node { states: self.many.note(id, states), ..node });
        Ok(id)
    }

    /// Makes sure that there is room for a node and its bytes, within the budget.
    fn make_room(&mut self, bytes: usize) -> Result<(), StepError> {
        let id = self.nodes.len();
        most("nodes", id + 1, Ref::MOST)?;
        most("children", self.content.end() + bytes, u32::MAX as usize)?;
        let bytes = bytes + UNIT;
        let growth = bytes + size_of::<Node>() + self.numbers.growth(id as u32);
        self.share.allow(self.own_bytes() + growth)?;
        reserve(&mut self.nodes, 1);
        reserve(self.content.list(), bytes);
        Ok(())
    }

    /// Has the exits and the detail of the last node worked out, which is none of the leaf.
    #[inline(always)]
    fn work_out_inner(
        &mut self,
        level: u8,
        moves: u16,
        configs: Configs,
        base: usize,
    ) -> Result<(), StepError> {
        let made = std::mem::take(&mut self.made);
        let inner = Inner { level, moves, configs, below: &made[base..] };
        let done = self.work_out(Made::Inner(inner));
        self.made = made;
        done
    }

    /// Has the exits and the detail of the last node worked out, which is one of the leaf.
    fn work_out_leaf(&mut self, class: ClassId, moves: u16, current: u64) -> Result<(), StepError> {
        let mut left = [0; MAX_MOVES as usize];
        for (left, mv) in left.iter_mut().zip(bits(moves.into())) {
            let open = |leaf: &usize| self.levels.row(class, *leaf).exits >> mv & 1 == 1;
            let leave = |leaf| 1 << self.levels.leaves().leave(leaf, mv);
            *left = bits(current).filter(open).fold(0, |set, leaf| set | leave(leaf));
        }
        let detail = Detail::of_leaf(&self.levels, class, current);
        let left = &left[..moves.count_ones() as usize];
        self.work_out(Made::Leaf(moves, left, detail))
    }
}

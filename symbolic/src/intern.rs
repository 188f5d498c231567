//! Equal contents become one node, and equal sets of exits one set.

use std::cmp::Ordering;

use strata_space::nested::NestedSpace;

use crate::diagram::{Diagram, EXIT_UNIT, fold};
use crate::error::StepError;
use crate::levels::{ClassId, Configs, Moved, bits};
use crate::memory::{prefetch, reserve};
use crate::node::{EXIT, LeafSets, MASK_BITS, Node, UNIT};
use crate::refs::Ref;

/// Whether a set is stored as it is or flipped.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Turned {
    Own,
    /// It is its own flip.
    Symmetric,
    Flipped,
}

impl Turned {
    /// The lesser one is stored; the flip is compared to the set.
    fn of(flip: Ordering) -> Turned {
        match flip {
            Ordering::Less => Turned::Flipped,
            Ordering::Equal => Turned::Symmetric,
            Ordering::Greater => Turned::Own,
        }
    }

    fn reference(self, id: u32) -> Ref {
        Ref::new(id, self == Turned::Symmetric, self == Turned::Flipped)
    }
}

/// A set of exits that is to be looked up: how it would be stored, and by what hash.
#[derive(Copy, Clone)]
pub(crate) struct Wanted {
    configs: Configs,
    turned: Turned,
    base: usize,
    key: u64,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted { configs: Configs::default(), turned: Turned::Own, base: 0, key: 0 }
    }
}

/// Places for sets of exits that were asked for lately.
pub(crate) const RECENT: usize = 1 << 15;

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX2: u64 = 0xa076_1d64_78bd_642f;

/// The hash of a class and a node's content, or a set's.
#[inline]
fn hash(class: ClassId, configs: Configs, below: &[u32]) -> u64 {
    let mut hash = fold(configs.0 ^ MIX, u64::from(class) ^ MIX2);
    let mut pairs = below.chunks_exact(2);
    for pair in &mut pairs {
        let word = u64::from(pair[0]) | u64::from(pair[1]) << 32;
        hash = fold(hash ^ word, MIX);
    }
    for word in pairs.remainder() {
        hash = fold(hash ^ u64::from(*word), MIX2);
    }
    fold(hash ^ MIX2, MIX)
}

/// The hash of a leaf node.
fn leaf_hash(class: ClassId, sets: LeafSets) -> u64 {
    fold(fold(sets.current ^ MIX, u64::from(class) ^ MIX2) ^ sets.previous, MIX)
}

/// The hash of a set of exits of the leaf.
fn leaf_exits_hash(set: u64) -> u64 {
    fold(set ^ MIX, MIX2)
}

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
        let (configs, turned) = self.orient(level, configs, base, flip_class.cmp(&class));
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
                let meta = class << MASK_BITS | mask;
                let id = self.push_node(meta, states, self.packed.len())?;
                let content = self.packed.finish(set);
                self.content.push(self.nodes[id as usize].far() * EXIT, content);
                self.sums.add_node(&self.levels, level, configs, &self.made[base..]);
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
    ) -> Result<(u32, u64), StepError> {
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
        self.sums.add_leaf(&self.levels, class, sets.current);
        let (nodes, content) = (&self.nodes, &self.content);
        self.leaf_numbers.insert_unique(key, id, |id| {
            let node = &nodes[*id as usize];
            let [current, previous] =
                [0, size_of::<u64>()].map(|at| content.word(node.content() + at));
            leaf_hash(node.class(), LeafSets { current, previous })
        });
        Ok(turned.reference(id))
    }

    /// Brings what was made from `base` on into the orientation in which it is stored: the lesser
    /// one, where `classes` compares the flip's class to its own. Returns the configurations then.
    #[inline]
    fn orient(
        &mut self,
        level: u8,
        configs: Configs,
        base: usize,
        classes: Ordering,
    ) -> (Configs, Turned) {
        if classes == Ordering::Greater {
            return (configs, Turned::Own);
        }
        let flips = configs.iter().map(|config| self.levels.config(level, config).flip);
        let flip_configs: Configs = flips.clone().collect();
        let order = classes.then(flip_configs.0.cmp(&configs.0));
        if order == Ordering::Greater {
            return (configs, Turned::Own);
        }
        let mut places = [0; 64];
        for (config, word) in flips.zip(&self.made[base..]) {
            places[usize::from(config)] = Ref::of_word(*word).flip().word();
        }
        for (place, config) in self.flipped.iter_mut().zip(flip_configs.iter()) {
            *place = places[usize::from(config)];
        }
        let own = &mut self.made[base..];
        let flipped = &self.flipped[..own.len()];
        let turned = Turned::of(order.then_with(|| flipped.cmp(own)));
        if turned == Turned::Flipped {
            own.copy_from_slice(flipped);
            return (flip_configs, turned);
        }
        (configs, turned)
    }

    /// A new node whose content, of so many bytes, is still to be added.
    fn push_node(&mut self, meta: u32, states: u64, content: usize) -> Result<u32, StepError> {
        let node = Node { meta, bytes: self.content.end() as u32, ..Node::default() };
        self.make_room(node.far() * EXIT + content)?;
        let id = self.nodes.len() as u32;
        self.nodes.push(Node { states: self.sums.note(id, states), ..node });
        Ok(id)
    }

    /// The set of exits with these configurations, what is below them having been made from `base`
    /// on. It is not looked up yet, but its places are asked for.
    #[inline(always)]
    pub(crate) fn want_exits(&mut self, level: u8, configs: Configs, base: usize) -> Wanted {
        let (configs, turned) = self.orient(level, configs, base, Ordering::Equal);
        let key = hash(0, configs, &self.made[base..]);
        self.exit_numbers.prefetch(key);
        prefetch(&self.recent_exits[..], key as usize % RECENT);
        Wanted { configs, turned, base, key }
    }

    /// Asks for the set that it probably is.
    #[inline(always)]
    pub(crate) fn prefetch_wanted(&self, wanted: &Wanted) {
        let (key, recent) = self.recent_exits[wanted.key as usize % RECENT];
        if key == wanted.key {
            self.prefetch_exits(Ref::new(recent, false, false));
        }
    }

    /// The set of exits that was wanted last, which is taken away.
    #[inline(always)]
    pub(crate) fn intern_exits(&mut self, wanted: &Wanted) -> Result<Ref, StepError> {
        let Wanted { configs, turned, base, key } = *wanted;
        if configs == Configs::default() {
            return Ok(Ref::EMPTY);
        }
        let below = &self.made[base..];
        self.packed.pack(below);
        let Diagram { exit_content, config_sets, packed, .. } = &*self;
        let is_it = |id| exit_content.is_at(config_sets, id as usize * EXIT_UNIT, configs, packed);
        let place = key as usize % RECENT;
        let (recent_key, recent) = self.recent_exits[place];
        let found = if recent_key == key && is_it(recent) {
            Some(recent)
        } else {
            self.exit_numbers.find(key, is_it)
        };
        let id = match found {
            Some(id) => id,
            None => {
                let set = self.config_sets.number(configs)?;
                let id = self.make_exit_room(self.packed.len())?;
                self.exit_content.push(0, self.packed.finish(set));
                self.exit_numbers.insert(key, id);
                id
            }
        };
        self.recent_exits[place] = (key, id);
        self.made.truncate(base);
        Ok(turned.reference(id))
    }

    /// The set of exits of some leaf states.
    pub(crate) fn intern_leaf_exits(&mut self, set: u64) -> Result<Ref, StepError> {
        if set == 0 {
            return Ok(Ref::EMPTY);
        }
        let flip = self.levels.leaves.flip(set);
        let (turned, least) = (Turned::of(flip.cmp(&set)), set.min(flip));
        let key = leaf_exits_hash(least);
        let content = &self.exit_content;
        let stored = |id: &u32| content.word(*id as usize * EXIT_UNIT);
        if let Some(id) = self.leaf_exit_numbers.find(key, |id| stored(id) == least) {
            return Ok(turned.reference(*id));
        }
        let id = self.make_exit_room(size_of::<u64>())?;
        self.exit_content.push(0, &least.to_le_bytes());
        let content = &self.exit_content;
        let stored = |id: &u32| content.word(*id as usize * EXIT_UNIT);
        self.leaf_exit_numbers.insert_unique(key, id, |id| leaf_exits_hash(stored(id)));
        Ok(turned.reference(id))
    }

    /// Makes sure that there is room for a node and its bytes, within the budget.
    fn make_room(&mut self, bytes: usize) -> Result<(), StepError> {
        let id = self.nodes.len();
        most("nodes", id + 1, Ref::MOST)?;
        most("children", self.content.end() + bytes, u32::MAX as usize)?;
        let bytes = bytes + UNIT;
        self.check(bytes + self.bytes_each() + self.numbers.growth(id as u32))?;
        reserve(&mut self.nodes, 1);
        self.sums.reserve();
        reserve(self.content.list(), bytes);
        Ok(())
    }

    /// The number of the next set of exits. Makes sure that there is room for its bytes, within the
    /// budget.
    fn make_exit_room(&mut self, bytes: usize) -> Result<u32, StepError> {
        let id = self.exit_content.end();
        most("exits", id + 1, Ref::MOST)?;
        let bytes = bytes + EXIT_UNIT;
        self.check(bytes + self.exit_numbers.growth(id as u32))?;
        reserve(self.exit_content.list(), bytes);
        Ok(id as u32)
    }

    fn check(&self, growth: usize) -> Result<(), StepError> {
        let budget = self.budget;
        if self.bytes() + growth > budget { Err(StepError::Memory { budget }) } else { Ok(()) }
    }
}

fn most(what: &'static str, wanted: usize, most: usize) -> Result<(), StepError> {
    if wanted > most { Err(StepError::Numbers { what, most }) } else { Ok(()) }
}

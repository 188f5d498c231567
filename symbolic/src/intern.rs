//! Equal contents become one node, and equal sets of exits one set.

use std::cmp::Ordering;

use hashbrown::HashTable;
use strata_space::nested::NestedSpace;

use crate::diagram::{Diagram, fold, joined, split};
use crate::error::StepError;
use crate::levels::{ClassId, Configs, Moved, bits};
use crate::node::{HOLLOW, LeafSets, MASK_BITS, Node};
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
        hash = fold(hash ^ joined(pair), MIX);
    }
    for word in pairs.remainder() {
        hash = fold(hash ^ u64::from(*word), MIX2);
    }
    // The table takes its tags from the top.
    fold(hash ^ MIX2, MIX)
}

/// The hash of a node above the leaf.
fn node_hash(node: &Node, words: &[u32]) -> u64 {
    let content = &words[node.content()..];
    let configs = Configs(joined(content));
    hash(node.class(), configs, &content[2..][..configs.len()])
}

/// The hash of a set of exits above the leaf.
fn exits_hash(words: &[u32], id: u32) -> u64 {
    let content = &words[2 * id as usize..];
    let configs = Configs(joined(content));
    hash(0, configs, &content[2..][..configs.len()])
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
        let (nodes, words) = (&self.nodes, &self.words);
        let found = self.numbers.find(key, |id| {
            let node = &nodes[*id as usize];
            let content = &words[node.content()..];
            node.class() == class
                && joined(content) == configs.0
                && content[2..][..below.len()] == *below
        });
        if let Some(id) = found {
            self.made.truncate(base);
            return Ok(turned.reference(*id));
        }
        let mut mask = 0;
        let mut hollow = HOLLOW;
        for (config, at) in configs.iter().zip(base..) {
            let below = Ref::of_word(self.made[at]);
            if !self.node(below).is_hollow() {
                hollow = 0;
            }
            for mv in bits(self.exit_moves(below).into()) {
                if let Moved::Outside(_) = self.levels.shift(level, config, mv)? {
                    mask |= 1 << mv;
                }
            }
        }
        let meta = class << (MASK_BITS + 1) | hollow | mask;
        let id = self.push_node(meta, split(configs.0), base)?;
        let below = &self.words[self.nodes[id as usize].content() + 2..];
        self.sums.add_node(&self.levels, level, configs, below);
        let (nodes, words) = (&self.nodes, &self.words);
        self.numbers.insert_unique(key, id, |id| node_hash(&nodes[*id as usize], words));
        Ok(turned.reference(id))
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
        let previous = split(sets.previous);
        let key = hash(class, Configs(sets.current), &previous);
        let (nodes, words) = (&self.nodes, &self.words);
        let found = self.leaf_numbers.find(key, |id| {
            let node = &nodes[*id as usize];
            let content = &words[node.content()..];
            node.class() == class
                && [joined(content), joined(&content[2..])] == [sets.current, sets.previous]
        });
        if let Some(id) = found {
            return Ok(turned.reference(*id));
        }
        let open = |leaf| self.levels.row(class, leaf).exits;
        let exits = bits(sets.current).fold(0, |mask, leaf| mask | open(leaf));
        let hollow = if sets.current == 0 { HOLLOW } else { 0 };
        let base = self.made.len();
        self.made.extend(previous);
        let meta = class << (MASK_BITS + 1) | hollow | u32::from(exits);
        let id = self.push_node(meta, split(sets.current), base)?;
        self.sums.add_leaf(&self.levels, class, sets.current);
        let (nodes, words) = (&self.nodes, &self.words);
        self.leaf_numbers.insert_unique(key, id, |id| {
            let node = &nodes[*id as usize];
            let content = &words[node.content()..];
            hash(node.class(), Configs(joined(content)), &content[2..4])
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

    /// A new node with two words and the content that was made from `base` on, which is taken away.
    fn push_node(&mut self, meta: u32, first: [u32; 2], base: usize) -> Result<u32, StepError> {
        let node = Node { meta, words: self.words.len() as u32, ..Node::default() };
        let far = node.far();
        self.make_room(far + 2 + self.made.len() - base)?;
        let id = self.nodes.len() as u32;
        self.nodes.push(node);
        self.words.resize(self.words.len() + far, 0);
        self.words.extend_from_slice(&first);
        self.words.extend_from_slice(&self.made[base..]);
        self.made.truncate(base);
        Ok(id)
    }

    /// The set of exits with these configurations, what is below them having been made from `base`
    /// on, which is taken away.
    pub(crate) fn intern_exits(
        &mut self,
        level: u8,
        configs: Configs,
        base: usize,
    ) -> Result<Ref, StepError> {
        if configs == Configs::default() {
            return Ok(Ref::EMPTY);
        }
        let (configs, turned) = self.orient(level, configs, base, Ordering::Equal);
        let below = &self.made[base..];
        let key = hash(0, configs, below);
        let words = &self.exit_words;
        let is_it = |id: &u32| {
            let content = &words[2 * *id as usize..];
            joined(content) == configs.0 && content[2..][..below.len()] == *below
        };
        let place = key as usize % RECENT;
        let (recent_key, recent) = self.recent_exits[place];
        let found = if recent_key == key && is_it(&recent) {
            Some(recent)
        } else {
            self.exit_numbers.find(key, is_it).copied()
        };
        let id = match found {
            Some(id) => id,
            None => {
                let id = self.push_exits(configs.0, base)?;
                let words = &self.exit_words;
                self.exit_numbers.insert_unique(key, id, |id| exits_hash(words, *id));
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
        let key = hash(0, Configs(least), &[]);
        let words = &self.exit_words;
        let found =
            self.leaf_exit_numbers.find(key, |id| joined(&words[2 * *id as usize..]) == least);
        if let Some(id) = found {
            return Ok(turned.reference(*id));
        }
        let id = self.push_exits(least, self.made.len())?;
        let words = &self.exit_words;
        self.leaf_exit_numbers
            .insert_unique(key, id, |id| hash(0, Configs(joined(&words[2 * *id as usize..])), &[]));
        Ok(turned.reference(id))
    }

    /// A new set of exits with a word of 64 bits and the content that was made from `base` on.
    fn push_exits(&mut self, first: u64, base: usize) -> Result<u32, StepError> {
        let words = (2 + self.made.len() - base).next_multiple_of(2);
        self.make_exit_room(words)?;
        let begin = self.exit_words.len();
        self.exit_words.extend(split(first));
        self.exit_words.extend_from_slice(&self.made[base..]);
        self.exit_words.resize(begin + words, 0);
        Ok((begin / 2) as u32)
    }

    /// Makes sure that there is room for a node and its words, within the budget.
    fn make_room(&mut self, words: usize) -> Result<(), StepError> {
        let is_full = self.numbers.len() == self.numbers.capacity();
        if self.nodes.len() == self.nodes.capacity()
            || self.words.len() + words > self.words.capacity()
            || is_full
        {
            let node = size_of::<Node>() + self.sums.bytes_each();
            let growth = [
                grown(self.nodes.len(), self.nodes.capacity(), 1) * node,
                grown(self.words.len(), self.words.capacity(), words) * size_of::<u32>(),
                if is_full { 2 * self.numbers.allocation_size() } else { 0 },
            ];
            self.check(growth.iter().sum())?;
            most("nodes", self.nodes.len() + 1, Ref::MOST)?;
            most("children", self.words.len() + words, u32::MAX as usize)?;
            reserve(&mut self.nodes, 1);
            self.sums.reserve(self.nodes.capacity());
            reserve(&mut self.words, words);
            if is_full {
                self.grow_numbers();
            }
        }
        Ok(())
    }

    /// Makes the table of nodes anew, twice as large: going through the nodes in order is faster than
    /// through the table, which would ask for each of them from somewhere else.
    fn grow_numbers(&mut self) {
        let capacity = 2 * self.numbers.capacity();
        self.numbers = HashTable::new();
        self.numbers.reserve(capacity, |_| 0);
        for (node, id) in self.nodes.iter().zip(0..).skip(1) {
            if !self.levels.is_leaf(node.class()) {
                let key = node_hash(node, &self.words);
                self.numbers.insert_unique(key, id, |_| key);
            }
        }
    }

    fn make_exit_room(&mut self, words: usize) -> Result<(), StepError> {
        let (len, capacity) = (self.exit_words.len(), self.exit_words.capacity());
        let is_full = self.exit_numbers.len() == self.exit_numbers.capacity();
        if len + words > capacity || is_full {
            let table = if is_full { 2 * self.exit_numbers.allocation_size() } else { 0 };
            self.check(grown(len, capacity, words) * size_of::<u32>() + table)?;
            most("exits", len + words, 2 * Ref::MOST)?;
            reserve(&mut self.exit_words, words);
        }
        Ok(())
    }

    fn check(&self, growth: usize) -> Result<(), StepError> {
        let budget = self.budget;
        if self.bytes() + growth > budget { Err(StepError::Memory { budget }) } else { Ok(()) }
    }
}

fn most(what: &'static str, wanted: usize, most: usize) -> Result<(), StepError> {
    if wanted > most { Err(StepError::Numbers { what, most }) } else { Ok(()) }
}

/// By how many items a list grows that is to take so many more, so that little is reserved in vain.
fn grown(len: usize, capacity: usize, more: usize) -> usize {
    // Small lists are copied when they grow, large ones are mapped elsewhere.
    let part = if capacity < 1 << 20 { 2 } else { 8 };
    if len + more <= capacity { 0 } else { more.max(capacity / part).max(1 << 8) }
}

fn reserve<T>(list: &mut Vec<T>, more: usize) {
    let growth = grown(list.len(), list.capacity(), more);
    if growth > 0 {
        list.reserve_exact(growth + list.capacity() - list.len());
    }
}

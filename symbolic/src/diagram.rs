//! The diagram: all nodes and sets of exits, each content once.

use std::cmp::Ordering;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use strata_space::nested::{MAX_MOVES, NestedSpace};

use crate::exits::Slots;
use crate::full::Full;
use crate::levels::{ClassId, ConfigId, Configs, Levels, Moved, bits};
use crate::prefetch::prefetch;
use crate::refs::Ref;
use crate::sums::Sums;

/// Bits of a node's mask of exits.
const MASK_BITS: u32 = 10;

/// Where a node's mask says that its current set is empty.
const HOLLOW: u32 = 1 << MASK_BITS;

/// Number of bits of every mask of moves: the baseline instruction set has no instruction for it.
const COUNT: [u8; 1 << MAX_MOVES] = {
    let mut count = [0; 1 << MAX_MOVES];
    let mut mask = 0;
    while mask < count.len() {
        count[mask] = (mask as u32).count_ones() as u8;
        mask += 1;
    }
    count
};

#[inline(always)]
fn moves_in(mask: u16) -> usize {
    COUNT[usize::from(mask) % COUNT.len()].into()
}

/// Sets of exits that are part of the node; the others are with its children.
const NEAR: usize = 3;

/// A set of states of two layers below one configuration: the current ones and those before. 32
/// bytes, half of a line of the processor's cache: everything that looking at a child needs.
#[derive(Copy, Clone, Default)]
pub(crate) struct Node {
    /// The fingerprint of what came in when `next` was found.
    pub(crate) incoming: u64,
    /// What became of it then; 0 if nothing is known.
    pub(crate) next: u32,
    /// Where its words begin: further sets of exits, then the set of its configurations (two words)
    /// and what is below each, in order; in a leaf two sets of leaf states (two words each).
    words: u32,
    /// Class, hollow, mask of exits.
    meta: u32,
    /// Sets of exits, by move; 0 if not known yet.
    near: [u32; NEAR],
}

impl Node {
    /// The moves by which something larger may move, a bit each.
    #[inline(always)]
    pub(crate) fn exits(&self) -> u16 {
        (self.meta & (HOLLOW - 1)) as u16
    }

    /// Whether the current set is empty.
    #[inline(always)]
    pub(crate) fn is_hollow(&self) -> bool {
        self.meta & HOLLOW != 0
    }

    #[inline(always)]
    pub(crate) fn class(&self) -> ClassId {
        self.meta >> (MASK_BITS + 1)
    }

    /// Number of words of exits before the others.
    #[inline(always)]
    fn far(&self) -> usize {
        moves_in(self.exits()).saturating_sub(NEAR)
    }

    /// Where its content begins.
    #[inline(always)]
    fn content(&self) -> usize {
        self.words as usize + self.far()
    }
}

/// Sets of leaf states of two layers.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct LeafSets {
    pub(crate) current: u64,
    pub(crate) previous: u64,
}

/// A word of 64 bits, in two.
#[inline(always)]
fn split(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Undoes [`split`].
#[inline(always)]
fn joined(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

/// See the module.
pub(crate) struct Diagram<S: NestedSpace> {
    pub(crate) levels: Levels<S>,
    pub(crate) nodes: Vec<Node>,
    /// By node.
    pub(crate) sums: Sums,
    words: Vec<u32>,
    numbers: HashTable<u32>,
    leaf_numbers: HashTable<u32>,
    /// Sets of exits, each an even number of words: its configurations (two words) and what is below
    /// each, in order; of the leaf its states (two words). A set's number is half of where it begins.
    exit_words: Vec<u32>,
    exit_numbers: HashTable<u32>,
    leaf_exit_numbers: HashTable<u32>,
    /// Sets of exits that were asked for lately, by hash: few, so that they stay in the processor's
    /// cache.
    recent_exits: Box<[(u64, u32); RECENT]>,
    /// What became of a node when something else came in than its own memory holds.
    pub(crate) further: FxHashMap<(u32, u64), Ref>,
    budget: usize,
    /// Scratch of a step: sets that come in.
    pub(crate) incoming: Vec<Ref>,
    /// Scratch of a step: sets that come in below a node of a level, by configuration.
    pub(crate) gathered: Vec<Gathered>,
    /// Scratch: what hangs below the configurations of nodes that are being made, in order.
    pub(crate) made: Vec<u32>,
    /// Scratch: by level, the sets of exits of a node that are being made.
    pub(crate) slots: Vec<Slots>,
    flipped: [u32; 64],
}

/// Sets that come in, by configuration, each once.
#[derive(Clone)]
pub(crate) struct Gathered {
    pub(crate) configs: Configs,
    /// By configuration: one more than the place of the last one in `links`.
    heads: [u32; 64],
    /// A set, and one more than the place of the one before.
    links: Vec<(Ref, u32)>,
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered { configs: Configs::default(), heads: [0; 64], links: Vec::new() }
    }
}

impl Gathered {
    pub(crate) fn clear(&mut self) {
        self.configs = Configs::default();
        self.links.clear();
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, config: ConfigId, set: Ref) {
        let head = &mut self.heads[usize::from(config)];
        if !self.configs.contains(config) {
            self.configs.insert(config);
            *head = 0;
        }
        let mut at = *head;
        while at != 0 {
            let (known, before) = self.links[at as usize - 1];
            if known == set {
                return;
            }
            at = before;
        }
        self.links.push((set, *head));
        *head = self.links.len() as u32;
    }

    #[inline(always)]
    pub(crate) fn at(&self, config: ConfigId) -> impl Iterator<Item = Ref> {
        let head = self.heads[usize::from(config)];
        let mut at = if self.configs.contains(config) { head } else { 0 };
        std::iter::from_fn(move || {
            let (set, before) = *self.links.get((at as usize).checked_sub(1)?)?;
            at = before;
            Some(set)
        })
    }
}

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

/// Places for sets of exits that were asked for lately.
const RECENT: usize = 1 << 15;

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

    fn flip_leaf(&self, sets: LeafSets) -> LeafSets {
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

    /// The node with these configurations, what is below them having been made from `base` on, which
    /// is taken away.
    pub(crate) fn intern(
        &mut self,
        (level, class): (u8, ClassId),
        configs: Configs,
        base: usize,
    ) -> Result<Ref, Full> {
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
    pub(crate) fn intern_leaf(&mut self, class: ClassId, sets: LeafSets) -> Result<Ref, Full> {
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
    fn push_node(&mut self, meta: u32, first: [u32; 2], base: usize) -> Result<u32, Full> {
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
    ) -> Result<Ref, Full> {
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
    pub(crate) fn intern_leaf_exits(&mut self, set: u64) -> Result<Ref, Full> {
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
    fn push_exits(&mut self, first: u64, base: usize) -> Result<u32, Full> {
        let words = (2 + self.made.len() - base).next_multiple_of(2);
        self.make_exit_room(words)?;
        let begin = self.exit_words.len();
        self.exit_words.extend(split(first));
        self.exit_words.extend_from_slice(&self.made[base..]);
        self.exit_words.resize(begin + words, 0);
        Ok((begin / 2) as u32)
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

    /// Makes sure that there is room for a node and its words, within the budget.
    fn make_room(&mut self, words: usize) -> Result<(), Full> {
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

    fn make_exit_room(&mut self, words: usize) -> Result<(), Full> {
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

    fn check(&self, growth: usize) -> Result<(), Full> {
        let budget = self.budget;
        if self.bytes() + growth > budget { Err(Full::Memory { budget }) } else { Ok(()) }
    }
}

fn most(what: &'static str, wanted: usize, most: usize) -> Result<(), Full> {
    if wanted > most { Err(Full::Numbers { what, most }) } else { Ok(()) }
}

/// By how many items a list grows that is to take so many more: little, so that little is
/// reserved in vain.
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

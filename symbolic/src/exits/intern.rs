//! What leaves a node by a move: the sets that its siblings of the next layer take in. Equal ones
//! are one set.

use std::cmp::Ordering;

use hashbrown::HashTable;
use strata_space::nested::MAX_MOVES;

use crate::error::{StepError, most};
use crate::exits::sets::{ExitLists, UNIT};
use crate::exits::source::{Inner, Leaving};
use crate::index::bits::{Configs, bits};
use crate::index::shared::{Known, Moved};
use crate::memory::budget::Share;
use crate::memory::prefetch::prefetch;
use crate::memory::reserve::reserve;
use crate::node::content::Packed;
use crate::node::hash::{hash, leaf_exits_hash};
use crate::node::orientation::{Turned, orient};
use crate::node::reference::Ref;
use crate::node::table::Table;

/// Places for sets of exits that were asked for lately.
const RECENT: usize = 1 << 15;

/// A set of exits that is to be looked up: how it would be stored, and by what hash.
#[derive(Copy, Clone)]
struct Wanted {
    configs: Configs,
    turned: Turned,
    base: usize,
    key: u64,
}

/// Sets of exits of one node that are being made: by move, and by configuration.
struct Slots {
    configs: [Configs; MAX_MOVES as usize],
    below: [[u32; 64]; MAX_MOVES as usize],
}

/// Sets of exits by content, and what finding them takes.
pub(crate) struct Exits {
    numbers: Table<25>,
    leaf_numbers: HashTable<u32>,
    /// Those that were asked for lately, by hash: few, so that they stay in the processor's cache.
    recent: Box<[(u64, u32); RECENT]>,
    share: Share,
    /// Scratch.
    slots: Box<Slots>,
    /// Scratch: what is below the configurations of sets that are being made, in order.
    made: Vec<u32>,
    /// Scratch: a list that is being looked for.
    packed: Packed,
}

impl Exits {
    /// None, within a share of the budget and with a promise of so many bytes.
    pub(crate) fn new(share: Share, promised: usize) -> Exits {
        let slots = Slots {
            configs: [Configs::default(); MAX_MOVES as usize],
            below: [[0; 64]; MAX_MOVES as usize],
        };
        Exits {
            numbers: Table::new(promised),
            leaf_numbers: HashTable::new(),
            recent: Box::new([(0, 0); RECENT]),
            share,
            slots: Box::new(slots),
            made: Vec::new(),
            packed: Packed::default(),
        }
    }

    /// How many sets there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() + self.leaf_numbers.len()
    }

    /// Bytes of memory, without the lists.
    pub(crate) fn bytes(&self) -> usize {
        self.numbers.bytes()
    }

    /// Finds a node's exits by all its moves, and adds them, by move.
    #[inline(never)]
    pub(crate) fn find<C>(
        &mut self,
        known: &Known<C>,
        lists: &mut ExitLists,
        nodes: &impl Leaving,
        node: Inner<'_>,
        found: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        self.sort(known, nodes, node);
        self.made.clear();
        let none = Wanted { configs: Configs::default(), turned: Turned::Own, base: 0, key: 0 };
        let mut wanted = [none; MAX_MOVES as usize];
        for (wanted, mv) in wanted.iter_mut().zip(bits(node.moves.into())) {
            *wanted = self.want(known, node.level, mv);
        }
        let wanted = &wanted[..node.moves.count_ones() as usize];
        for wanted in wanted {
            // Asks for the set that it probably is.
            let (key, recent) = self.recent[wanted.key as usize % RECENT];
            if key == wanted.key {
                lists.prefetch(Ref::new(recent, false, false));
            }
        }
        for (at, one) in wanted.iter().enumerate() {
            let end = wanted.get(at + 1).map_or(self.made.len(), |next| next.base);
            found.push(self.intern(lists, one, end)?.word());
        }
        Ok(())
    }

    /// Sorts the exits of a node's children by move and by configuration after it.
    #[inline(always)]
    fn sort<C>(&mut self, known: &Known<C>, nodes: &impl Leaving, node: Inner<'_>) {
        let slots = &mut *self.slots;
        slots.configs = [Configs::default(); MAX_MOVES as usize];
        for (config, word) in node.configs.iter().zip(node.below) {
            let below = Ref::of_word(*word);
            let (id, flipped) = (below.id(), below.is_flipped());
            let stored = nodes.moves(id);
            for mv in bits(stored.into()) {
                let set = Ref::of_word(nodes.exits(id, mv)).flip_if(flipped);
                let mv = if flipped { known.flip_move(mv) } else { mv };
                // It has been asked when the node was made.
                if let Some(Moved::Outside(config)) = known.shift(node.level, config, mv) {
                    slots.configs[mv].insert(config);
                    slots.below[mv][usize::from(config)] = set.word();
                }
            }
        }
    }

    /// The exits by a move. They are not looked up yet, but their places are asked for.
    #[inline(always)]
    fn want<C>(&mut self, known: &Known<C>, level: u8, mv: usize) -> Wanted {
        let (base, slots) = (self.made.len(), &self.slots);
        let configs = slots.configs[mv];
        let below = configs.iter().map(|config| slots.below[mv][usize::from(config)]);
        self.made.extend(below);
        let below = &mut self.made[base..];
        let (configs, turned) = orient(known, level, configs, below, Ordering::Equal);
        let key = hash(0, configs, below);
        self.numbers.prefetch(key);
        prefetch(&self.recent[..], key as usize % RECENT);
        Wanted { configs, turned, base, key }
    }

    /// The set that was wanted, of which what is below ends at `end`.
    #[inline(always)]
    fn intern(
        &mut self,
        lists: &mut ExitLists,
        wanted: &Wanted,
        end: usize,
    ) -> Result<Ref, StepError> {
        let Wanted { configs, turned, base, key } = *wanted;
        if configs == Configs::default() {
            return Ok(Ref::EMPTY);
        }
        self.packed.pack(&self.made[base..end]);
        let (packed, ExitLists { content, config_sets }) = (&self.packed, &*lists);
        let is_it = |id| content.is_at(config_sets, id as usize * UNIT, configs, packed);
        let place = key as usize % RECENT;
        let (recent_key, recent) = self.recent[place];
        let found = if recent_key == key && is_it(recent) {
            Some(recent)
        } else {
            self.numbers.find(key, is_it)
        };
        let id = match found {
            Some(id) => id,
            None => {
                let set = lists.config_sets.number(configs)?;
                let id = self.make_room(lists, self.packed.len())?;
                lists.content.push(0, self.packed.finish(set));
                self.numbers.insert(key, id);
                id
            }
        };
        self.recent[place] = (key, id);
        Ok(turned.reference(id))
    }

    /// The set of exits of some leaf states.
    pub(crate) fn intern_leaf<C>(
        &mut self,
        known: &Known<C>,
        lists: &mut ExitLists,
        set: u64,
    ) -> Result<Ref, StepError> {
        if set == 0 {
            return Ok(Ref::EMPTY);
        }
        let flip = known.leaves.flip(set);
        let (turned, least) = (Turned::of(flip.cmp(&set)), set.min(flip));
        let key = leaf_exits_hash(least);
        let stored = |id: &u32| lists.leaf(*id as usize);
        if let Some(id) = self.leaf_numbers.find(key, |id| stored(id) == least) {
            return Ok(turned.reference(*id));
        }
        let id = self.make_room(lists, size_of::<u64>())?;
        lists.content.push(0, &least.to_le_bytes());
        let stored = |id: &u32| lists.leaf(*id as usize);
        self.leaf_numbers.insert_unique(key, id, |id| leaf_exits_hash(stored(id)));
        Ok(turned.reference(id))
    }

    /// The number of the next set of exits. Makes sure that there is room for its bytes, within the
    /// budget.
    fn make_room(&mut self, lists: &mut ExitLists, bytes: usize) -> Result<u32, StepError> {
        let id = lists.content.end();
        most("exits", id + 1, Ref::MOST)?;
        let bytes = bytes + UNIT;
        let all = self.bytes() + lists.bytes();
        self.share.allow(all + bytes + self.numbers.growth(id as u32))?;
        reserve(lists.content.list(), bytes);
        Ok(id as u32)
    }
}

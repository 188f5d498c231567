//! Interning of exit sets: equal sets are stored once.

use std::cmp::Ordering;

use hashbrown::HashTable;
use strata_space::nested::{MAX_MOVE_KINDS, Shift};

use crate::memory::prefetch;
use crate::symbolic::error::{StepError, check_count};
use crate::symbolic::exits::sets::{ExitSets, UNIT};
use crate::symbolic::exits::source::{ExitSource, InnerNode};
use crate::symbolic::index::bits::{ConfigSet, bits};
use crate::symbolic::index::shared::SharedIndex;
use crate::symbolic::memory::budget::BudgetShare;
use crate::symbolic::memory::grow::reserve;
use crate::symbolic::node::content::PackedList;
use crate::symbolic::node::hash::{hash_leaf_exits, hash_list};
use crate::symbolic::node::orientation::{Orientation, canonicalise};
use crate::symbolic::node::reference::Ref;
use crate::symbolic::node::table::CompactTable;

/// Number of slots for recently used sets.
const RECENT_SETS: usize = 1 << 15;

/// An exit set to look up, in canonical orientation.
#[derive(Copy, Clone)]
struct Candidate {
    configs: ConfigSet,
    orientation: Orientation,
    begin: usize,
    key: u64,
}

/// Exit sets of one node under construction, by move and then by configuration.
struct ExitsByMove {
    configs: [ConfigSet; MAX_MOVE_KINDS as usize],
    children: [[u32; 64]; MAX_MOVE_KINDS as usize],
}

/// Tables of exit sets by content, with scratch buffers.
pub(crate) struct ExitInterner {
    table: CompactTable<25>,
    leaf_table: HashTable<u32>,
    /// Recently used sets, by hash. They are few enough for the processor's cache.
    recent: Box<[(u64, u32); RECENT_SETS]>,
    share: BudgetShare,
    /// Scratch: the exit sets of a node.
    by_move: Box<ExitsByMove>,
    /// Scratch: child references of the sets under construction, one set after another.
    child_words: Vec<u32>,
    /// Scratch: the list to look up.
    packed: PackedList,
}

impl ExitInterner {
    /// Empty tables, with `prealloc_bytes` bytes preallocated.
    pub(crate) fn new(share: BudgetShare, prealloc_bytes: usize) -> ExitInterner {
        let by_move = ExitsByMove {
            configs: [ConfigSet::default(); MAX_MOVE_KINDS as usize],
            children: [[0; 64]; MAX_MOVE_KINDS as usize],
        };
        ExitInterner {
            table: CompactTable::new(prealloc_bytes),
            leaf_table: HashTable::new(),
            recent: Box::new([(0, 0); RECENT_SETS]),
            share,
            by_move: Box::new(by_move),
            child_words: Vec::new(),
            packed: PackedList::default(),
        }
    }

    /// Number of exit sets.
    pub(crate) fn len(&self) -> usize {
        self.table.len() + self.leaf_table.len()
    }

    /// Memory in bytes, without the sets themselves.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Interns a node's exit sets, and appends their references in the order of moves.
    ///
    /// # Errors
    /// [`StepError::Memory`] or [`StepError::TooMany`].
    #[inline(never)]
    pub(crate) fn intern_exits<C>(
        &mut self,
        index: &SharedIndex<C>,
        exit_sets: &mut ExitSets,
        nodes: &impl ExitSource,
        node: InnerNode<'_>,
        exits_out: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        self.group_by_move(index, nodes, node);
        self.child_words.clear();
        let none = Candidate {
            configs: ConfigSet::default(),
            orientation: Orientation::AsIs,
            begin: 0,
            key: 0,
        };
        let mut candidates = [none; MAX_MOVE_KINDS as usize];
        for (candidate, kind) in candidates.iter_mut().zip(bits(node.moves.into())) {
            *candidate = self.candidate(index, node.level, kind);
        }
        let candidates = &candidates[..node.moves.count_ones() as usize];
        for candidate in candidates {
            // Prefetches the probable match.
            let (key, recent) = self.recent[candidate.key as usize % RECENT_SETS];
            if key == candidate.key {
                exit_sets.prefetch(Ref::new(recent, false, false));
            }
        }
        for (at, one) in candidates.iter().enumerate() {
            let end = candidates.get(at + 1).map_or(self.child_words.len(), |next| next.begin);
            exits_out.push(self.intern_candidate(exit_sets, one, end)?.word());
        }
        Ok(())
    }

    /// Groups the exit sets of a node's children by move and by the configuration after the move.
    #[inline(always)]
    fn group_by_move<C>(
        &mut self,
        index: &SharedIndex<C>,
        nodes: &impl ExitSource,
        node: InnerNode<'_>,
    ) {
        let by_move = &mut *self.by_move;
        by_move.configs = [ConfigSet::default(); MAX_MOVE_KINDS as usize];
        for (config, word) in node.configs.iter().zip(node.children) {
            let set = Ref::from_word(*word);
            let (id, flipped) = (set.id(), set.is_flipped());
            let stored = nodes.exit_moves(id);
            for kind in bits(stored.into()) {
                let set = Ref::from_word(nodes.exit_set(id, kind)).flip_if(flipped);
                let kind = if flipped { index.flip_move(kind) } else { kind };
                // The shift was computed before the node was interned.
                if let Some(Shift::Outside(config)) = index.shift(node.level, config, kind) {
                    by_move.configs[kind].insert(config);
                    by_move.children[kind][usize::from(config)] = set.word();
                }
            }
        }
    }

    /// The candidate for the node's exit set of a move. Prefetches the data that its look-up reads.
    #[inline(always)]
    fn candidate<C>(&mut self, index: &SharedIndex<C>, level: u8, kind: usize) -> Candidate {
        let (begin, by_move) = (self.child_words.len(), &self.by_move);
        let configs = by_move.configs[kind];
        let children = configs.iter().map(|config| by_move.children[kind][usize::from(config)]);
        self.child_words.extend(children);
        let children = &mut self.child_words[begin..];
        let (configs, orientation) = canonicalise(index, level, configs, children, Ordering::Equal);
        let key = hash_list(0, configs, children);
        self.table.prefetch(key);
        prefetch(&self.recent[..], key as usize % RECENT_SETS);
        Candidate { configs, orientation, begin, key }
    }

    /// Looks up or adds a candidate, whose child references end at `end`.
    #[inline(always)]
    fn intern_candidate(
        &mut self,
        exit_sets: &mut ExitSets,
        candidate: &Candidate,
        end: usize,
    ) -> Result<Ref, StepError> {
        let Candidate { configs, orientation, begin, key } = *candidate;
        if configs == ConfigSet::default() {
            return Ok(Ref::EMPTY);
        }
        self.packed.pack(&self.child_words[begin..end]);
        let (packed, ExitSets { content, config_sets }) = (&self.packed, &*exit_sets);
        let matches = |id| content.matches(config_sets, id as usize * UNIT, configs, packed);
        let slot = key as usize % RECENT_SETS;
        let (recent_key, recent) = self.recent[slot];
        let found = if recent_key == key && matches(recent) {
            Some(recent)
        } else {
            self.table.find(key, matches)
        };
        let id = match found {
            Some(id) => id,
            None => {
                let set = exit_sets.config_sets.number(configs)?;
                let id = self.reserve_set(exit_sets, self.packed.len())?;
                exit_sets.content.push(0, self.packed.finish(set));
                self.table.insert(key, id);
                id
            }
        };
        self.recent[slot] = (key, id);
        Ok(orientation.reference(id))
    }

    /// Interns a set of leaf states.
    ///
    /// # Errors
    /// [`StepError::Memory`] or [`StepError::TooMany`].
    pub(crate) fn intern_leaf<C>(
        &mut self,
        index: &SharedIndex<C>,
        exit_sets: &mut ExitSets,
        set: u64,
    ) -> Result<Ref, StepError> {
        if set == 0 {
            return Ok(Ref::EMPTY);
        }
        let flip = index.leaves.flip(set);
        let (orientation, least) = (Orientation::from_flip_order(flip.cmp(&set)), set.min(flip));
        let key = hash_leaf_exits(least);
        let stored = |id: &u32| exit_sets.leaf(*id as usize);
        if let Some(id) = self.leaf_table.find(key, |id| stored(id) == least) {
            return Ok(orientation.reference(*id));
        }
        let id = self.reserve_set(exit_sets, size_of::<u64>())?;
        exit_sets.content.push(0, &least.to_le_bytes());
        let stored = |id: &u32| exit_sets.leaf(*id as usize);
        self.leaf_table.insert_unique(key, id, |id| hash_leaf_exits(stored(id)));
        Ok(orientation.reference(id))
    }

    /// The number of the next exit set, after reserving `bytes` bytes within the budget.
    fn reserve_set(&mut self, exit_sets: &mut ExitSets, bytes: usize) -> Result<u32, StepError> {
        let id = exit_sets.content.end_unit();
        check_count("exits", id + 1, Ref::MAX_SETS)?;
        let bytes = bytes + UNIT;
        let all = self.bytes() + exit_sets.bytes();
        self.share.grow_to(all + bytes + self.table.growth_bytes(id as u32))?;
        reserve(exit_sets.content.bytes_mut(), bytes);
        Ok(id as u32)
    }
}

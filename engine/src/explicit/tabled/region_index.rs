//! Index of the region cache: the slots of cached regions, by key.

use crate::memory::{preallocate, prefetch_all};
use strata_space::RegionKey;

/// Key of a free way. No region has this key, see [`RegionKey`].
const FREE: RegionKey = RegionKey(u128::MAX);

/// Number of ways of a set: as many as fit into two cache lines.
const WAYS: usize = 6;

/// Number of regions for which a new index has room.
pub(super) const INITIAL_REGIONS: usize = 1 << 9;

/// A set of the hash table: regions with hashes in one range.
#[derive(Copy, Clone)]
#[repr(align(128))]
struct Set {
    keys: [RegionKey; WAYS],
    slots: [u32; WAYS],
}

const EMPTY: Set = Set { keys: [FREE; WAYS], slots: [0; WAYS] };

impl Set {
    fn free_way(&self) -> Option<usize> {
        self.keys.iter().position(|known| *known == FREE)
    }

    fn put(&mut self, way: usize, key: RegionKey, slot: u32) {
        self.keys[way] = key;
        self.slots[way] = slot;
    }
}

/// A set-associative hash table from region keys to slots, which are numbered from 0.
///
/// The table doubles up to its limit. When the limit is reached, or a set is full, a new region evicts
/// another.
pub(super) struct RegionIndex {
    /// The sets, with twice as many ways as regions, so that few sets are full.
    sets: Vec<Set>,
    /// Slots below this number have been given out.
    used: u32,
    limit: u32,
    /// Free slots: those of regions that were dropped when the table grew.
    free: Vec<u32>,
    /// The way of the region that was last evicted because its set was full.
    victim: usize,
    /// The set of the region that was last evicted because no slot was left.
    hand: usize,
}

impl RegionIndex {
    /// Bytes of an index per region.
    pub(super) const BYTES_PER_REGION: usize = 2 * size_of::<Set>() / WAYS;

    /// An empty index with at most `limit` slots, or one slot if `limit` is 0.
    pub(super) fn new(limit: usize) -> RegionIndex {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX).max(1);
        let sets = empty_sets(INITIAL_REGIONS.min(limit as usize));
        RegionIndex { sets, used: 0, limit, free: Vec::new(), victim: 0, hand: 0 }
    }

    #[inline]
    fn set(&self, key: RegionKey) -> usize {
        let folded = (key.0 as u64) ^ (key.0 >> 64) as u64;
        let hash = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The number of sets need not be a power of two, which would waste up to half of the memory.
        ((u128::from(hash) * self.sets.len() as u128) >> 64) as usize
    }

    /// Prefetches what [`Self::get`] reads.
    #[inline]
    pub(super) fn prefetch(&self, key: RegionKey) {
        let set = self.set(key);
        prefetch_all(&self.sets[set..=set]);
    }

    /// The slot of a region.
    #[inline]
    pub(super) fn get(&self, key: RegionKey) -> Option<usize> {
        let set = &self.sets[self.set(key)];
        let way = set.keys.iter().position(|known| *known == key)?;
        Some(set.slots[way] as usize)
    }

    /// Adds a region that is not in the index, and returns its slot: a free slot, or that of an evicted
    /// region.
    pub(super) fn insert(&mut self, key: RegionKey) -> usize {
        let room = self.sets.len() * WAYS / 2;
        if self.used as usize >= room && room < self.limit as usize {
            self.grow((2 * room).min(self.limit as usize));
        }
        let at = self.set(key);
        let (way, slot) = match self.sets[at].free_way() {
            Some(way) => (way, self.take_slot()),
            None => {
                self.victim = (self.victim + 1) % WAYS;
                (self.victim, self.sets[at].slots[self.victim])
            }
        };
        self.sets[at].put(way, key, slot);
        slot as usize
    }

    /// Returns a free slot. If there is none, evicts a region.
    fn take_slot(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        if self.used < self.limit {
            self.used += 1;
            return self.used - 1;
        }
        loop {
            self.hand = (self.hand + 1) % self.sets.len();
            let set = &mut self.sets[self.hand];
            if let Some(way) = set.keys.iter().position(|key| *key != FREE) {
                set.keys[way] = FREE;
                return set.slots[way];
            }
        }
    }

    /// Enlarges the table for `regions` regions. Regions whose new set is full are dropped.
    fn grow(&mut self, regions: usize) {
        let old = std::mem::replace(&mut self.sets, empty_sets(regions));
        for Set { keys, slots } in old {
            for (key, slot) in keys.into_iter().zip(slots).filter(|(key, _)| *key != FREE) {
                let at = self.set(key);
                match self.sets[at].free_way() {
                    Some(way) => self.sets[at].put(way, key, slot),
                    None => self.free.push(slot),
                }
            }
        }
    }
}

fn empty_sets(regions: usize) -> Vec<Set> {
    let len = (2 * regions).div_ceil(WAYS);
    let mut sets = Vec::new();
    preallocate(&mut sets, len * size_of::<Set>());
    sets.resize(len, EMPTY);
    sets
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// With few slots, and with a table that grows: no two regions share a slot, and no slot is lost.
        #[test]
        fn slots_are_never_shared_and_never_lost(
            keys in proptest::collection::vec(0_u128..4_000, 1..3_000),
            limit in 1_usize..1_500,
            spread in prop_oneof![Just(0_u32), Just(64), Just(70)],
        ) {
            let mut index = RegionIndex::new(limit);
            let mut owners: HashMap<usize, RegionKey> = HashMap::new();
            for key in keys {
                let key = RegionKey(key << spread | key);
                if let Some(slot) = index.get(key) {
                    prop_assert_eq!(owners.get(&slot), Some(&key));
                    continue;
                }
                let slot = index.insert(key);
                prop_assert!(slot < limit);
                owners.insert(slot, key);
                prop_assert_eq!(index.get(key), Some(slot));
            }
            let found = owners.iter().filter(|(slot, key)| index.get(**key) == Some(**slot));
            prop_assert_eq!(found.count() + index.free.len(), index.used as usize);
        }

        /// Regions whose new set is full are dropped with their slots.
        #[test]
        fn regions_keep_their_slots_when_the_table_grows(
            keys in proptest::collection::hash_set(0_u128..4_000, 1..600),
            regions in 1_usize..600,
        ) {
            let mut index = RegionIndex::new(1_000);
            let mut before: Vec<_> =
                keys.into_iter().map(|key| (RegionKey(key), index.insert(RegionKey(key)))).collect();
            before.retain(|(key, slot)| index.get(*key) == Some(*slot));
            let free = index.free.len();
            index.grow(regions);
            let kept = before.iter().filter(|(key, _)| index.get(*key).is_some());
            prop_assert_eq!(kept.count() + index.free.len() - free, before.len());
            for (key, slot) in before {
                prop_assert!(index.get(key).is_none_or(|now| now == slot));
            }
        }
    }
}

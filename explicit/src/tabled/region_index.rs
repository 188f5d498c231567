//! Index of the region cache: the places of cached regions, by key.

use strata_memory::{preallocate, prefetch_all};
use strata_space::RegionKey;

/// Key of a free way. No region has this key, see [`RegionKey`].
const FREE: RegionKey = RegionKey(u128::MAX);

/// Ways of a set: as many as fit into two cache lines.
const WAYS: usize = 6;

/// Some regions whose hashes are near each other.
#[derive(Copy, Clone)]
#[repr(align(128))]
struct Set {
    keys: [RegionKey; WAYS],
    places: [u32; WAYS],
}

const EMPTY: Set = Set { keys: [FREE; WAYS], places: [0; WAYS] };

impl Set {
    fn free_way(&self) -> Option<usize> {
        self.keys.iter().position(|known| *known == FREE)
    }

    fn put(&mut self, way: usize, key: RegionKey, place: u32) {
        self.keys[way] = key;
        self.places[way] = place;
    }
}

/// A set-associative hash table from region keys to places. It does not grow by itself.
pub(super) struct RegionIndex {
    sets: Vec<Set>,
    /// The way of a full set that the next region takes.
    victim: usize,
    /// The set at which the search for a place to take begins.
    hand: usize,
}

impl RegionIndex {
    /// Bytes of an index for each of its regions.
    pub(super) const BYTES_PER_REGION: usize = 2 * size_of::<Set>() / WAYS;

    /// An empty index for that many regions. It has twice as many ways, so that few sets are full.
    pub(super) fn new(regions: usize) -> RegionIndex {
        let len = (2 * regions).div_ceil(WAYS).max(1);
        let mut sets = Vec::new();
        preallocate(&mut sets, len * size_of::<Set>());
        sets.resize(len, EMPTY);
        RegionIndex { sets, victim: 0, hand: 0 }
    }

    /// How many regions the index is for.
    pub(super) fn regions(&self) -> usize {
        self.sets.len() * WAYS / 2
    }

    #[inline]
    fn set(&self, key: RegionKey) -> usize {
        let folded = (key.0 as u64) ^ (key.0 >> 64) as u64;
        let hash = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The number of sets is no power of two, because up to half of the memory would be lost.
        ((u128::from(hash) * self.sets.len() as u128) >> 64) as usize
    }

    /// Prefetches what [`Self::get`] reads.
    #[inline]
    pub(super) fn prefetch(&self, key: RegionKey) {
        let set = self.set(key);
        prefetch_all(&self.sets[set..=set]);
    }

    /// The place of a region.
    #[inline]
    pub(super) fn get(&self, key: RegionKey) -> Option<usize> {
        let set = &self.sets[self.set(key)];
        let way = set.keys.iter().position(|known| *known == key)?;
        Some(set.places[way] as usize)
    }

    /// Adds a region that is not in the index, and returns its place: `unused`, or that of another
    /// region, which is removed. A region takes another's place if its set is full or nothing is
    /// unused; with nothing unused the index must not be empty.
    pub(super) fn insert(&mut self, key: RegionKey, unused: Option<u32>) -> usize {
        let at = self.set(key);
        let (way, place) = match (self.sets[at].free_way(), unused) {
            (Some(way), Some(place)) => (way, place),
            (Some(way), None) => (way, self.take_any()),
            (None, _) => {
                self.victim = (self.victim + 1) % WAYS;
                (self.victim, self.sets[at].places[self.victim])
            }
        };
        self.sets[at].put(way, key, place);
        place as usize
    }

    /// Removes a region, and returns its place. The sets take turns.
    fn take_any(&mut self) -> u32 {
        loop {
            self.hand = (self.hand + 1) % self.sets.len();
            let set = &mut self.sets[self.hand];
            if let Some(way) = set.keys.iter().position(|key| *key != FREE) {
                set.keys[way] = FREE;
                return set.places[way];
            }
        }
    }

    /// Moves all regions to an index for more of them. The places of those that find no room there
    /// are added to `unused`.
    pub(super) fn grow(&mut self, regions: usize, unused: &mut Vec<u32>) {
        let old = std::mem::replace(self, RegionIndex::new(regions));
        for Set { keys, places } in old.sets {
            for (key, place) in keys.into_iter().zip(places).filter(|(key, _)| *key != FREE) {
                let at = self.set(key);
                match self.sets[at].free_way() {
                    Some(way) => self.sets[at].put(way, key, place),
                    None => unused.push(place),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However few ways there are, every place belongs to one region at most, and none is lost.
        #[test]
        fn places_are_never_shared_and_never_lost(
            keys in proptest::collection::vec(0_u128..300, 1..400),
            sizes in proptest::collection::vec(1_usize..200, 1..4),
            places in 1_u32..100,
        ) {
            let mut index = RegionIndex::new(sizes[0]);
            let (mut unused, mut next) = (Vec::new(), 0);
            let mut owners: HashMap<usize, RegionKey> = HashMap::new();
            for (i, key) in keys.iter().enumerate() {
                if i % 100 == 99 {
                    index.grow(sizes[i / 100 % sizes.len()], &mut unused);
                }
                let key = RegionKey(key << 70 | key);
                if let Some(place) = index.get(key) {
                    prop_assert_eq!(owners.get(&place), Some(&key));
                } else {
                    let unused_place = unused.last().copied().or((next < places).then_some(next));
                    let place = index.insert(key, unused_place);
                    if Some(place as u32) == unused_place && unused.pop().is_none() {
                        next += 1;
                    }
                    owners.insert(place, key);
                    prop_assert_eq!(index.get(key), Some(place));
                }
                let used = (0..300).filter(|key| index.get(RegionKey(key << 70 | key)).is_some());
                prop_assert_eq!(used.count() + unused.len(), next as usize);
            }
        }
    }
}

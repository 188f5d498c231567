//! A bounded cache of what is known of regions: class, weights and where the doors lead.

use std::sync::Arc;

use strata_space::{Door, MAX_DOORS, RegionKey, Tabled, Weight};
use strata_store::EntryKey;

/// Where a door leads.
pub(super) struct Way<S: Tabled> {
    pub(super) target: EntryKey,
    pub(super) symmetry: u8,
    /// The target's class, where locals are folded on arrival.
    pub(super) folding: Option<S::Class>,
}

/// What is known of one region.
pub(super) struct Region<S: Tabled> {
    key: RegionKey,
    pub(super) class: S::Class,
    /// By side and image.
    pub(super) weights: [[Weight; 2]; 2],
    ways: [Option<Way<S>>; MAX_DOORS as usize],
}

/// A cache in sets of [`WAYS`] regions, which evict each other in turn. Layers go through the
/// same regions in the same order every time, which is the worst case of least-recently-used
/// eviction; this degrades evenly instead.
pub(super) struct Regions<S: Tabled> {
    space: Arc<S>,
    shards: u32,
    /// The keys of each set, `EMPTY` where there is none.
    keys: Vec<[RegionKey; WAYS]>,
    slots: Vec<Option<Box<Region<S>>>>,
    used: usize,
    most_sets: usize,
    victim: usize,
}

const WAYS: usize = 4;
const EMPTY: RegionKey = RegionKey(u128::MAX);
const FIRST_SETS: usize = 1 << 8;

impl<S: Tabled> Regions<S> {
    pub(super) fn new(space: Arc<S>, shards: u32, bytes: usize) -> Regions<S> {
        // A region is one allocation with a word or two of overhead, a slot and a key.
        let region = size_of::<Region<S>>() + 3 * size_of::<usize>() + size_of::<RegionKey>();
        let most_sets = (bytes / region / WAYS).max(FIRST_SETS);
        let mut regions = Regions {
            space,
            shards,
            keys: Vec::new(),
            slots: Vec::new(),
            used: 0,
            // Round down to a power of two.
            most_sets: 1 << most_sets.ilog2(),
            victim: 0,
        };
        regions.reset(FIRST_SETS);
        regions
    }

    fn reset(&mut self, sets: usize) -> Vec<Option<Box<Region<S>>>> {
        self.used = 0;
        self.keys = vec![[EMPTY; WAYS]; sets];
        std::mem::replace(&mut self.slots, (0..sets * WAYS).map(|_| None).collect())
    }

    #[inline]
    fn set(&self, key: RegionKey) -> usize {
        let folded = (key.0 as u64) ^ (key.0 >> 64) as u64;
        let hash = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> (64 - self.keys.len().ilog2())) as usize
    }

    /// The region's slot, from the cache or filled anew. It stays the region's until the next
    /// call.
    #[inline]
    pub(super) fn find(&mut self, key: RegionKey) -> usize {
        let set = self.set(key);
        match self.keys[set].iter().position(|known| *known == key) {
            Some(way) => set * WAYS + way,
            None => self.load(key),
        }
    }

    /// The region in a slot that [`Self::find`] has returned.
    #[inline]
    pub(super) fn at(&self, slot: usize) -> &Region<S> {
        match &self.slots[slot] {
            Some(region) => region,
            None => unreachable!("the slot has been filled"),
        }
    }

    /// Where one of the doors of the region in a slot leads.
    #[inline]
    pub(super) fn way(&mut self, slot: usize, door: Door) -> &Way<S> {
        let known = self.at(slot).ways[usize::from(door)].is_some();
        if !known {
            self.explore(slot, door);
        }
        match &self.at(slot).ways[usize::from(door)] {
            Some(way) => way,
            None => unreachable!("the way has just been worked out"),
        }
    }

    #[cold]
    #[inline(never)]
    fn load(&mut self, key: RegionKey) -> usize {
        if 2 * self.used > self.slots.len() && self.keys.len() < self.most_sets {
            let old = self.reset(2 * self.keys.len());
            old.into_iter().flatten().for_each(|region| {
                self.insert(region);
            });
        }
        let region = Region {
            key,
            class: self.space.class(key),
            weights: self.space.region_weights(key),
            ways: Default::default(),
        };
        self.insert(Box::new(region))
    }

    fn insert(&mut self, region: Box<Region<S>>) -> usize {
        let set = self.set(region.key);
        let empty = self.keys[set].iter().position(|known| *known == EMPTY);
        let way = empty.unwrap_or_else(|| {
            self.victim = (self.victim + 1) % WAYS;
            self.victim
        });
        self.used += usize::from(empty.is_some());
        self.keys[set][way] = region.key;
        self.slots[set * WAYS + way] = Some(region);
        set * WAYS + way
    }

    #[cold]
    #[inline(never)]
    fn explore(&mut self, slot: usize, door: Door) {
        let crossing = self.space.crossing(self.at(slot).key, door);
        let shard = (self.space.shard_hash(crossing.target) % u64::from(self.shards)) as u32;
        let class = self.space.class(crossing.target);
        let way = Way {
            target: EntryKey { shard, region: crossing.target.0 },
            symmetry: crossing.symmetry,
            folding: self.space.folds(&class).then_some(class),
        };
        if let Some(region) = &mut self.slots[slot] {
            region.ways[usize::from(door)] = Some(way);
        }
    }
}

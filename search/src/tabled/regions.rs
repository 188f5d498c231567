//! A bounded cache of what is known of regions: class, weights and where the doors lead.

use std::sync::Arc;

use strata_space::{Door, MAX_DOORS, RegionKey, SideWeights, Tabled};
use strata_store::EntryKey;

use super::tables::{ClassTable, Tables};

/// Where a door leads.
pub(super) struct Way<S: Tabled> {
    pub(super) target: EntryKey,
    pub(super) symmetry: u8,
    /// The target's class, where locals are folded on arrival.
    pub(super) folding: Option<Arc<ClassTable<S>>>,
}

/// What is known of one region.
pub(super) struct Region<S: Tabled> {
    key: RegionKey,
    pub(super) table: Arc<ClassTable<S>>,
    pub(super) weights: SideWeights,
    ways: [Option<Way<S>>; MAX_DOORS as usize],
}

/// A direct-mapped cache: two regions with the same slot evict each other. Layers go through
/// more regions in the same order every time, which is the worst case of least-recently-used
/// eviction; this one degrades evenly instead.
pub(super) struct Regions<S: Tabled> {
    tables: Arc<Tables<S>>,
    generation: usize,
    slots: Vec<Option<Box<Region<S>>>>,
    used: usize,
    most_slots: usize,
}

const FIRST_SLOTS: usize = 1 << 10;

impl<S: Tabled> Regions<S> {
    pub(super) fn new(tables: Arc<Tables<S>>, bytes: usize) -> Regions<S> {
        // Each region is one allocation with a word or two of overhead, and a slot.
        let region = size_of::<Region<S>>() + 3 * size_of::<usize>();
        let most_slots = (bytes / region).max(FIRST_SLOTS);
        let mut regions = Regions {
            generation: tables.generation(),
            tables,
            slots: Vec::new(),
            used: 0,
            // Round down to a power of two.
            most_slots: 1 << most_slots.ilog2(),
        };
        regions.reset(FIRST_SLOTS);
        regions
    }

    fn reset(&mut self, slots: usize) -> Vec<Option<Box<Region<S>>>> {
        self.used = 0;
        std::mem::replace(&mut self.slots, (0..slots).map(|_| None).collect())
    }

    /// Forgets everything if the class tables have been dropped.
    pub(super) fn begin(&mut self) {
        if self.generation != self.tables.generation() {
            self.generation = self.tables.generation();
            self.reset(self.slots.len());
        }
    }

    #[inline]
    fn slot(&self, key: RegionKey) -> usize {
        let folded = (key.0 as u64) ^ (key.0 >> 64) as u64;
        let hash = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> (64 - self.slots.len().ilog2())) as usize
    }

    /// The region, from the cache or worked out.
    #[inline]
    pub(super) fn get(&mut self, key: RegionKey) -> &Region<S> {
        let mut at = self.slot(key);
        if self.slots[at].as_ref().is_none_or(|region| region.key != key) {
            at = self.load(key);
        }
        match &self.slots[at] {
            Some(region) => region,
            None => unreachable!("the slot has just been filled"),
        }
    }

    /// Where one of the region's doors leads.
    #[inline]
    pub(super) fn way(&mut self, key: RegionKey, door: Door) -> &Way<S> {
        let mut at = self.slot(key);
        let known =
            |region: &Region<S>| region.key == key && region.ways[usize::from(door)].is_some();
        if !self.slots[at].as_deref().is_some_and(known) {
            at = self.explore(key, door);
        }
        match self.slots[at].as_ref().and_then(|region| region.ways[usize::from(door)].as_ref()) {
            Some(way) => way,
            None => unreachable!("the way has just been worked out"),
        }
    }

    #[cold]
    #[inline(never)]
    fn load(&mut self, key: RegionKey) -> usize {
        if 2 * self.used > self.slots.len() && self.slots.len() < self.most_slots {
            self.grow();
        }
        let space = &self.tables.space;
        let region = Region {
            key,
            table: self.tables.class(space.class_key(key)),
            weights: space.region_weights(key),
            ways: Default::default(),
        };
        let at = self.slot(key);
        self.used += usize::from(self.slots[at].is_none());
        self.slots[at] = Some(Box::new(region));
        at
    }

    #[cold]
    #[inline(never)]
    fn explore(&mut self, key: RegionKey, door: Door) -> usize {
        self.get(key);
        let at = self.slot(key);
        let Tables { space, shards, .. } = &*self.tables;
        let crossing = space.crossing(key, door);
        let shard = (space.shard_hash(crossing.target) % u64::from(*shards)) as u32;
        let class = self.tables.class(space.class_key(crossing.target));
        let way = Way {
            target: EntryKey { shard, region: crossing.target.0 },
            symmetry: crossing.symmetry,
            folding: class.folds().then_some(class),
        };
        if let Some(region) = &mut self.slots[at] {
            region.ways[usize::from(door)] = Some(way);
        }
        at
    }

    fn grow(&mut self) {
        let old = self.reset(2 * self.slots.len());
        for region in old.into_iter().flatten() {
            let at = self.slot(region.key);
            self.used += usize::from(self.slots[at].is_none());
            self.slots[at] = Some(region);
        }
    }
}

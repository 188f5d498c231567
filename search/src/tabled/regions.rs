//! A bounded cache of what is known of regions: class, weights and where the gates lead.

use std::sync::Arc;

use strata_space::{Gate, MAX_DOORS, RegionKey, Tabled, Weight};
use strata_store::EntryKey;

/// Where a gate leads.
#[derive(Copy, Clone)]
pub(super) struct Way {
    pub(super) target: EntryKey,
    pub(super) symmetry: u8,
    /// Whether locals are folded on arrival.
    pub(super) folds: bool,
    /// Whether the rest has been worked out.
    known: bool,
}

/// What is known of one region.
#[derive(Copy, Clone)]
pub(super) struct Region<C> {
    pub(super) class: C,
    /// By side and image.
    pub(super) weights: [[Weight; 2]; 2],
    ways: [Way; MAX_DOORS as usize],
}

/// A cache in sets of [`WAYS`] regions, which evict each other in turn. Layers go through the
/// same regions in the same order every time, which is the worst case of least-recently-used
/// eviction; this degrades evenly instead.
pub(super) struct Regions<S: Tabled> {
    space: Arc<S>,
    shards: u32,
    /// The keys of each set, `EMPTY` where there is none.
    keys: Vec<[RegionKey; WAYS]>,
    /// Not boxed: a layer visits every region once, so none is in the processor's cache any more,
    /// and all lines of a region should be on their way at once.
    slots: Vec<Option<Region<S::Class>>>,
    used: usize,
    most_sets: usize,
    victim: usize,
}

const WAYS: usize = 4;
const EMPTY: RegionKey = RegionKey(u128::MAX);
const FIRST_SETS: usize = 1 << 8;

impl<S: Tabled> Regions<S> {
    pub(super) fn new(space: Arc<S>, shards: u32, bytes: usize) -> Regions<S> {
        let region = size_of::<Option<Region<S::Class>>>() + size_of::<RegionKey>();
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

    fn reset(&mut self, sets: usize) {
        self.used = 0;
        self.keys = vec![[EMPTY; WAYS]; sets];
        self.slots = vec![None; sets * WAYS];
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
    pub(super) fn at(&self, slot: usize) -> &Region<S::Class> {
        match &self.slots[slot] {
            Some(region) => region,
            None => unreachable!("the slot has been filled"),
        }
    }

    /// Asks for all lines of a region at once, so that the later ones arrive while the first are
    /// worked on.
    #[inline(always)]
    pub(super) fn touch(&self, slot: usize) {
        let region = self.at(slot);
        std::hint::black_box(region.weights[1][1].0[1]);
        for door in (0..MAX_DOORS as usize).step_by(2) {
            std::hint::black_box(region.ways[door].symmetry);
        }
    }

    /// Where one of the gates of the region in a slot leads.
    #[inline]
    pub(super) fn way(&mut self, slot: usize, gate: Gate) -> Way {
        if self.space.gates() > MAX_DOORS.into() {
            return self.explore(slot, gate);
        }
        let way = self.at(slot).ways[usize::from(gate)];
        if way.known { way } else { self.explore(slot, gate) }
    }

    /// A region's shard and key.
    pub(super) fn place(&self, region: RegionKey) -> EntryKey {
        let shard = (self.space.shard_hash(region) % u64::from(self.shards)) as u32;
        EntryKey { shard, region: region.0 }
    }

    #[cold]
    #[inline(never)]
    fn load(&mut self, key: RegionKey) -> usize {
        if 2 * self.used > self.slots.len() && self.keys.len() < self.most_sets {
            let sets = 2 * self.keys.len();
            let old = (std::mem::take(&mut self.keys), std::mem::take(&mut self.slots));
            self.reset(sets);
            for (key, region) in old.0.into_iter().flatten().zip(old.1) {
                if let Some(region) = region {
                    self.insert(key, region);
                }
            }
        }
        let target = EntryKey { shard: 0, region: 0 };
        let unknown = Way { target, symmetry: 0, folds: false, known: false };
        let region = Region {
            class: self.space.class(key),
            weights: self.space.region_weights(key),
            ways: [unknown; MAX_DOORS as usize],
        };
        self.insert(key, region)
    }

    fn insert(&mut self, key: RegionKey, region: Region<S::Class>) -> usize {
        let set = self.set(key);
        let empty = self.keys[set].iter().position(|known| *known == EMPTY);
        let way = empty.unwrap_or_else(|| {
            self.victim = (self.victim + 1) % WAYS;
            self.victim
        });
        self.used += usize::from(empty.is_some());
        self.keys[set][way] = key;
        self.slots[set * WAYS + way] = Some(region);
        set * WAYS + way
    }

    #[cold]
    #[inline(never)]
    fn explore(&mut self, slot: usize, gate: Gate) -> Way {
        let key = self.keys[slot / WAYS][slot % WAYS];
        let crossing = self.space.crossing(key, gate);
        let way = Way {
            target: self.place(crossing.target),
            symmetry: crossing.symmetry,
            folds: self.space.folds(&self.space.class(crossing.target)),
            known: true,
        };
        let slot = self.slots[slot].as_mut();
        if let Some(known) = slot.and_then(|region| region.ways.get_mut(usize::from(gate))) {
            *known = way;
        }
        way
    }
}

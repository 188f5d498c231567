//! A bounded cache of what is known of regions: class, weights and where the gates lead.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use strata_space::{ExitEdge, MAX_MOVE_KINDS, RegionKey, Tabled, Weight};
use strata_store::EntryKey;

/// Where a gate leads.
#[derive(Copy, Clone)]
pub(super) struct Way {
    /// The target, packed so that a region takes few lines of the processor's cache.
    region: [u64; 2],
    shard: u32,
    /// `ExitEdge::MAX` if that is not known.
    back: ExitEdge,
    pub(super) symmetry: u8,
    arrival: Arrival,
}

/// What becomes of locals on arrival.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Arrival {
    /// It has not been worked out, nor has the rest.
    Unknown,
    Plain,
    Folded,
}

impl Way {
    const UNKNOWN: Way =
        Way { region: [0; 2], shard: 0, back: 0, symmetry: 0, arrival: Arrival::Unknown };

    /// Whether locals are folded on arrival.
    #[inline]
    pub(super) fn folds(&self) -> bool {
        self.arrival == Arrival::Folded
    }

    /// The gate of the target by which all that arrive lead back, if it is known.
    #[inline]
    pub(super) fn back(&self) -> Option<ExitEdge> {
        (self.back != ExitEdge::MAX).then_some(self.back)
    }

    /// The region that the gate leads to.
    #[inline]
    pub(super) fn target(&self) -> EntryKey {
        let [high, low] = self.region.map(u128::from);
        EntryKey { shard: self.shard, region: high << 64 | low }
    }
}

/// What is known of one region.
#[derive(Copy, Clone)]
#[repr(align(64))]
pub(super) struct Region<C> {
    pub(super) class: C,
    /// The class's number, if it has one; not if symmetries fix the region.
    pub(super) number: Option<u32>,
    /// By side and image.
    pub(super) weights: [[Weight; 2]; 2],
    ways: [Way; MAX_MOVE_KINDS as usize],
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
    classes: Arc<Classes<S::Class>>,
    /// The numbers of those that were met here.
    numbers: FxHashMap<S::Class, u32>,
}

/// Most classes that are numbered: a space may have as many as regions.
const MOST_CLASSES: usize = 1 << 14;

/// The numbers of classes, the same for all kernels of an engine: in the order in which they were
/// met.
pub(super) struct Classes<C>(Mutex<FxHashMap<C, u32>>);

impl<C> Default for Classes<C> {
    fn default() -> Classes<C> {
        Classes(Mutex::default())
    }
}

impl<C: Eq + Hash> Classes<C> {
    /// The number of a class, if it has one.
    fn number(&self, class: C) -> Option<u32> {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = numbers.len();
        if next == MOST_CLASSES {
            return numbers.get(&class).copied();
        }
        Some(*numbers.entry(class).or_insert(next as u32))
    }
}

const WAYS: usize = 4;
const EMPTY: RegionKey = RegionKey(u128::MAX);
const FIRST_SETS: usize = 1 << 8;

impl<S: Tabled> Regions<S> {
    pub(super) fn new(
        space: Arc<S>,
        shards: u32,
        bytes: usize,
        classes: Arc<Classes<S::Class>>,
    ) -> Regions<S> {
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
            classes,
            numbers: FxHashMap::default(),
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

    /// Asks for the memory that [`Self::find`] is going to read first.
    #[inline]
    pub(super) fn touch_keys(&self, key: RegionKey) {
        std::hint::black_box(self.keys[self.set(key)][0]);
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
        for door in (0..MAX_MOVE_KINDS as usize).step_by(3) {
            std::hint::black_box(region.ways[door].symmetry);
        }
    }

    /// Where one of the gates of the region in a slot leads.
    #[inline]
    pub(super) fn way(&mut self, slot: usize, gate: ExitEdge) -> Way {
        if self.space.exit_edges() > MAX_MOVE_KINDS.into() {
            return self.explore(slot, gate);
        }
        let way = self.at(slot).ways[usize::from(gate)];
        if way.arrival == Arrival::Unknown { self.explore(slot, gate) } else { way }
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
        let class = self.space.class(key);
        let region = Region {
            class,
            number: if self.space.needs_canonicalising(&class) { None } else { self.number(class) },
            weights: self.space.region_weights(key),
            ways: [Way::UNKNOWN; MAX_MOVE_KINDS as usize],
        };
        self.insert(key, region)
    }

    fn number(&mut self, class: S::Class) -> Option<u32> {
        if let Some(number) = self.numbers.get(&class) {
            return Some(*number);
        }
        let number = self.classes.number(class)?;
        self.numbers.insert(class, number);
        Some(number)
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
    fn explore(&mut self, slot: usize, gate: ExitEdge) -> Way {
        let key = self.keys[slot / WAYS][slot % WAYS];
        let target = self.space.edge_target(key, gate);
        let folds = self.space.needs_canonicalising(&self.space.class(target.region));
        let back = self.space.inverse_exit(gate, target.symmetry);
        let way = Way {
            region: [(target.region.0 >> 64) as u64, target.region.0 as u64],
            shard: self.place(target.region).shard,
            symmetry: target.symmetry,
            // What is folded may lead back by another gate.
            back: back.filter(|_| !folds).unwrap_or(ExitEdge::MAX),
            arrival: if folds { Arrival::Folded } else { Arrival::Plain },
        };
        let slot = self.slots[slot].as_mut();
        if let Some(known) = slot.and_then(|region| region.ways.get_mut(usize::from(gate))) {
            *known = way;
        }
        way
    }
}

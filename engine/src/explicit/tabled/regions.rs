//! Region cache: class, weights and edge targets of recently used regions.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use crate::memory::{preallocate, prefetch_all};
use rustc_hash::FxHashMap;
use strata_space::{ExitEdge, MAX_MOVE_KINDS, RegionKey, Tabled, Weight};
use strata_store::EntryKey;

use super::region_index::{INITIAL_REGIONS, RegionIndex};

/// Target of an exit edge.
#[derive(Copy, Clone)]
pub(super) struct CachedTarget {
    /// High and low half of the target's region key. Two halves need less alignment than one integer, so
    /// that a cached region takes fewer cache lines.
    region: [u64; 2],
    shard: u32,
    /// Inverse edge; `ExitEdge::MAX` if it is unknown.
    inverse: ExitEdge,
    pub(super) symmetry: u8,
    state: TargetState,
}

/// Whether a target is known, and whether locals need canonicalising there.
#[derive(Copy, Clone, PartialEq, Eq)]
enum TargetState {
    /// The target is unknown; the other fields are invalid.
    Unknown,
    /// Locals stay unchanged in the target region.
    Plain,
    /// Locals must be canonicalised in the target region.
    Canonicalised,
}

impl CachedTarget {
    const UNKNOWN: CachedTarget = CachedTarget {
        region: [0; 2],
        shard: 0,
        inverse: 0,
        symmetry: 0,
        state: TargetState::Unknown,
    };

    /// Whether locals need canonicalising in the target region.
    #[inline]
    pub(super) fn needs_canonicalising(&self) -> bool {
        self.state == TargetState::Canonicalised
    }

    /// The exit edge of the target region that leads back, if it is known.
    #[inline]
    pub(super) fn inverse(&self) -> Option<ExitEdge> {
        (self.inverse != ExitEdge::MAX).then_some(self.inverse)
    }

    /// The target region.
    #[inline]
    pub(super) fn key(&self) -> EntryKey {
        let [high, low] = self.region.map(u128::from);
        EntryKey { shard: self.shard, region: high << 64 | low }
    }
}

/// Cached data of one region.
#[derive(Copy, Clone)]
#[repr(align(64))]
pub(super) struct CachedRegion<C> {
    pub(super) class: C,
    /// The number of the class. None if there are too many classes, or if symmetries fix the region.
    pub(super) class_number: Option<u32>,
    /// Weights of the region's images, by side and image.
    pub(super) weights: [[Weight; 2]; 2],
    targets: [CachedTarget; MAX_MOVE_KINDS as usize],
}

/// Cache of regions, in a list in the order of first use. As a layer visits regions in key order, regions
/// that are used together are mostly neighbours in the list.
///
/// Every layer visits the same regions in the same order. This is the worst case for eviction of the least
/// recently used region, which would evict each region just before its next use. So a full cache evicts
/// from the sets of its index in turn.
pub(super) struct RegionCache<S: Tabled> {
    space: Arc<S>,
    shards: u32,
    index: RegionIndex,
    /// The data of regions, without boxes: as a layer visits every region once, its data is not in the
    /// processor's cache, and all of its cache lines should be prefetched at once.
    regions: Vec<CachedRegion<S::Class>>,
    classes: Arc<ClassNumbers<S::Class>>,
    /// Class numbers that this cache has looked up already, to avoid the lock of the shared numbers.
    numbers: FxHashMap<S::Class, u32>,
}

/// The most numbered classes. A space may have as many classes as regions.
const MAX_CLASSES: usize = 1 << 14;

/// Numbers of classes, in order of first use. All kernels of an engine share them.
pub(super) struct ClassNumbers<C>(Mutex<FxHashMap<C, u32>>);

impl<C> Default for ClassNumbers<C> {
    fn default() -> ClassNumbers<C> {
        ClassNumbers(Mutex::default())
    }
}

impl<C: Eq + Hash> ClassNumbers<C> {
    /// The number of a class; None if it has none and [`MAX_CLASSES`] classes are numbered.
    fn number(&self, class: C) -> Option<u32> {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = numbers.len();
        if next == MAX_CLASSES {
            return numbers.get(&class).copied();
        }
        Some(*numbers.entry(class).or_insert(next as u32))
    }
}

impl<S: Tabled> RegionCache<S> {
    /// An empty cache that grows to about `bytes` bytes, at least to [`INITIAL_REGIONS`] regions.
    pub(super) fn new(
        space: Arc<S>,
        shards: u32,
        bytes: usize,
        classes: Arc<ClassNumbers<S::Class>>,
    ) -> RegionCache<S> {
        let region = size_of::<CachedRegion<S::Class>>() + RegionIndex::BYTES_PER_REGION;
        let limit = (bytes / region).max(INITIAL_REGIONS);
        let mut regions = Vec::new();
        preallocate(&mut regions, limit * size_of::<CachedRegion<S::Class>>());
        RegionCache {
            space,
            shards,
            index: RegionIndex::new(limit),
            regions,
            classes,
            numbers: FxHashMap::default(),
        }
    }

    /// Prefetches what [`Self::find`] reads.
    #[inline]
    pub(super) fn prefetch_key(&self, key: RegionKey) {
        self.index.prefetch(key);
    }

    /// The slot of a region, which is loaded if it is not cached. The slot is valid until the next call.
    #[inline]
    pub(super) fn find(&mut self, key: RegionKey) -> usize {
        match self.index.get(key) {
            Some(slot) => slot,
            None => self.load(key),
        }
    }

    /// The region in a slot that the last call of [`Self::find`] returned.
    #[inline]
    pub(super) fn at(&self, slot: usize) -> &CachedRegion<S::Class> {
        &self.regions[slot]
    }

    /// Prefetches all cache lines of a region.
    #[inline(always)]
    pub(super) fn prefetch(&self, slot: usize) {
        prefetch_all(&self.regions[slot..=slot]);
    }

    /// The target of an exit edge of the region `key`, which is in `slot`.
    #[inline]
    pub(super) fn target(&mut self, key: RegionKey, slot: usize, edge: ExitEdge) -> CachedTarget {
        if self.space.exit_edges() > MAX_MOVE_KINDS.into() {
            return self.load_target(key, slot, edge);
        }
        let target = self.at(slot).targets[usize::from(edge)];
        if target.state == TargetState::Unknown {
            self.load_target(key, slot, edge)
        } else {
            target
        }
    }

    /// The key of a region in layer files.
    pub(super) fn key_of(&self, region: RegionKey) -> EntryKey {
        EntryKey::in_shards(region.0, self.space.shard_hash(region), self.shards)
    }

    #[cold]
    #[inline(never)]
    fn load(&mut self, key: RegionKey) -> usize {
        let class = self.space.class(key);
        let region = CachedRegion {
            class,
            class_number: if self.space.needs_canonicalising(&class) {
                None
            } else {
                self.number(class)
            },
            weights: self.space.region_weights(key),
            targets: [CachedTarget::UNKNOWN; MAX_MOVE_KINDS as usize],
        };
        let slot = self.index.insert(key);
        match self.regions.get_mut(slot) {
            Some(evicted) => *evicted = region,
            None => self.regions.push(region),
        }
        slot
    }

    fn number(&mut self, class: S::Class) -> Option<u32> {
        if let Some(number) = self.numbers.get(&class) {
            return Some(*number);
        }
        let number = self.classes.number(class)?;
        self.numbers.insert(class, number);
        Some(number)
    }

    #[cold]
    #[inline(never)]
    fn load_target(&mut self, key: RegionKey, slot: usize, edge: ExitEdge) -> CachedTarget {
        let target = self.space.edge_target(key, edge);
        let canonicalised = self.space.needs_canonicalising(&self.space.class(target.region));
        let inverse = self.space.inverse_exit(edge, target.symmetry);
        let cached = CachedTarget {
            region: [(target.region.0 >> 64) as u64, target.region.0 as u64],
            shard: self.key_of(target.region).shard,
            symmetry: target.symmetry,
            // A canonicalised local may lead back by another edge.
            inverse: inverse.filter(|_| !canonicalised).unwrap_or(ExitEdge::MAX),
            state: if canonicalised { TargetState::Canonicalised } else { TargetState::Plain },
        };
        if let Some(known) = self.regions[slot].targets.get_mut(usize::from(edge)) {
            *known = cached;
        }
        cached
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use strata_puzzles::panex::{Panex, PanexConfig};
    use strata_space::StateSpace;

    use super::*;

    #[test]
    #[ignore = "takes long; run by scripts/nightly"]
    fn a_full_cache_uses_its_memory_and_returns_correct_regions() {
        let space = Arc::new(Panex::new(PanexConfig::new(7)).unwrap());
        let region = size_of::<CachedRegion<<Panex as Tabled>::Class>>();
        // Between two powers of two.
        let limit = 3 * INITIAL_REGIONS / 2;
        let bytes = limit * (region + RegionIndex::BYTES_PER_REGION);
        let mut cache = RegionCache::new(space.clone(), 1, bytes, Arc::default());
        let (mut next, mut regions) = (space.seeds(), HashSet::new());
        let mut known: HashSet<_> = next.iter().copied().collect();
        while regions.len() < 3 * limit {
            let state = next.pop().unwrap();
            regions.insert(state.region);
            let slot = cache.find(state.region);
            assert_eq!(cache.at(slot).weights, space.region_weights(state.region));
            let target = cache.target(state.region, slot, 0);
            assert_eq!(target.key().region, space.edge_target(state.region, 0).region.0);
            let mut moves = Vec::new();
            space.moves(state, &mut moves);
            next.extend(moves.into_iter().filter(|state| known.insert(*state)));
        }
        assert_eq!(cache.regions.len(), limit);
        for region in regions {
            let slot = cache.find(region);
            assert!(cache.at(slot).class == space.class(region));
            assert_eq!(cache.at(slot).weights, space.region_weights(region));
        }
    }
}

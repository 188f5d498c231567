//! Memo table of one kernel for region expansions.
//!
//! The result of expanding a region depends only on its class and its three input lists, and the
//! same inputs recur: on Panex, nine of ten expansions repeat an earlier one. Each kernel looks up
//! the key (class, side, inputs) here before it computes. New entries collect in a private buffer
//! and are published to the shared generations in batches, so lookups take no lock.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_space::RegionKey;

use super::entry::{self, EntryLimits, key_of};
use super::generation::EntryRef;
use super::shared::{Generations, MemoShare, SharedMemo};
use crate::explicit::tabled::expansion::Expansion;

/// Location of an entry.
#[derive(Copy, Clone, Debug)]
pub(in crate::explicit::tabled) enum Slot {
    /// An entry of the young generation.
    Shared(EntryRef),
    /// An entry of the unpublished buffer, at this word.
    Unpublished(usize),
}

/// Number of lookups over which the hit rate is measured.
const WINDOW: u32 = 1 << 12;

/// Number of regions that are not looked up after a low hit rate.
const PAUSE: u32 = 1 << 15;

/// Memo table of one kernel: a private buffer of recent entries in front of the shared generations.
pub(in crate::explicit::tabled) struct Memo {
    /// None if the memory limit is 0.
    share: Option<MemoShare>,
    /// None between [`Self::release`] and [`Self::refresh`].
    generations: Option<Generations>,
    buffer: Buffer,
    /// New entries for other processes.
    learned: Vec<u64>,
    /// The most words of `learned`.
    most_learned: usize,
    lookups: u32,
    hits: u32,
    /// Number of regions until lookups are enabled again.
    pause: u32,
}

/// Entries that are not published yet.
#[derive(Default)]
struct Buffer {
    words: Vec<u64>,
    /// For each entry, its hash and its offset.
    entries: Vec<(u64, usize)>,
    /// Offsets of entries, by hash.
    offsets: FxHashMap<u64, usize>,
}

impl Memo {
    /// A memo table of a kernel, which adds `bytes` to the limit of the shared table. New entries of up to
    /// `learned` bytes are for other processes ([`Self::take_learned`]).
    pub(in crate::explicit::tabled) fn new(
        bytes: usize,
        learned: usize,
        shared: Arc<SharedMemo>,
    ) -> Memo {
        Memo {
            share: (bytes > 0).then(|| MemoShare::new(shared, bytes)),
            generations: None,
            buffer: Buffer::default(),
            learned: Vec::new(),
            most_learned: learned / size_of::<u64>(),
            lookups: 0,
            hits: 0,
            pause: 0,
        }
    }

    /// Whether lookups currently pay: false for the next [`PAUSE`] regions after fewer than a quarter of
    /// the last [`WINDOW`] lookups hit. Must be called once for each region.
    #[inline]
    pub(in crate::explicit::tabled) fn is_enabled(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        if self.lookups >= WINDOW {
            self.pause = if self.hits < self.lookups / 4 { PAUSE } else { 0 };
            (self.lookups, self.hits) = (0, 0);
        }
        true
    }

    /// Prepares for lookups: releases generations that have been replaced and loads the current
    /// ones.
    #[inline]
    pub(in crate::explicit::tabled) fn refresh(&mut self) {
        let Some(share) = &self.share else { return };
        if !self.generations.as_ref().is_some_and(|generations| share.is_current(generations)) {
            // The old ones are released before new ones are allocated.
            self.generations = None;
            self.generations = Some(share.generations());
        }
    }

    /// Prefetches the first slots that [`Self::get`] reads.
    #[inline]
    pub(in crate::explicit::tabled) fn prefetch_slots(&self, hash: u64) {
        if let Some(generations) = &self.generations {
            generations.young.prefetch_slot(hash);
            generations.old.prefetch_slot(hash);
        }
    }

    /// Prefetches the entry that [`Self::get`] will probably find.
    #[inline]
    pub(in crate::explicit::tabled) fn prefetch_entry(&self, hash: u64) {
        if let Some(generations) = &self.generations {
            generations.young.prefetch_entry(hash);
        }
    }

    /// Looks up the entry of a key, and counts the hit or miss.
    #[inline]
    pub(in crate::explicit::tabled) fn get(&mut self, hash: u64, key: &[u8]) -> Option<Slot> {
        self.lookups += 1;
        let generations = self.generations.as_ref()?;
        let found = match generations.young.get(hash, key) {
            Some(entry) => Some(Slot::Shared(entry)),
            None => self.get_slow(hash, key),
        };
        self.hits += u32::from(found.is_some());
        found
    }

    /// Whether another process has computed the expansion in a slot that the last call of [`Self::get`]
    /// returned.
    #[inline]
    pub(in crate::explicit::tabled) fn is_foreign(&self, slot: Slot) -> bool {
        match (slot, &self.generations) {
            (Slot::Shared(at), Some(generations)) => entry::is_foreign(generations.young.words(at)),
            (Slot::Unpublished(at), _) => entry::is_foreign(&self.buffer.words[at..]),
            (Slot::Shared(_), None) => false,
        }
    }

    /// The expansion in a slot that the last call of [`Self::get`] returned.
    #[inline]
    pub(in crate::explicit::tabled) fn expansion(&self, slot: Slot) -> Expansion<'_> {
        match (slot, &self.generations) {
            (Slot::Shared(at), Some(generations)) => entry::decode(generations.young.words(at)),
            (Slot::Unpublished(at), _) => entry::decode(&self.buffer.words[at..]),
            (Slot::Shared(_), None) => unreachable!("the slot is of the young generation"),
        }
    }

    /// Inserts the expansion of a missed key of a region. Publishes the buffer when it is large enough.
    pub(in crate::explicit::tabled) fn insert(
        &mut self,
        region: RegionKey,
        (hash, key): (u64, &[u8]),
        expansion: &Expansion<'_>,
    ) {
        if self.generations.is_none() {
            return;
        }
        let at = self.buffer.push(hash, |words| entry::encode(key, expansion, words));
        let entry = &self.buffer.words[at..];
        if self.learned.len() + entry.len() < self.most_learned {
            entry::put_for_others(region, entry, &mut self.learned);
        }
        self.publish();
    }

    /// The entries that were inserted since the last call, as far as the limit permits, for
    /// [`Self::learn`] in other processes.
    pub(in crate::explicit::tabled) fn take_learned(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.learned)
    }

    /// Adds the entries that another process has learned. `class_number` gives the number of a region's
    /// class; entries of regions without one are left out. Returns None if an entry is malformed; the
    /// entries before it are added.
    pub(in crate::explicit::tabled) fn learn(
        &mut self,
        mut words: &[u64],
        limits: EntryLimits,
        mut class_number: impl FnMut(RegionKey) -> Option<u32>,
    ) -> Option<()> {
        self.refresh();
        let (mut locals, mut adopted) = (Vec::new(), Vec::new());
        while !words.is_empty() {
            let (region, entry, rest) = entry::first_of_others(words, limits, &mut locals)?;
            words = rest;
            let Some(class) = class_number(region) else { continue };
            entry::adopt(entry, class, &mut adopted);
            let key = key_of(&adopted);
            let hash = entry::hash(key);
            let is_known = self.buffer.get(hash, key).is_some()
                || self.generations.as_ref().is_none_or(|now| now.young.get(hash, key).is_some());
            if !is_known {
                self.buffer.push(hash, |words| words.extend_from_slice(&adopted));
                self.publish();
            }
        }
        self.release();
        Some(())
    }

    /// Looks up a key in the unpublished buffer and in the old generation. A hit in the old
    /// generation is copied to the buffer.
    fn get_slow(&mut self, hash: u64, key: &[u8]) -> Option<Slot> {
        if let Some(at) = self.buffer.get(hash, key) {
            return Some(Slot::Unpublished(at));
        }
        let generations = self.generations.as_ref()?;
        let at = generations.old.get(hash, key)?;
        let words = entry::entry_words(generations.old.words(at));
        Some(Slot::Unpublished(self.buffer.push(hash, |to| to.extend_from_slice(words))))
    }

    /// Publishes the buffer if it is large enough.
    fn publish(&mut self) {
        let (Some(generations), Some(share)) = (&mut self.generations, &self.share) else { return };
        let Buffer { words, entries, .. } = &self.buffer;
        if words.len() < generations.young.publish_words() {
            return;
        }
        if !generations.young.publish(words, entries) {
            *generations = share.rotate(&generations.young);
            // A buffer that does not fit into an empty generation is dropped.
            generations.young.publish(words, entries);
        }
        self.buffer.clear();
    }

    /// Ends a series of lookups: publishes the buffer if it is large enough, and releases the generations.
    pub(in crate::explicit::tabled) fn release(&mut self) {
        self.publish();
        self.generations = None;
    }
}

impl Buffer {
    fn get(&self, hash: u64, key: &[u8]) -> Option<usize> {
        let at = *self.offsets.get(&hash)?;
        (key_of(&self.words[at..]) == key).then_some(at)
    }

    /// Adds the entry that `put` appends, and returns its offset.
    fn push(&mut self, hash: u64, put: impl FnOnce(&mut Vec<u64>)) -> usize {
        let at = self.words.len();
        put(&mut self.words);
        self.entries.push((hash, at));
        self.offsets.insert(hash, at);
        at
    }

    fn clear(&mut self) {
        self.words.clear();
        self.entries.clear();
        self.offsets.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::tabled::memo::entry::hash;
    use crate::explicit::tabled::memo::entry::tests::TestExpansion;
    use proptest::prelude::*;

    const REGION: RegionKey = RegionKey(0);

    fn memo_of_one_kernel(bytes: usize) -> Memo {
        let mut memo = Memo::new(bytes, 0, Arc::default());
        memo.refresh();
        memo
    }

    /// Looks up a key and inserts its expansion on a miss. Returns whether it hit.
    fn look_up(memo: &mut Memo, key: &[u8]) -> bool {
        let (hash, expected) = (hash(key), TestExpansion::of(key));
        match memo.get(hash, key) {
            Some(slot) => assert_eq!(memo.expansion(slot), expected.expansion()),
            None => {
                memo.insert(REGION, (hash, key), &expected.expansion());
                return false;
            }
        }
        true
    }

    #[test]
    fn entries_published_by_one_kernel_are_found_by_another() {
        let shared = Arc::<SharedMemo>::default();
        let [mut a, mut b] = [(); 2].map(|()| Memo::new(2 << 20, 0, shared.clone()));
        let many = 0..5_000_u32;
        a.refresh();
        b.refresh();
        for i in many.clone() {
            assert!(!look_up(&mut a, &i.to_ne_bytes()));
            assert!(look_up(&mut a, &i.to_ne_bytes()));
        }
        let hits = many.clone().filter(|i| look_up(&mut b, &i.to_ne_bytes())).count();
        // All but the unpublished entries of the first kernel, which the second has inserted itself.
        assert!((4_500..5_000).contains(&hits), "{hits}");
        assert!(many.clone().all(|i| look_up(&mut b, &i.to_ne_bytes())));
        // Entries stay while one kernel has a share.
        drop(a);
        b.release();
        b.refresh();
        assert!(look_up(&mut b, &7_u32.to_ne_bytes()));
        drop(b);
        let mut next = Memo::new(1 << 20, 0, shared);
        next.refresh();
        assert!(!look_up(&mut next, &7_u32.to_ne_bytes()));
    }

    #[test]
    fn a_replaced_generation_is_released_by_all_kernels() {
        let shared = Arc::<SharedMemo>::default();
        let [mut a, mut b] = [(); 2].map(|()| Memo::new(64 << 10, 0, shared.clone()));
        a.refresh();
        b.refresh();
        let first = Arc::downgrade(&b.generations.as_ref().unwrap().young);
        let mut next = 0_u32;
        while b.share.as_ref().unwrap().is_current(b.generations.as_ref().unwrap()) {
            a.refresh();
            look_up(&mut a, &next.to_ne_bytes());
            next += 1;
        }
        // The first generation is now the old one.
        b.refresh();
        assert_eq!(first.strong_count(), 3);
        for i in next..6 * next {
            a.refresh();
            look_up(&mut a, &i.to_ne_bytes());
        }
        assert_eq!(first.strong_count(), 1);
        b.refresh();
        assert_eq!(first.strong_count(), 0);
    }

    #[test]
    fn kernels_insert_and_rotate_at_the_same_time() {
        let shared = Arc::<SharedMemo>::default();
        let kernel = |seed: u32| {
            let mut memo = Memo::new(64 << 10, 0, shared.clone());
            for pass in 0..40 {
                memo.refresh();
                for i in 0..500_u32 {
                    look_up(&mut memo, &(seed * i * i % 1_009 + pass / 8 * 700).to_ne_bytes());
                }
                memo.release();
            }
        };
        std::thread::scope(|scope| (1..4).for_each(|seed| drop(scope.spawn(move || kernel(seed)))));
    }

    proptest! {
        /// Also after rotations, and with hashes that collide.
        #[test]
        fn a_hit_is_the_expansion_of_its_key(
            keys in proptest::collection::vec((0_u8..40, 1_usize..30), 1..300),
            bytes in 0_usize..40_000,
            hashes in prop_oneof![Just(u64::MAX), Just(0xffff_ffff_0000_000f), Just(0)],
        ) {
            let mut memo = memo_of_one_kernel(bytes);
            for (byte, len) in keys {
                let key = vec![byte; len];
                let hash = hash(&key) & hashes;
                memo.refresh();
                memo.prefetch_slots(hash);
                memo.prefetch_entry(hash);
                let expected = TestExpansion::of(&key);
                match memo.get(hash, &key) {
                    Some(slot) => prop_assert_eq!(memo.expansion(slot), expected.expansion()),
                    None => memo.insert(REGION, (hash, &key), &expected.expansion()),
                }
                if byte == 0 {
                    memo.release();
                }
            }
        }
    }

    #[test]
    fn frequent_entries_survive_rotations_and_the_rest_is_dropped() {
        let mut memo = memo_of_one_kernel(64 << 10);
        assert!(!look_up(&mut memo, b"often"));
        for i in 0..10_000_u32 {
            assert!(!look_up(&mut memo, &i.to_ne_bytes()), "a new key");
            assert!(look_up(&mut memo, b"often"), "after {i} others");
        }
        assert!(look_up(&mut memo, &9_999_u32.to_ne_bytes()));
        assert!(!look_up(&mut memo, &0_u32.to_ne_bytes()));
        let Generations { young, old, .. } = memo.generations.as_ref().unwrap();
        let bytes = young.bytes() + old.bytes();
        assert!(bytes <= 64 << 10, "{bytes} bytes");
    }

    /// Number of lookups for `regions` regions, in batches of 13.
    fn lookups(memo: &mut Memo, regions: u32, key: impl Fn(u32) -> u32) -> u32 {
        let mut count = 0;
        for first in (0..regions).step_by(13) {
            let batch: Vec<u32> =
                (first..first + 13).filter(|_| memo.is_enabled()).map(&key).collect();
            for key in batch {
                count += 1;
                memo.get(u64::from(key), &key.to_ne_bytes());
            }
        }
        count
    }

    #[test]
    fn lookups_are_disabled_for_a_while_after_many_misses() {
        let mut memo = memo_of_one_kernel(1 << 20);
        let count = lookups(&mut memo, 2 * (WINDOW + PAUSE), |region| region);
        assert!((WINDOW..2 * WINDOW + 100).contains(&count), "{count} lookups");
        // Hits keep lookups enabled.
        let mut memo = memo_of_one_kernel(1 << 20);
        memo.insert(REGION, (1, &1_u32.to_ne_bytes()), &TestExpansion::of(b"hit").expansion());
        assert!(lookups(&mut memo, 10 * WINDOW, |_| 1) >= 10 * WINDOW);
    }

    #[test]
    fn a_limit_beyond_all_memory_is_accepted() {
        let mut memo = memo_of_one_kernel(usize::MAX);
        assert!(!look_up(&mut memo, b"key"));
        assert!(look_up(&mut memo, b"key"));
    }

    #[test]
    fn without_memory_every_lookup_misses() {
        let mut memo = memo_of_one_kernel(0);
        assert!(!look_up(&mut memo, b"key"));
        assert!(!look_up(&mut memo, b"key"));
    }
}

//! One generation of memo entries, read and extended by several kernels at the same time.
//!
//! A generation only grows, so lookups take no lock. It is an open-addressing hash table of slots
//! that refer to entries in one list of words.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::memory::{AppendOnlyWords, preallocate, prefetch};

use super::entry::key_of;

/// Number of low bits of a slot, which hold the position of the entry. The high bits are a tag from the
/// hash.
const POSITION_BITS: u32 = 40;

/// The most bytes of a generation.
const MAX_BYTES: usize = 4 << 30;

/// Assumed number of words per entry, from which the number of slots is computed. Few entries are smaller.
const TYPICAL_WORDS: usize = 32;

/// Lower limit of [`Generation::publish_words`].
const MIN_PUBLISH_WORDS: usize = 64;

/// Upper limit of [`Generation::publish_words`].
const MAX_PUBLISH_WORDS: usize = 2 << 10;

/// Number of words of a cache line, and of lines of an entry that are prefetched.
const LINE_WORDS: usize = 8;
const PREFETCH_LINES: usize = 7;

/// Reference to an entry of a generation: the value of its slot.
#[derive(Copy, Clone, Debug)]
pub(in crate::explicit::tabled) struct EntryRef(u64);

impl EntryRef {
    #[inline]
    fn position(self) -> usize {
        self.0 as usize & ((1 << POSITION_BITS) - 1)
    }
}

/// One generation of memo entries.
pub(super) struct Generation {
    /// Hash table with linear probing; 0 is an empty slot. The length is a power of two.
    slots: Box<[AtomicU64]>,
    /// Entries, one after the other. The first word is unused, so that the slot of an entry is never 0.
    words: AppendOnlyWords,
    /// Number of entries with a slot. It is locked while entries are published.
    entries: Mutex<usize>,
    /// The limit with which the generation was created, in bytes.
    limit: usize,
}

impl Generation {
    /// An empty generation of at most about `bytes` bytes. Entries take no memory before they are
    /// published.
    pub(super) fn new(bytes: usize) -> Generation {
        let limit = bytes;
        let bytes = bytes.min(MAX_BYTES);
        // Slots take at most a quarter of the bytes.
        let slots = (bytes / 4 / size_of::<AtomicU64>()).min(bytes / 8 / TYPICAL_WORDS * 2);
        let slots = 1 << slots.max(16).ilog2();
        let words = AppendOnlyWords::new((bytes - bytes.min(slots * size_of::<AtomicU64>())) / 8);
        words.append(&[0]);
        Generation { slots: zeroed_slots(slots), words, entries: Mutex::new(0), limit }
    }

    /// An empty generation of at most about `bytes` bytes. If this generation was created with the same
    /// limit, its memory is reused, because clearing the slots is faster than new memory.
    pub(super) fn renewed(mut self, bytes: usize) -> Generation {
        if self.limit != bytes {
            return Generation::new(bytes);
        }
        self.slots.iter_mut().for_each(|slot| *slot.get_mut() = 0);
        self.words.clear();
        self.words.append(&[0]);
        *self.entries.get_mut().unwrap_or_else(PoisonError::into_inner) = 0;
        self
    }

    /// Size, in words, at which a buffer of new entries is worth publishing.
    pub(super) fn publish_words(&self) -> usize {
        (self.words.capacity() / 64).clamp(MIN_PUBLISH_WORDS, MAX_PUBLISH_WORDS)
    }

    /// Index of the first slot to probe for a hash.
    #[inline]
    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// Prefetches the first slot that [`Self::get`] reads.
    #[inline]
    pub(super) fn prefetch_slot(&self, hash: u64) {
        prefetch(&self.slots, self.first(hash));
    }

    /// Prefetches the entry that the first slot refers to.
    #[inline]
    pub(super) fn prefetch_entry(&self, hash: u64) {
        let slot = self.slots[self.first(hash)].load(Ordering::Acquire);
        if slot != 0 && has_tag(slot, hash) {
            let (words, at) = (self.words.words(), EntryRef(slot).position());
            (0..PREFETCH_LINES).for_each(|line| prefetch(words, at + line * LINE_WORDS));
        }
    }

    /// The words from an entry on.
    #[inline]
    pub(super) fn words(&self, entry: EntryRef) -> &[u64] {
        &self.words.words()[entry.position()..]
    }

    /// Looks up the entry of a key.
    #[inline]
    pub(super) fn get(&self, hash: u64, key: &[u8]) -> Option<EntryRef> {
        let mut at = self.first(hash);
        loop {
            let slot = self.slots[at].load(Ordering::Acquire);
            if slot == 0 {
                return None;
            }
            if has_tag(slot, hash) && key_of(self.words(EntryRef(slot))) == key {
                return Some(EntryRef(slot));
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Publishes entries. `words` has their content, and `entries` the hash and the offset in `words` of
    /// each. Returns false if they do not fit.
    pub(super) fn publish(&self, words: &[u64], entries: &[(u64, usize)]) -> bool {
        let mut used = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if *used + entries.len() >= self.slots.len() / 4 * 3 {
            return false;
        }
        let Some(first) = self.words.append(words) else { return false };
        for (hash, at) in entries {
            // Another kernel may have published an entry of the same key in the meantime.
            if self.get(*hash, key_of(&words[*at..])).is_none() {
                self.link(*hash, first + at);
                *used += 1;
            }
        }
        true
    }

    /// Stores a reference to an entry in the first free slot.
    fn link(&self, hash: u64, position: usize) {
        let mut at = self.first(hash);
        while self.slots[at].load(Ordering::Relaxed) != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        let slot = hash >> POSITION_BITS << POSITION_BITS | position as u64;
        // Release: a thread that loads the slot also sees the entry.
        self.slots[at].store(slot, Ordering::Release);
    }

    /// Bytes in use.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + size_of_val(self.words.words())
    }
}

/// Empty slots, in large pages.
fn zeroed_slots(len: usize) -> Box<[AtomicU64]> {
    let mut slots = Vec::new();
    preallocate(&mut slots, len * size_of::<AtomicU64>());
    slots.resize_with(len, AtomicU64::default);
    slots.into()
}

#[inline]
fn has_tag(slot: u64, hash: u64) -> bool {
    (slot ^ hash) >> POSITION_BITS == 0
}

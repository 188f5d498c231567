//! One generation of memo entries, read and extended by several kernels at the same time.
//!
//! A generation only grows, so lookups take no lock. It is an open-addressing hash table of slots
//! that refer to entries in published batches of words.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::entry::key_of;

/// Bits of a slot, from the lowest: offset of the entry in its batch, number of the batch, and a
/// tag from the hash.
const OFFSET_BITS: u32 = 20;
const BATCH_BITS: u32 = 20;
const TAG_SHIFT: u32 = OFFSET_BITS + BATCH_BITS;

/// Limit of the words of a batch: offsets have [`OFFSET_BITS`].
const MAX_BATCH_WORDS: usize = 1 << OFFSET_BITS;

/// Limit of the bytes of a generation.
const MAX_BYTES: usize = 4 << 30;

/// Words per entry for which slots are allocated. Few entries are smaller.
const TYPICAL_WORDS: usize = 32;

/// Lower limit of [`Generation::publish_words`].
const MIN_PUBLISH_WORDS: usize = 64;

/// Upper limit of [`Generation::publish_words`].
const MAX_PUBLISH_WORDS: usize = 2 << 10;

/// Words of a cache line, and the number of lines of an entry that are prefetched.
const LINE_WORDS: usize = 8;
const PREFETCH_LINES: usize = 7;

/// Reference to an entry of a generation: the value of its slot.
#[derive(Copy, Clone, Debug)]
pub(in crate::tabled) struct EntryRef(u64);

/// One generation of memo entries.
pub(super) struct Generation {
    /// Hash table with linear probing; 0 is an empty slot. The length is a power of two.
    slots: Box<[AtomicU64]>,
    /// Published batches: entries one after the other. Number 0 is not used, so no slot is 0.
    batches: Box<[OnceLock<Box<[u64]>>]>,
    max_words: usize,
    usage: Mutex<Usage>,
}

/// Used parts of a generation.
#[derive(Debug)]
struct Usage {
    batches: usize,
    words: usize,
    entries: usize,
}

impl Generation {
    /// A generation of about `bytes` at most. Memory of entries is allocated when they are
    /// published.
    pub(super) fn new(bytes: usize) -> Generation {
        let bytes = bytes.min(MAX_BYTES);
        // Slots take a quarter of the bytes at most.
        let slots = (bytes / 4 / size_of::<AtomicU64>()).min(bytes / 8 / TYPICAL_WORDS * 2);
        let slots = 1 << slots.max(16).ilog2();
        let max_words = (bytes - bytes.min(slots * size_of::<AtomicU64>())) / 8;
        let batches = 2 + max_words / publish_words(max_words);
        Generation {
            slots: bytemuck::zeroed_slice_box(slots),
            batches: (0..batches.min(1 << BATCH_BITS)).map(|_| OnceLock::new()).collect(),
            max_words,
            usage: Mutex::new(Usage { batches: 1, words: 0, entries: 0 }),
        }
    }

    /// Size, in words, at which a buffer of new entries is worth publishing.
    pub(super) fn publish_words(&self) -> usize {
        publish_words(self.max_words)
    }

    /// Index of the first slot to probe for a hash.
    #[inline]
    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// Prefetches the first slot that [`Self::get`] reads.
    #[inline]
    pub(super) fn prefetch_slot(&self, hash: u64) {
        std::hint::black_box(self.slots[self.first(hash)].load(Ordering::Relaxed));
    }

    /// Prefetches the entry that the first slot refers to.
    #[inline]
    pub(super) fn prefetch_entry(&self, hash: u64) {
        let slot = self.slots[self.first(hash)].load(Ordering::Acquire);
        if slot != 0 && has_tag(slot, hash) {
            for line in self.words(EntryRef(slot)).iter().step_by(LINE_WORDS).take(PREFETCH_LINES) {
                std::hint::black_box(*line);
            }
        }
    }

    /// The words of a batch from an entry on.
    #[inline]
    pub(super) fn words(&self, EntryRef(slot): EntryRef) -> &[u64] {
        let batch = (slot >> OFFSET_BITS) as usize & ((1 << BATCH_BITS) - 1);
        let offset = slot as usize & (MAX_BATCH_WORDS - 1);
        match self.batches[batch].get() {
            Some(words) => &words[offset..],
            None => unreachable!("a batch is stored before its slots"),
        }
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

    /// Publishes a batch of words. `entries` has the hash and the offset of each entry. Returns
    /// false if the batch does not fit.
    pub(super) fn publish(&self, words: &[u64], entries: &[(u64, usize)]) -> bool {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = usage.batches;
        let has_room = words.len() <= MAX_BATCH_WORDS.min(self.max_words - usage.words)
            && usage.entries + entries.len() < self.slots.len() / 4 * 3;
        let Some(cell) = self.batches.get(batch).filter(|_| has_room) else { return false };
        if cell.set(words.into()).is_err() {
            unreachable!("a batch number is used once");
        }
        usage.batches += 1;
        usage.words += words.len();
        for (hash, at) in entries {
            // Another kernel may have published the same key in the meantime.
            if self.get(*hash, key_of(&words[*at..])).is_none() {
                self.link(*hash, batch, *at);
                usage.entries += 1;
            }
        }
        true
    }

    /// Stores a reference to an entry in the first free slot.
    fn link(&self, hash: u64, batch: usize, offset: usize) {
        let mut at = self.first(hash);
        while self.slots[at].load(Ordering::Relaxed) != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        let tag = hash >> TAG_SHIFT << TAG_SHIFT;
        let slot = tag | (batch << OFFSET_BITS) as u64 | offset as u64;
        // Release: a thread that loads the slot also sees its batch.
        self.slots[at].store(slot, Ordering::Release);
    }

    /// Bytes in use.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let usage = self.usage.lock().unwrap();
        size_of_val(&*self.slots) + size_of_val(&*self.batches) + 8 * usage.words
    }
}

fn publish_words(max_words: usize) -> usize {
    (max_words / 64).clamp(MIN_PUBLISH_WORDS, MAX_PUBLISH_WORDS)
}

#[inline]
fn has_tag(slot: u64, hash: u64) -> bool {
    (slot ^ hash) >> TAG_SHIFT == 0
}

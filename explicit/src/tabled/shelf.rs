//! Steps that several kernels look up, and add to, at the same time: a table that only grows, so that
//! nobody waits for anybody to read it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::step::question_of;

/// Bits of a slot's parts: where a step is in its batch, which batch that is, and so much of its hash.
const OFFSET_BITS: u32 = 20;
const BATCH_BITS: u32 = 20;
const TAG_SHIFT: u32 = OFFSET_BITS + BATCH_BITS;

/// Most words of a batch.
const MOST_BATCH: usize = 1 << OFFSET_BITS;

/// The most bytes of a shelf.
const MOST_BYTES: usize = 4 << 30;

/// Words of a step for which a shelf has a slot, at least: few are as small.
const SMALL: usize = 32;

/// Words of a batch for which a shelf has a place, at least.
const LEAST_BATCH: usize = 64;

/// Words of a batch that is worth adding, if there is room for many.
const GOOD_BATCH: usize = 2 << 10;

/// Words of a line of the processor's cache, and the lines of a step that are worth asking for.
const LINE: usize = 8;
const LINES: usize = 7;

/// Where a step is on a shelf.
#[derive(Copy, Clone, Debug)]
pub(super) struct Spot(u64);

/// See the module.
pub(super) struct Shelf {
    /// Where a step with some hash is: in the first of the slots from there on that are not taken
    /// by others; 0 where there is none. A power of two.
    slots: Box<[AtomicU64]>,
    /// Steps as they were added: several at once, one behind the other. The first is not used.
    batches: Box<[OnceLock<Box<[u64]>>]>,
    most_words: usize,
    filled: Mutex<Filled>,
}

/// How much of a shelf is used.
#[derive(Debug)]
struct Filled {
    batches: usize,
    words: usize,
    steps: usize,
}

impl Shelf {
    /// A shelf of about so many bytes at most. What is not used of them is not there yet.
    pub(super) fn new(bytes: usize) -> Shelf {
        let bytes = bytes.min(MOST_BYTES);
        // A quarter of the bytes are slots, at most.
        let slots = (bytes / 4 / size_of::<AtomicU64>()).min(bytes / 8 / SMALL * 2);
        let slots = 1 << slots.max(16).ilog2();
        let most_words = (bytes - bytes.min(slots * size_of::<AtomicU64>())) / 8;
        let batches = 2 + most_words / good_batch(most_words);
        Shelf {
            slots: bytemuck::zeroed_slice_box(slots),
            batches: (0..batches.min(1 << BATCH_BITS)).map(|_| OnceLock::new()).collect(),
            most_words,
            filled: Mutex::new(Filled { batches: 1, words: 0, steps: 0 }),
        }
    }

    /// How many words of steps are worth adding together.
    pub(super) fn good_batch(&self) -> usize {
        good_batch(self.most_words)
    }

    /// Where the search for a hash begins.
    #[inline]
    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// Asks for the memory that [`Self::find`] is going to read first.
    #[inline]
    pub(super) fn touch(&self, hash: u64) {
        std::hint::black_box(self.slots[self.first(hash)].load(Ordering::Relaxed));
    }

    /// Asks for the memory that [`Self::find`] is going to read next, and what follows it.
    #[inline]
    pub(super) fn touch_step(&self, hash: u64) {
        let slot = self.slots[self.first(hash)].load(Ordering::Acquire);
        if slot != 0 && has_tag(slot, hash) {
            for line in self.words(Spot(slot)).iter().step_by(LINE).take(LINES) {
                std::hint::black_box(*line);
            }
        }
    }

    /// The words from a step on that [`Self::find`] has told.
    #[inline]
    pub(super) fn words(&self, Spot(slot): Spot) -> &[u64] {
        let batch = (slot >> OFFSET_BITS) as usize & ((1 << BATCH_BITS) - 1);
        let offset = slot as usize & (MOST_BATCH - 1);
        match self.batches[batch].get() {
            Some(words) => &words[offset..],
            None => unreachable!("a batch is there before the slots that point to it"),
        }
    }

    /// Where the step is that answers a question.
    #[inline]
    pub(super) fn find(&self, hash: u64, question: &[u8]) -> Option<Spot> {
        let mut at = self.first(hash);
        loop {
            let slot = self.slots[at].load(Ordering::Acquire);
            if slot == 0 {
                return None;
            }
            if has_tag(slot, hash) && question_of(self.words(Spot(slot))) == question {
                return Some(Spot(slot));
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Adds a batch, of which each step's hash and place is told; false if there is no room.
    pub(super) fn add(&self, words: &[u64], steps: &[(u64, usize)]) -> bool {
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = filled.batches;
        let has_room = words.len() <= MOST_BATCH.min(self.most_words - filled.words)
            && filled.steps + steps.len() < self.slots.len() / 4 * 3;
        let Some(place) = self.batches.get(batch).filter(|_| has_room) else { return false };
        if place.set(words.into()).is_err() {
            unreachable!("a place is used once");
        }
        filled.batches += 1;
        filled.words += words.len();
        for (hash, at) in steps {
            // Others may have learned the same meanwhile.
            if self.find(*hash, question_of(&words[*at..])).is_none() {
                self.point(*hash, batch, *at);
                filled.steps += 1;
            }
        }
        true
    }

    fn point(&self, hash: u64, batch: usize, offset: usize) {
        let mut at = self.first(hash);
        while self.slots[at].load(Ordering::Relaxed) != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        let tag = hash >> TAG_SHIFT << TAG_SHIFT;
        let slot = tag | (batch << OFFSET_BITS) as u64 | offset as u64;
        // With the slot, its batch is seen.
        self.slots[at].store(slot, Ordering::Release);
    }

    /// Bytes that are used or promised.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let filled = self.filled.lock().unwrap();
        size_of_val(&*self.slots) + size_of_val(&*self.batches) + 8 * filled.words
    }
}

fn good_batch(most_words: usize) -> usize {
    (most_words / 64).clamp(LEAST_BATCH, GOOD_BATCH)
}

#[inline]
fn has_tag(slot: u64, hash: u64) -> bool {
    (slot ^ hash) >> TAG_SHIFT == 0
}

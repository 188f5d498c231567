//! A table of numbers by hash that is always nearly full, and keeps nothing but the numbers.
//!
//! It is in the order of the hashes: a hash's place is its share of the table, to the line. What the
//! line does not tell of the hash is kept with the number, in the bits that the number leaves free.
//! So the table grows by an eighth at a time, and without asking what the numbers stand for.

use hashbrown::HashTable;

use crate::memory::prefetch::prefetch;
use crate::memory::reserve::promise;

/// Numbers of a line, one of the processor's cache.
const SLOTS: usize = 16;

/// Numbers a line before the table grows: more are too many for too many lines.
const FILL: usize = 12;

/// Lines of an empty table.
const LEAST: usize = 1 << 6;

/// Tables below so many lines are doubled when they grow.
const SMALL: usize = 1 << 10;

/// Numbers from 1 on by as many bits of their hashes as given. The larger the numbers are, compared
/// to how many there are, the fewer bits there can be.
pub(crate) struct Table<const BITS: u32> {
    /// Lines, after some slots that are not used, so that each is a line of the cache.
    slots: Vec<u32>,
    skipped: usize,
    lines: usize,
    len: usize,
    /// Of lines that are full: hash and number.
    more: HashTable<(u32, u32)>,
}

/// A hash for a table of the second kind.
fn spread(key: u32) -> u64 {
    u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// How many slots come before the first line of the cache.
fn skipped(slots: &[u32]) -> usize {
    slots.as_ptr().align_offset(SLOTS * size_of::<u32>()) % SLOTS
}

impl<const BITS: u32> Table<BITS> {
    /// An empty table that is promised so many bytes.
    pub(crate) fn new(promised: usize) -> Table<BITS> {
        let mut slots = Vec::new();
        promise(&mut slots, promised);
        slots.resize((LEAST + 1) * SLOTS, 0);
        let skipped = skipped(&slots);
        Table { slots, skipped, lines: LEAST, len: 0, more: HashTable::new() }
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<u32>() + self.more.allocation_size()
    }

    /// Bits of a line's share of the hashes.
    #[inline(always)]
    fn log(&self) -> u32 {
        self.lines.ilog2()
    }

    /// Bits of a slot that are the number's.
    #[inline(always)]
    fn number_bits(&self) -> u32 {
        u32::BITS - BITS + self.log()
    }

    #[inline(always)]
    fn key(hash: u64) -> u32 {
        (hash >> (u64::BITS - BITS)) as u32
    }

    /// The line of a hash, and the rest of it: other hashes of the line have other rests, as they are
    /// at least as far from one another as there are lines.
    #[inline(always)]
    fn place(&self, key: u32) -> (usize, u32) {
        let share = u64::from(key) * self.lines as u64;
        let rest = (share & ((1 << BITS) - 1)) >> self.log();
        ((share >> BITS) as usize, rest as u32)
    }

    /// Where a line begins.
    #[inline(always)]
    fn begin(&self, line: usize) -> usize {
        self.skipped + line * SLOTS
    }

    /// Asks for a hash's line, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(&self.slots, self.begin(self.place(Self::key(hash)).0));
    }

    /// A number of this hash that is the one.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let key = Self::key(hash);
        let (line, rest) = self.place(key);
        let slots = &self.slots[self.begin(line)..][..SLOTS];
        let bits = self.number_bits();
        let mut hits = 0u32;
        for (slot, at) in slots.iter().zip(0..) {
            hits |= u32::from(slot >> bits == rest) << at;
        }
        while hits != 0 {
            let number = slots[hits.trailing_zeros() as usize % SLOTS] & ((1 << bits) - 1);
            if number != 0 && is_it(number) {
                return Some(number);
            }
            hits &= hits - 1;
        }
        if slots[SLOTS - 1] == 0 {
            return None;
        }
        let more = self.more.find(spread(key), |(other, number)| *other == key && is_it(*number));
        more.map(|(_, number)| *number)
    }

    /// Bytes by which the table must grow before this number is added; 0 if there is room.
    pub(crate) fn growth(&self, number: u32) -> usize {
        let is_full = self.len >= FILL * self.lines || number >> self.number_bits() != 0;
        let (len, room) = (self.more.len(), self.more.capacity());
        let more = if len < room { 0 } else { self.more.allocation_size().max(1 << 8) };
        if is_full { self.more_lines() * SLOTS * size_of::<u32>() + 2 * more } else { 2 * more }
    }

    fn more_lines(&self) -> usize {
        let lines = self.lines;
        if lines < SMALL { lines } else { lines / 8 }
    }

    /// Adds a number that is not there.
    pub(crate) fn insert(&mut self, hash: u64, number: u32) {
        while self.len >= FILL * self.lines || number >> self.number_bits() != 0 {
            self.grow();
        }
        self.add(Self::key(hash), number);
        self.len += 1;
    }

    #[inline(always)]
    fn add(&mut self, key: u32, number: u32) {
        let (line, rest) = self.place(key);
        let bits = self.number_bits();
        let begin = self.begin(line);
        match self.slots[begin..][..SLOTS].iter_mut().find(|slot| **slot == 0) {
            Some(free) => *free = rest << bits | number,
            None => {
                self.more.insert_unique(spread(key), (key, number), |(key, _)| spread(*key));
            }
        }
    }

    /// Spreads what is there over more lines. No number goes to a line before its own, so this can be
    /// done in place, from the last line to the first.
    fn grow(&mut self) {
        let (before, log, bits) = (self.lines, self.log(), self.number_bits());
        self.lines += self.more_lines();
        let all = (self.lines + 1) * SLOTS;
        self.slots.reserve_exact(all - self.slots.len());
        self.slots.resize(all, 0);
        let skipped = skipped(&self.slots);
        if skipped != self.skipped {
            let old = self.skipped..self.skipped + before * SLOTS;
            self.slots.copy_within(old, skipped);
            self.slots[..skipped].fill(0);
            self.slots[skipped + before * SLOTS..].fill(0);
            self.skipped = skipped;
        }
        let mut old = [0; SLOTS];
        for line in (0..before).rev() {
            let begin = self.begin(line);
            old.copy_from_slice(&self.slots[begin..][..SLOTS]);
            self.slots[begin..][..SLOTS].fill(0);
            for slot in old.iter().take_while(|slot| **slot != 0) {
                let share = (line as u64) << BITS | u64::from(slot >> bits) << log;
                self.add(share.div_ceil(before as u64) as u32, slot & ((1 << bits) - 1));
            }
        }
        let overflow = std::mem::take(&mut self.more);
        overflow.into_iter().for_each(|(key, number)| self.add(key, number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u32) -> u64 {
        let word = u64::from(number).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (word ^ word >> 32).wrapping_mul(0xe703_7ed1_a0b4_28db)
    }

    fn filled<const BITS: u32>(factor: u32) -> usize {
        let mut table = Table::<BITS>::new(0);
        for number in (1..60_000).map(|number| number * factor) {
            assert_eq!(table.find(hash(number), |other| other == number), None);
            let (growth, before) = (table.growth(number), table.bytes());
            table.insert(hash(number), number);
            assert!(growth > 0 || table.bytes() == before);
        }
        for number in (1..60_000).map(|number| number * factor) {
            assert_eq!(table.find(hash(number), |other| other == number), Some(number));
        }
        assert_eq!(table.len(), 59_999);
        table.bytes()
    }

    #[test]
    fn what_was_added_is_found_after_it_has_grown() {
        assert!(filled::<27>(1) < 59_999 * 7);
        assert!(filled::<25>(5) < 59_999 * 7);
        // Large numbers take a larger table.
        assert!(filled::<27>(50) > 59_999 * 7);
        filled::<24>(3);
    }

    #[test]
    fn many_of_one_hash_are_all_found() {
        let mut table = Table::<27>::new(0);
        for number in 1..100 {
            table.insert(1 << 60, number);
        }
        for number in 1..100 {
            assert_eq!(table.find(1 << 60, |other| other == number), Some(number));
        }
        assert_eq!(table.find(1 << 61, |_| true), None);
    }
}

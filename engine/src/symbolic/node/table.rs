//! Unique table: a compact hash table of node or exit-set numbers that stays nearly full.
//!
//! Numbers are stored in the order of their hashes, in lines of 16. The position of a line determines the
//! leading part of a hash. The rest of the hash is stored beside the number, in the bits that the number
//! leaves free. So the table can grow by an eighth at a time without recomputing hashes from the items.

use hashbrown::HashTable;

use crate::memory::preallocate;
use crate::memory::prefetch;

/// Number of slots of a line, which is one cache line.
const SLOTS: usize = 16;

/// Average number of used slots per line at which the table grows. Beyond it, too many lines overflow.
const MAX_FILL: usize = 12;

/// Number of lines of an empty table.
const MIN_LINES: usize = 1 << 6;

/// Tables with fewer lines double when they grow.
const DOUBLING_LINES: usize = 1 << 10;

/// Table of numbers from 1 on, by `HASH_BITS` bits of their hashes.
///
/// The larger the numbers are in relation to their count, the fewer hash bits can be used.
pub(crate) struct CompactTable<const HASH_BITS: u32> {
    /// Lines, after a few unused slots that align them with cache lines.
    slots: Vec<u32>,
    first_slot: usize,
    lines: usize,
    len: usize,
    /// Entries whose line is full, as (hash, number).
    overflow: HashTable<(u32, u32)>,
}

/// Hash for the overflow table.
fn spread(key: u32) -> u64 {
    u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Number of slots before the first cache line.
fn first_slot(slots: &[u32]) -> usize {
    slots.as_ptr().align_offset(SLOTS * size_of::<u32>()) % SLOTS
}

impl<const HASH_BITS: u32> CompactTable<HASH_BITS> {
    /// An empty table, with `prealloc_bytes` preallocated.
    pub(crate) fn new(prealloc_bytes: usize) -> CompactTable<HASH_BITS> {
        let mut slots = Vec::new();
        preallocate(&mut slots, prealloc_bytes);
        slots.resize((MIN_LINES + 1) * SLOTS, 0);
        let first_slot = first_slot(&slots);
        CompactTable { slots, first_slot, lines: MIN_LINES, len: 0, overflow: HashTable::new() }
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<u32>() + self.overflow.allocation_size()
    }

    /// The number of bits of a hash that the position of a line determines.
    #[inline(always)]
    fn log_lines(&self) -> u32 {
        self.lines.ilog2()
    }

    /// The number of bits of a slot that hold the entry's number.
    #[inline(always)]
    fn number_bits(&self) -> u32 {
        u32::BITS - HASH_BITS + self.log_lines()
    }

    #[inline(always)]
    fn key(hash: u64) -> u32 {
        (hash >> (u64::BITS - HASH_BITS)) as u32
    }

    /// The line of a hash, and the rest of the hash, which is stored in the slot.
    ///
    /// Hashes of one line with equal rests are equal, because the scaled positions of different hashes
    /// differ by at least the number of lines.
    #[inline(always)]
    fn locate(&self, key: u32) -> (usize, u32) {
        let share = u64::from(key) * self.lines as u64;
        let rest = (share & ((1 << HASH_BITS) - 1)) >> self.log_lines();
        ((share >> HASH_BITS) as usize, rest as u32)
    }

    /// First slot of a line.
    #[inline(always)]
    fn begin(&self, line: usize) -> usize {
        self.first_slot + line * SLOTS
    }

    /// Prefetches the line of a hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(&self.slots, self.begin(self.locate(Self::key(hash)).0));
    }

    /// Finds a number with this hash for which `matches` holds.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64, matches: impl Fn(u32) -> bool) -> Option<u32> {
        let key = Self::key(hash);
        let (line, rest) = self.locate(key);
        let slots = &self.slots[self.begin(line)..][..SLOTS];
        let bits = self.number_bits();
        let mut hits = 0u32;
        for (slot, at) in slots.iter().zip(0..) {
            hits |= u32::from(slot >> bits == rest) << at;
        }
        while hits != 0 {
            let number = slots[hits.trailing_zeros() as usize % SLOTS] & ((1 << bits) - 1);
            if number != 0 && matches(number) {
                return Some(number);
            }
            hits &= hits - 1;
        }
        if slots[SLOTS - 1] == 0 {
            return None;
        }
        let overflow =
            self.overflow.find(spread(key), |(other, number)| *other == key && matches(*number));
        overflow.map(|(_, number)| *number)
    }

    /// Number of bytes by which the table grows when `number` is inserted; 0 if there is room.
    pub(crate) fn growth_bytes(&self, number: u32) -> usize {
        let is_full = self.len >= MAX_FILL * self.lines || number >> self.number_bits() != 0;
        let (len, room) = (self.overflow.len(), self.overflow.capacity());
        let overflow = if len < room { 0 } else { self.overflow.allocation_size().max(1 << 8) };
        if is_full {
            self.lines_to_add() * SLOTS * size_of::<u32>() + 2 * overflow
        } else {
            2 * overflow
        }
    }

    fn lines_to_add(&self) -> usize {
        let lines = self.lines;
        if lines < DOUBLING_LINES { lines } else { lines / 8 }
    }

    /// Inserts a number that is not in the table.
    pub(crate) fn insert(&mut self, hash: u64, number: u32) {
        while self.len >= MAX_FILL * self.lines || number >> self.number_bits() != 0 {
            self.grow();
        }
        self.add(Self::key(hash), number);
        self.len += 1;
    }

    #[inline(always)]
    fn add(&mut self, key: u32, number: u32) {
        let (line, rest) = self.locate(key);
        let bits = self.number_bits();
        let begin = self.begin(line);
        match self.slots[begin..][..SLOTS].iter_mut().find(|slot| **slot == 0) {
            Some(free) => *free = rest << bits | number,
            None => {
                self.overflow.insert_unique(spread(key), (key, number), |(key, _)| spread(*key));
            }
        }
    }

    /// Distributes the entries over more lines. No entry moves to an earlier line, so this is done in
    /// place, from the last line to the first.
    fn grow(&mut self) {
        let (before, log_lines, bits) = (self.lines, self.log_lines(), self.number_bits());
        self.lines += self.lines_to_add();
        let all = (self.lines + 1) * SLOTS;
        self.slots.reserve_exact(all - self.slots.len());
        self.slots.resize(all, 0);
        let first_slot = first_slot(&self.slots);
        if first_slot != self.first_slot {
            let old = self.first_slot..self.first_slot + before * SLOTS;
            self.slots.copy_within(old, first_slot);
            self.slots[..first_slot].fill(0);
            self.slots[first_slot + before * SLOTS..].fill(0);
            self.first_slot = first_slot;
        }
        let mut old = [0; SLOTS];
        for line in (0..before).rev() {
            let begin = self.begin(line);
            old.copy_from_slice(&self.slots[begin..][..SLOTS]);
            self.slots[begin..][..SLOTS].fill(0);
            for slot in old.iter().take_while(|slot| **slot != 0) {
                let share = (line as u64) << HASH_BITS | u64::from(slot >> bits) << log_lines;
                self.add(share.div_ceil(before as u64) as u32, slot & ((1 << bits) - 1));
            }
        }
        let overflow = std::mem::take(&mut self.overflow);
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

    fn filled<const HASH_BITS: u32>(factor: u32) -> usize {
        let mut table = CompactTable::<HASH_BITS>::new(0);
        for number in (1..60_000).map(|number| number * factor) {
            assert_eq!(table.find(hash(number), |other| other == number), None);
            let (growth, before) = (table.growth_bytes(number), table.bytes());
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
    fn entries_are_found_after_growth() {
        assert!(filled::<27>(1) < 59_999 * 7);
        assert!(filled::<25>(5) < 59_999 * 7);
        // Large numbers need a larger table.
        assert!(filled::<27>(50) > 59_999 * 7);
        filled::<24>(3);
    }

    #[test]
    fn entries_of_equal_hashes_are_all_found() {
        let mut table = CompactTable::<27>::new(0);
        for number in 1..100 {
            table.insert(1 << 60, number);
        }
        for number in 1..100 {
            assert_eq!(table.find(1 << 60, |other| other == number), Some(number));
        }
        assert_eq!(table.find(1 << 61, |_| true), None);
    }
}

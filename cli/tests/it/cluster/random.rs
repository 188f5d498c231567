//! Pseudo-random choices from a seed.

use std::time::Duration;

/// A generator (xorshift).
pub(crate) struct Random(u64);

impl Random {
    /// A generator with a seed. Neighbouring seeds have unlike sequences.
    pub(crate) fn new(seed: u64) -> Random {
        // One step of splitmix64.
        let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Random((state ^ (state >> 31)).max(1))
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below a limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// One of some values.
    pub(crate) fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// Sleeps for less than some milliseconds.
    pub(crate) fn pause(&mut self, longest: u64) {
        std::thread::sleep(Duration::from_millis(self.below(longest)));
    }
}

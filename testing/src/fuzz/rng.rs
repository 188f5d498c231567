//! Seeded random number generator: splitmix64.

/// A generator. Equal seeds give equal numbers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator with a seed.
    #[must_use]
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.bits() % end as u64) as usize }
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of a list, which must not be empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A number that parsers often get wrong: near 0, near a power of two or near `len`.
    pub fn edge(&mut self, len: usize) -> u64 {
        let near = |word: u64, by: u64| word.wrapping_add(by).wrapping_sub(2);
        let by = self.bits() % 5;
        match self.below(5) {
            0 => by,
            1 => near(1 << self.below(64), by),
            2 => near(u64::MAX, by),
            3 => near(len as u64, by),
            _ => self.bits() >> self.below(64),
        }
    }
}

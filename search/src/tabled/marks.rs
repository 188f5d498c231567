//! A set of local indices of one region: stamps tell what has been seen, bits put what is new
//! in order.

use strata_space::Local;

/// A set of fewer than `N` indices; `W` is N / 64. With sizes known at compile time no access
/// needs a bounds check.
pub(super) struct Marks<const N: usize, const W: usize> {
    /// An index has been seen if its stamp is the current epoch.
    stamps: Box<[u8; N]>,
    epoch: u8,
    /// New indices in the order in which they were found.
    found: Box<[u32; N]>,
    /// All zero between regions.
    bits: Box<[u64; W]>,
}

impl<const N: usize, const W: usize> Marks<N, W> {
    const SIZES: () = assert!(N.is_power_of_two() && N == 64 * W && W >= 64);

    pub(super) fn new() -> Self {
        let () = Self::SIZES;
        Marks {
            stamps: bytemuck::zeroed_box(),
            epoch: 0,
            found: bytemuck::zeroed_box(),
            bits: bytemuck::zeroed_box(),
        }
    }

    /// Starts a region.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.stamps.fill(0);
            self.epoch = 1;
        }
    }

    /// Marks the indices of some locals as seen before.
    #[inline(always)]
    pub(super) fn exclude(&mut self, locals: &[Local]) {
        for local in locals {
            self.stamps[(local >> 1) as usize & (N - 1)] = self.epoch;
        }
    }

    /// Offers an index as the next new one, of which there are `count`; returns their number
    /// then.
    #[inline(always)]
    pub(super) fn offer(&mut self, count: usize, index: u32) -> usize {
        let stamp = &mut self.stamps[index as usize & (N - 1)];
        // Every offer is written, only new ones are kept; there is always room for one more, as
        // fewer than N indices are in use.
        self.found[count & (N - 1)] = index;
        let is_new = *stamp != self.epoch;
        *stamp = self.epoch;
        count + usize::from(is_new)
    }

    /// Appends the first `count` new indices in order, as locals of a side.
    #[inline(always)]
    pub(super) fn drain(&mut self, count: usize, side: u32, out: &mut Vec<Local>) {
        // Which parts of the set are in use: one register, where a word in memory for each would
        // make every store wait for the last one.
        let mut parts = 0u64;
        for index in &self.found[..count] {
            let index = *index as usize & (N - 1);
            self.bits[index / 64] |= 1 << (index & 63);
            parts |= 1 << (index / (N / 64));
        }
        out.reserve(count);
        while parts != 0 {
            let first = parts.trailing_zeros() as usize * (W / 64);
            parts &= parts - 1;
            for (at, word) in (first..).zip(&mut self.bits[first..first + W / 64]) {
                let mut left = std::mem::take(word);
                while left != 0 {
                    let index = at as u32 * 64 + left.trailing_zeros();
                    out.push(index << 1 | side);
                    left &= left - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_comes_out_once_and_in_order() {
        let mut marks = Marks::<4096, 64>::new();
        // More regions than there are epochs.
        for round in 0..600u32 {
            let offers = [7, 4095, 64, 7, round, 63, 64, 0];
            marks.begin();
            marks.exclude(&[63 << 1, 1]);
            let count = offers.iter().fold(0, |count, index| marks.offer(count, *index));
            let mut out = Vec::new();
            marks.drain(count, 1, &mut out);
            let mut expected: Vec<u32> =
                offers.into_iter().filter(|i| ![63, 0].contains(i)).map(|i| i << 1 | 1).collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(out, expected, "round {round}");
        }
    }
}

//! A set of local indices of one region: stamps tell what has been seen, bits put what is new
//! in order.

use strata_space::Local;

/// A set of up to `N` indices; `W` is N / 64 and `S` is W / 64. With sizes known at compile time
/// no access needs a bounds check.
pub(super) struct Marks<const N: usize, const W: usize, const S: usize> {
    /// An index has been seen if its stamp is the current epoch.
    stamps: Box<[u8; N]>,
    epoch: u8,
    /// New indices in the order in which they were found.
    found: Vec<u32>,
    /// All zero between regions, as is `summary`, which has a bit for each word of `bits`.
    bits: Box<[u64; W]>,
    summary: Box<[u64; S]>,
}

impl<const N: usize, const W: usize, const S: usize> Marks<N, W, S> {
    const SIZES: () = assert!(N.is_power_of_two() && N == 64 * W && W == 64 * S);

    pub(super) fn new() -> Self {
        let () = Self::SIZES;
        Marks {
            stamps: bytemuck::zeroed_vec(N)
                .into_boxed_slice()
                .try_into()
                .unwrap_or_else(|_| unreachable!()),
            epoch: 0,
            found: Vec::new(),
            bits: vec![0; W].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!()),
            summary: Box::new([0; S]),
        }
    }

    /// Starts a region in which at most `candidates` indices will be offered.
    #[inline(always)]
    pub(super) fn begin(&mut self, candidates: usize) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.stamps.fill(0);
            self.epoch = 1;
        }
        // One more, because every offer is written and only new ones are kept.
        if self.found.len() <= candidates {
            self.found.resize(candidates + 1, 0);
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
        self.found[count] = index;
        let is_new = *stamp != self.epoch;
        *stamp = self.epoch;
        count + usize::from(is_new)
    }

    /// Appends the first `count` new indices in order, as locals of a side.
    #[inline(always)]
    pub(super) fn drain(&mut self, count: usize, side: u32, out: &mut Vec<Local>) {
        for index in &self.found[..count] {
            let word = (*index as usize & (N - 1)) / 64;
            self.bits[word & (W - 1)] |= 1 << (index & 63);
            self.summary[(word / 64) & (S - 1)] |= 1 << (word & 63);
        }
        out.reserve(count);
        for (group, words) in self.summary.iter_mut().enumerate() {
            let mut words = std::mem::take(words);
            while words != 0 {
                let word = group * 64 + words.trailing_zeros() as usize;
                words &= words - 1;
                let mut left = std::mem::take(&mut self.bits[word & (W - 1)]);
                while left != 0 {
                    let index = word as u32 * 64 + left.trailing_zeros();
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
        let mut marks = Marks::<4096, 64, 1>::new();
        // More regions than there are epochs.
        for round in 0..600u32 {
            let offers = [7, 4095, 64, 7, round, 63, 64, 0];
            marks.begin(offers.len());
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

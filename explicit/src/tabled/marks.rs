//! Sets of local indices of one region as bits.
//!
//! A set fits into the first-level cache, and its elements are drained in order without sorting.

use strata_space::{Local, MAX_INDICES};

/// Sets of excluded and of candidate indices below 64 * `W`. The size is a constant, so accesses
/// need no bounds check.
pub(super) struct Marks<const W: usize> {
    /// Indices that are not new.
    excluded: Box<[u64; W]>,
    /// Indices that may be new. All zero between regions.
    candidates: Box<[u64; W]>,
    /// The 64ths of the set that have a candidate, one bit each. Kept in a register: flags in
    /// memory would make each store depend on the one before.
    parts: u64,
}

impl<const W: usize> Marks<W> {
    const SIZES: () = assert!(W.is_power_of_two() && W >= 64);

    pub(super) fn new() -> Self {
        let () = Self::SIZES;
        Marks { excluded: bytemuck::zeroed_box(), candidates: bytemuck::zeroed_box(), parts: 0 }
    }

    /// Starts a region.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.excluded.fill(0);
    }

    /// Marks the indices of some locals as not new.
    #[inline(always)]
    pub(super) fn exclude(&mut self, locals: &[Local]) {
        for local in locals {
            let index = (local >> 1) as usize;
            self.excluded[(index / 64) & (W - 1)] |= 1 << (index & 63);
        }
    }

    /// Adds an index that is new unless it is excluded.
    #[inline(always)]
    pub(super) fn add_candidate(&mut self, index: u32) {
        let word = (index as usize / 64) & (W - 1);
        self.candidates[word] |= 1 << (index & 63);
        self.parts |= 1 << (word / (W / 64));
    }

    /// Appends the new indices in order, as locals of a side.
    #[inline(always)]
    pub(super) fn drain(&mut self, side: u32, out: &mut Vec<Local>) {
        let mut parts = std::mem::take(&mut self.parts);
        while parts != 0 {
            let first = parts.trailing_zeros() as usize * (W / 64);
            parts &= parts - 1;
            let words = first..first + W / 64;
            let excluded = &self.excluded[words.clone()];
            for ((at, candidates), excluded) in
                (first..).zip(&mut self.candidates[words]).zip(excluded)
            {
                let mut left = std::mem::take(candidates) & !excluded;
                while left != 0 {
                    let index = at as u32 * 64 + left.trailing_zeros();
                    out.push(index << 1 | side);
                    left &= left - 1;
                }
            }
        }
    }
}

/// Limit of the indices of [`NarrowMarks`].
const NARROW: usize = 1 << 15;

/// Limit of the indices of [`WideMarks`].
const WIDE: usize = 1 << 17;

const _: () = assert!((MAX_INDICES as usize) < WIDE);

/// Marks for few indices: all fit into the first-level cache.
pub(super) type NarrowMarks = Marks<{ NARROW / 64 }>;

/// Marks for up to [`MAX_INDICES`].
pub(super) type WideMarks = Marks<{ WIDE / 64 }>;

/// Marks of the size that a space needs.
pub(super) enum AnyMarks {
    Narrow(NarrowMarks),
    Wide(WideMarks),
}

impl AnyMarks {
    /// Marks for `indices`, at most [`MAX_INDICES`].
    pub(super) fn new(indices: u32) -> AnyMarks {
        if (indices as usize) < NARROW {
            AnyMarks::Narrow(NarrowMarks::new())
        } else {
            AnyMarks::Wide(WideMarks::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_indices_are_drained_once_and_in_order() {
        let mut marks = Marks::<64>::new();
        for round in 0..600u32 {
            let added = [7, 4095, 64, 7, round, 63, 64, 0];
            marks.begin();
            marks.exclude(&[63 << 1, 1]);
            added.iter().for_each(|index| marks.add_candidate(*index));
            let mut out = Vec::new();
            marks.drain(1, &mut out);
            let mut expected: Vec<u32> =
                added.into_iter().filter(|i| ![63, 0].contains(i)).map(|i| i << 1 | 1).collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(out, expected, "round {round}");
        }
    }
}

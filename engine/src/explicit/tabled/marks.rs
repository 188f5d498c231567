//! Bit sets of the local indices of one region.
//!
//! A set is small enough for the processor's cache, and its elements are read in order without sorting.

use strata_space::{Local, MAX_INDICES};

/// Sets of excluded and of candidate indices below 64 * `W`. The size is a constant, so that accesses
/// need no bounds check.
pub(super) struct Marks<const W: usize> {
    /// Indices that are not new.
    excluded: Box<[u64; W]>,
    /// Indices that may be new. Empty between regions.
    candidates: Box<[u64; W]>,
}

/// The set of candidates, borrowed while many are added, so that its address stays in a register.
pub(super) struct Candidates<'a, const W: usize>(&'a mut [u64; W]);

/// Number of words of a set that are drained at once.
const PART: usize = 16;

impl<const W: usize> Marks<W> {
    const SIZES: () = assert!(W.is_power_of_two() && W.is_multiple_of(PART));

    pub(super) fn new() -> Self {
        let () = Self::SIZES;
        Marks { excluded: bytemuck::zeroed_box(), candidates: bytemuck::zeroed_box() }
    }

    /// Starts a region.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.excluded.fill(0);
    }

    /// Marks the indices of some locals as not new.
    #[inline(always)]
    pub(super) fn exclude(&mut self, locals: &[Local]) {
        let excluded = &mut *self.excluded;
        locals.iter().for_each(|local| insert(excluded, local >> 1));
    }

    /// Adds the indices that a move links with an excluded index. Bit `i` of `links` is set if moves lead
    /// from index `i` to `i - 1` and back.
    #[inline(always)]
    pub(super) fn add_linked(&mut self, links: &[u64]) {
        let (excluded, candidates) = (&*self.excluded, &mut *self.candidates);
        let mut before = 0;
        for (word, links) in links.iter().enumerate().take(W) {
            let here = excluded[word];
            let down = here & links;
            candidates[word] |= (here << 1 | before >> 63) & links | down >> 1;
            if let Some(below) = word.checked_sub(1) {
                candidates[below] |= down << 63;
            }
            before = here;
        }
    }

    /// The set of candidates: indices that are new unless they are excluded.
    #[inline(always)]
    pub(super) fn candidates(&mut self) -> Candidates<'_, W> {
        Candidates(&mut self.candidates)
    }

    /// Appends the new indices in order, as locals with side `side`, and removes all candidates.
    #[inline(always)]
    pub(super) fn drain(&mut self, side: u32, out: &mut Vec<Local>) {
        let (candidates, _) = self.candidates.as_chunks_mut::<PART>();
        let (excluded, _) = self.excluded.as_chunks::<PART>();
        for (part, (candidates, excluded)) in (0..).zip(candidates.iter_mut().zip(excluded)) {
            if candidates.iter().fold(0, |any, word| any | word) == 0 {
                continue;
            }
            let words = std::mem::replace(candidates, [0; PART]);
            for (word, (candidates, excluded)) in
                (PART as u32 * part..).zip(words.iter().zip(excluded))
            {
                let mut left = candidates & !excluded;
                while left != 0 {
                    let index = word * 64 + left.trailing_zeros();
                    out.push(index << 1 | side);
                    left &= left - 1;
                }
            }
        }
    }
}

impl<const W: usize> Candidates<'_, W> {
    /// Adds an index.
    #[inline(always)]
    pub(super) fn add(&mut self, index: u32) {
        insert(self.0, index);
    }
}

#[inline(always)]
fn insert<const W: usize>(set: &mut [u64; W], index: u32) {
    set[(index as usize / 64) & (W - 1)] |= 1 << (index & 63);
}

/// Limit of the indices of [`NarrowMarks`].
const NARROW: usize = 1 << 15;

/// Limit of the indices of [`WideMarks`].
const WIDE: usize = 1 << 17;

const _: () = assert!((MAX_INDICES as usize) < WIDE);

/// Marks for few indices, which fit into the first-level cache.
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
            added.iter().for_each(|index| marks.candidates().add(*index));
            let mut out = Vec::new();
            marks.drain(1, &mut out);
            let mut expected: Vec<u32> =
                added.into_iter().filter(|i| ![63, 0].contains(i)).map(|i| i << 1 | 1).collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(out, expected, "round {round}");
        }
    }

    #[test]
    fn linked_indices_are_candidates_in_both_directions() {
        let mut marks = Marks::<64>::new();
        let links = [2, 3, 63, 64, 65, 127, 128, 1000, 1023];
        let mut words = [0; 16];
        links.iter().for_each(|index| words[*index as usize / 64] |= 1 << (index % 64));
        for round in 0..1024 {
            let excluded = [round, 64, 999];
            marks.begin();
            marks.exclude(&excluded.map(|index| index << 1));
            marks.add_linked(&words);
            let mut out = Vec::new();
            marks.drain(0, &mut out);
            let behind = |index: &u32| {
                let up = links.contains(&(index + 1)).then_some(index + 1);
                let down = links.contains(index).then(|| index - 1);
                up.into_iter().chain(down)
            };
            let mut expected: Vec<u32> = excluded.iter().flat_map(behind).collect();
            expected.retain(|index| !excluded.contains(index));
            expected.sort_unstable();
            expected.dedup();
            let found: Vec<u32> = out.iter().map(|local| local >> 1).collect();
            assert_eq!(found, expected, "round {round}");
        }
    }
}

//! Bit set of locals, for sorting and deduplication.

use strata_space::Local;
use strata_store::{List, LocalWidth, LocalWord, Word};

use crate::explicit::sorting::sort_words;

/// The most bits of a set: 512 KiB, which fit into a processor's second-level cache.
const LIMIT: Local = 1 << 22;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// A set of small locals, as bits. If all locals share the lowest bit, as those of one side do, the set
/// has bits only for locals with that lowest bit.
///
/// A second level, `used`, has a bit for each word to which a local was added. So a set of few locals is
/// read without a scan of all words.
#[derive(Debug, Default)]
pub(crate) struct LocalSet {
    words: Vec<u64>,
    used: Vec<u64>,
    /// The lowest bit of all locals, if they share it.
    bit: Option<u32>,
    /// Scratch memory: a list's locals.
    decoded: Vec<Local>,
}

impl LocalSet {
    /// Adds locals to the set, which must be empty, if that is faster than sorting them. Returns whether
    /// they were added.
    pub(crate) fn fill(&mut self, locals: &[Local]) -> bool {
        let first = locals.first().copied().unwrap_or(0);
        let fold = |(greatest, mixed): (Local, Local), local: &Local| {
            (greatest.max(*local), mixed | (local ^ first))
        };
        let (greatest, mixed) = locals.iter().fold((0, 0), fold);
        let bit = (mixed & 1 == 0).then_some(first & 1);
        let greatest = greatest >> u32::from(bit.is_some());
        // Reading visits every word of the second level.
        if greatest >= LIMIT || greatest as usize / (WORD * WORD) > locals.len() {
            return false;
        }
        let words = greatest as usize / WORD + 1;
        if self.words.len() < words {
            self.words.resize(words, 0);
            self.used.resize(words.div_ceil(WORD), 0);
        }
        self.bit = bit;
        match bit {
            None => self.add::<0>(locals),
            Some(_) => self.add::<1>(locals),
        }
        true
    }

    fn add<const SHIFT: u32>(&mut self, locals: &[Local]) {
        for local in locals {
            let at = (local >> SHIFT) as usize;
            self.words[at / WORD] |= 1 << (at % WORD);
            self.used[at / (WORD * WORD)] |= 1 << (at / WORD % WORD);
        }
    }

    /// Sorts locals and removes repetitions. The set must be empty, and is empty afterwards.
    pub(crate) fn sort(&mut self, locals: &mut Vec<Local>) {
        if self.fill(locals) {
            locals.clear();
            self.take(locals);
        } else {
            locals.sort_unstable();
            locals.dedup();
        }
    }

    /// As [`Self::sort`], for locals of one word.
    pub(crate) fn sort_words(&mut self, words: &mut Vec<Word>) {
        let mut locals = Word::locals_vec(std::mem::take(words));
        self.sort(&mut locals);
        *words = Word::of_vec(locals);
    }

    /// Removes the locals of a list, which need not be in the set. None if the list cannot be decoded.
    pub(crate) fn remove(&mut self, list: List<'_>) -> Option<()> {
        match (self.bit, list.bit) {
            (Some(bit), Some(other)) if bit == other => list.clear(&mut self.words),
            (Some(_), Some(_)) => Some(()),
            (None, _) | (_, None) => {
                let mut locals = std::mem::take(&mut self.decoded);
                list.decode_locals(&mut locals)?;
                for local in &locals {
                    let Some(at) = self.place(*local) else { continue };
                    if let Some(word) = self.words.get_mut(at / WORD) {
                        *word &= !(1 << (at % WORD));
                    }
                }
                self.decoded = locals;
                Some(())
            }
        }
    }

    /// Whether the set contains a local that differs from one of the list only in its side. None if the list
    /// cannot be decoded.
    pub(crate) fn meets(&mut self, list: List<'_>) -> Option<bool> {
        if self.bit.is_some() && self.bit == list.bit {
            return Some(false);
        }
        let mut locals = std::mem::take(&mut self.decoded);
        list.decode_locals(&mut locals)?;
        let meets = locals.iter().any(|local| self.has(local ^ 1));
        self.decoded = locals;
        Some(meets)
    }

    /// The position of a local's bit. None if the set has no bit for it.
    fn place(&self, local: Local) -> Option<usize> {
        match self.bit {
            None => Some(local as usize),
            Some(bit) => (local & 1 == bit).then_some((local >> 1) as usize),
        }
    }

    fn has(&self, local: Local) -> bool {
        self.place(local).is_some_and(|at| {
            self.words.get(at / WORD).is_some_and(|word| word >> (at % WORD) & 1 == 1)
        })
    }

    /// Moves all locals to the end of `out`, in order. Returns whether two of them differ only in their
    /// side.
    pub(crate) fn take(&mut self, out: &mut Vec<Local>) -> bool {
        match self.bit {
            None => self.take_shifted::<0>(0, out),
            Some(bit) => {
                self.take_shifted::<1>(bit, out);
                false
            }
        }
    }

    fn take_shifted<const SHIFT: u32>(&mut self, bit: u32, out: &mut Vec<Local>) -> bool {
        let mut both = 0;
        for (block, used) in self.used.iter_mut().enumerate() {
            let used = std::mem::take(used);
            let places = || ones(used).map(|at| block * WORD + at as usize);
            let count: u32 = places().map(|at| self.words[at].count_ones()).sum();
            let start = out.len();
            out.resize(start + count as usize, 0);
            let mut rest = &mut out[start..];
            for at in places() {
                let word = std::mem::take(&mut self.words[at]);
                both |= word & word >> 1 & SIDE_0;
                let (locals, others) = rest.split_at_mut(word.count_ones() as usize);
                for (local, one) in locals.iter_mut().zip(ones(word)) {
                    *local = ((at * WORD) as Local + one) << SHIFT | bit;
                }
                rest = others;
            }
        }
        both != 0
    }
}

/// The positions of the bits of a word that are set, ascending.
#[inline]
fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let one = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (one < u64::BITS).then_some(one)
    })
}

/// Sorts locals, given as words, and removes repetitions. The set must be empty, and is empty afterwards.
pub(crate) fn sort_locals(width: LocalWidth, words: &mut Vec<Word>, set: &mut LocalSet) {
    fn sort<L: LocalWord>(words: &mut Vec<Word>) {
        let (mut locals, mut counts) = (Vec::<L>::new(), Vec::new());
        sort_words(words, &mut locals, &mut counts);
        locals.dedup();
        words.clear();
        locals.into_iter().for_each(|local| local.append(words));
    }
    match width {
        LocalWidth::One => set.sort_words(words),
        LocalWidth::Two => sort::<u64>(words),
        LocalWidth::Four => sort::<u128>(words),
    }
}

/// Mask of the bits for locals of side 0.
const SIDE_0: u64 = 0x5555_5555_5555_5555;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use strata_store::ListBuf;

    use super::*;

    /// Locals of both sides, or of one side.
    fn locals(limit: u32, count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u32>> {
        let side = proptest::option::of(0_u32..2);
        (proptest::collection::vec(0..limit, count), side).prop_map(|(mut locals, side)| {
            for local in &mut locals {
                *local = side.map_or(*local, |side| *local & !1 | side);
            }
            locals
        })
    }

    proptest! {
        #[test]
        fn locals_are_added_removed_and_taken(
            added in locals(40_000, 10..200),
            removed in locals(60_000, 0..200),
            other in locals(60_000, 0..200),
        ) {
            let mut set = LocalSet::default();
            // The set is empty again after each round.
            for _ in 0..2 {
                prop_assert!(set.fill(&added));
                let mut expected: BTreeSet<u32> = added.iter().copied().collect();
                for removed in [&removed, &other] {
                    let removed: BTreeSet<u32> = removed.iter().copied().collect();
                    let sorted: Vec<u32> = removed.iter().copied().collect();
                    let mut buffer = ListBuf::default();
                    let list = buffer.encode(&sorted);
                    prop_assert_eq!(set.remove(list), Some(()));
                    expected.retain(|local| !removed.contains(local));
                    let meets = sorted.iter().any(|local| expected.contains(&(local ^ 1)));
                    prop_assert_eq!(set.meets(list), Some(meets));
                }
                prop_assert!(added.iter().all(|local| set.has(*local) == expected.contains(local)));
                let both = expected.iter().any(|local| {
                    local & 1 == 0 && expected.contains(&(local + 1))
                });
                let mut found = Vec::new();
                prop_assert_eq!(set.take(&mut found), both);
                prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
                let mut sorted = [&added[..], &[2 * LIMIT + 7, 3, 2 * LIMIT + 7]].concat();
                for locals in [&mut added.clone(), &mut sorted] {
                    let expected: BTreeSet<u32> = locals.iter().copied().collect();
                    set.sort(locals);
                    prop_assert!(locals.iter().eq(&expected));
                }
            }
        }
    }

    #[test]
    fn fill_refuses_large_locals_and_sparse_lists() {
        let fills = |locals: &[u32]| LocalSet::default().fill(locals);
        assert!(fills(&[0, 4095]));
        assert!(!fills(&[1 << 20]));
        assert!(!fills(&[2 * LIMIT; 2000]));
        assert!(fills(&[2 * LIMIT - 1; 2000]));
        assert!(!fills(&[&[LIMIT + 1][..], &[LIMIT; 2000]].concat()));
        assert!(fills(&[&[LIMIT - 1][..], &[LIMIT - 2; 2000]].concat()));
    }

    #[test]
    fn a_damaged_list_is_reported_by_remove_and_meets() {
        let damaged = List { gaps: &[200], ..List::EMPTY };
        let mut set = LocalSet::default();
        assert!(set.fill(&[4, 5]));
        assert_eq!((set.remove(damaged), set.meets(damaged)), (None, None));
        set.take(&mut Vec::new());
        assert!(set.fill(&[4, 6]));
        assert_eq!(set.remove(List { bit: Some(0), ..damaged }), None);
    }
}

//! A set of locals as bits, read in order.

use strata_space::Local;
use strata_store::{LocalWidth, LocalWord};

use crate::sorting::sort_words;

/// Locals below this can be added: 512 KiB of bits, which fit into a processor's second cache.
const LIMIT: Local = 1 << 22;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// A set of small locals. A second level has a bit for each word that is not empty or was not, so that few
/// locals are read without a scan of all words.
#[derive(Debug, Default)]
pub(crate) struct LocalSet {
    words: Vec<u64>,
    used: Vec<u64>,
}

impl LocalSet {
    /// Whether adding these locals takes less time than sorting them.
    pub(crate) fn suits(locals: &[Local]) -> bool {
        let greatest = locals.iter().copied().max().unwrap_or(0);
        // Reading visits every word of the second level.
        greatest < LIMIT && greatest as usize / (WORD * WORD) <= locals.len()
    }

    /// Adds locals that it [suits](Self::suits).
    pub(crate) fn add(&mut self, locals: &[Local]) {
        let greatest = locals.iter().copied().max().unwrap_or(0) as usize;
        let words = greatest / WORD + 1;
        if self.words.len() < words {
            self.words.resize(words, 0);
            self.used.resize(words.div_ceil(WORD), 0);
        }
        for local in locals {
            let word = *local as usize / WORD;
            self.words[word] |= 1 << (*local as usize % WORD);
            self.used[word / WORD] |= 1 << (word % WORD);
        }
    }

    /// Sorts locals and removes repetitions. The set must be empty, and is empty afterwards.
    pub(crate) fn sort(&mut self, locals: &mut Vec<Local>) {
        if Self::suits(locals) {
            self.add(locals);
            locals.clear();
            self.take(locals);
        } else {
            locals.sort_unstable();
            locals.dedup();
        }
    }

    /// Removes locals. They need not be in the set.
    pub(crate) fn remove(&mut self, locals: &[Local]) {
        for local in locals {
            if let Some(word) = self.words.get_mut(*local as usize / WORD) {
                *word &= !(1 << (*local as usize % WORD));
            }
        }
    }

    /// Whether a local is in the set.
    pub(crate) fn has(&self, local: Local) -> bool {
        let word = self.words.get(local as usize / WORD);
        word.is_some_and(|word| word >> (local as usize % WORD) & 1 == 1)
    }

    /// Moves all locals to `out`, in order. Returns whether there are two that differ in their side
    /// only.
    pub(crate) fn take(&mut self, out: &mut Vec<Local>) -> bool {
        let mut both = 0;
        for (high, used) in self.used.iter_mut().enumerate() {
            let mut left = std::mem::take(used);
            while left != 0 {
                let at = high * WORD + left.trailing_zeros() as usize;
                left &= left - 1;
                let mut word = std::mem::take(&mut self.words[at]);
                both |= word & word >> 1 & SIDE_0;
                while word != 0 {
                    out.push((at * WORD) as Local + word.trailing_zeros());
                    word &= word - 1;
                }
            }
        }
        both != 0
    }
}

/// Sorts locals, given as words, and removes repetitions. The set must be empty, and is empty afterwards.
pub(crate) fn sort_locals(width: LocalWidth, words: &mut Vec<u32>, set: &mut LocalSet) {
    fn sort<L: LocalWord>(words: &mut Vec<u32>) {
        let (mut locals, mut counts) = (Vec::<L>::new(), Vec::new());
        sort_words(words, &mut locals, &mut counts);
        locals.dedup();
        words.clear();
        locals.into_iter().for_each(|local| local.append(words));
    }
    match width {
        LocalWidth::One => set.sort(words),
        LocalWidth::Two => sort::<u64>(words),
        LocalWidth::Four => sort::<u128>(words),
    }
}

/// The bits of side 0.
const SIDE_0: u64 = 0x5555_5555_5555_5555;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn locals_are_added_removed_and_taken(
            added in proptest::collection::vec(0..40_000_u32, 1..200),
            removed in proptest::collection::vec(0..60_000_u32, 0..200),
        ) {
            let mut set = LocalSet::default();
            // Nothing is left of what was there before.
            for _ in 0..2 {
                set.add(&added);
                set.remove(&removed);
                let mut expected: BTreeSet<u32> = added.iter().copied().collect();
                removed.iter().for_each(|local| {
                    expected.remove(local);
                });
                prop_assert!(added.iter().all(|local| set.has(*local) == expected.contains(local)));
                let both = expected.iter().any(|local| {
                    local & 1 == 0 && expected.contains(&(local + 1))
                });
                let mut found = Vec::new();
                prop_assert_eq!(set.take(&mut found), both);
                prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
                let mut sorted = [&added[..], &[LIMIT + 7, 3, LIMIT + 7]].concat();
                for locals in [&mut added.clone(), &mut sorted] {
                    let expected: BTreeSet<u32> = locals.iter().copied().collect();
                    set.sort(locals);
                    prop_assert!(locals.iter().eq(&expected));
                }
            }
        }
    }

    #[test]
    fn few_great_locals_are_sorted_otherwise() {
        assert!(LocalSet::suits(&[0, 4095]));
        assert!(!LocalSet::suits(&[1 << 20]));
        assert!(!LocalSet::suits(&[LIMIT; 2000]));
        assert!(LocalSet::suits(&[LIMIT - 1; 2000]));
    }
}

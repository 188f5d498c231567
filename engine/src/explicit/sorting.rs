//! Sorting of wide locals, which are often evenly distributed.

use strata_store::{LocalWord, Word};

/// Shorter lists are sorted by comparison. So are lists of 2^32 or more locals.
const SHORT: usize = 64;

/// Longer bins are sorted by comparison, so that unevenly distributed locals take no longer than a sort by
/// comparison.
const LONG_BIN: u32 = 24;

/// Replaces `sorted` with the locals given as words, in order, with repetitions. `counts` is scratch
/// memory.
///
/// A first pass distributes the locals by their high bits into bins of one or two on average. A second
/// pass sorts the bins.
pub(crate) fn sort_words<L: LocalWord>(words: &[Word], sorted: &mut Vec<L>, counts: &mut Vec<u32>) {
    let locals = || words.chunks_exact(L::WIDTH.words()).map(L::read);
    let count = locals().len();
    if count < SHORT || u32::try_from(count).is_err() {
        sorted.clear();
        sorted.extend(locals());
        sorted.sort_unstable();
        return;
    }
    let bits = locals().max().map_or(0, L::length);
    let bin_bits = count.ilog2().min(bits);
    let shift = (bits - bin_bits).min(L::WIDTH.bits() - 1);
    let bin = |local: L| local.high(shift);
    counts.clear();
    counts.resize(1 << bin_bits, 0);
    locals().for_each(|local| counts[bin(local)] += 1);
    let (mut end, mut longest) = (0, 0);
    for count in counts.iter_mut() {
        longest = longest.max(*count);
        // The first place of the bin. It advances to the bin's end while the bin is filled.
        end += std::mem::replace(count, end);
    }
    // All places are overwritten below.
    sorted.resize(count, L::default());
    for local in locals() {
        let place = &mut counts[bin(local)];
        sorted[*place as usize] = local;
        *place += 1;
    }
    if longest <= LONG_BIN {
        insert_all(sorted);
        return;
    }
    let mut start = 0;
    for end in counts.iter() {
        let bin = &mut sorted[start as usize..*end as usize];
        if end - start > LONG_BIN {
            bin.sort_unstable();
        } else {
            insert_all(bin);
        }
        start = *end;
    }
}

/// Sorts locals that are all near their places.
fn insert_all<L: LocalWord>(locals: &mut [L]) {
    let Some(mut greatest) = locals.first().copied() else { return };
    // How far a local must move is hard to predict. A first pass without branches leaves few locals out of
    // place.
    for at in 1..locals.len() {
        let local = locals[at];
        locals[at - 1] = greatest.min(local);
        greatest = greatest.max(local);
    }
    locals[locals.len() - 1] = greatest;
    for at in 1..locals.len() {
        let local = locals[at];
        let mut to = at;
        while to > 0 && locals[to - 1] > local {
            locals[to] = locals[to - 1];
            to -= 1;
        }
        locals[to] = local;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<L: LocalWord>(locals: &[u128]) {
        let (mut words, mut sorted, mut counts) = (Vec::new(), vec![L::default(); 3], vec![7; 3]);
        locals.iter().for_each(|local| L::truncate(*local).append(&mut words));
        sort_words(&words, &mut sorted, &mut counts);
        let mut expected: Vec<L> = locals.iter().map(|local| L::truncate(*local)).collect();
        expected.sort_unstable();
        assert_eq!(sorted, expected);
    }

    proptest! {
        #[test]
        fn locals_of_any_distribution_are_sorted(
            locals in proptest::collection::vec(any::<u128>(), 0..600), shift in 0_u32..128,
            // Some locals close together, and one far away.
            base: u128, far: Option<u128>, few in 1_usize..600,
        ) {
            let mut locals: Vec<u128> = locals.into_iter().map(|local| local >> shift).collect();
            let near: Vec<u128> = locals.iter().take(few).map(|l| base.wrapping_add(l & 63)).collect();
            locals.extend(near);
            locals.extend(far);
            check::<u64>(&locals);
            check::<u128>(&locals);
        }
    }
}

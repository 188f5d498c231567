//! Successors collected by target region.

use std::marker::PhantomData;

use rustc_hash::FxHashMap;
use strata_space::{RegionKey, State, StateSpace, Successor, SuccessorSink};
use strata_store::{LocalWidth, LocalWord, Word};

use crate::explicit::error::{Result, check_region};
use crate::explicit::kernel::ExitSink;
use crate::explicit::local_set::LocalSet;
use crate::explicit::trace::entry_key;

/// Number of successors at which they are sent: few enough for the processor's cache, and enough for long
/// batches.
const LIMIT: usize = 1 << 15;

/// Successors that have not been sent yet, by region.
#[derive(Debug, Default)]
pub(super) struct Targets<L> {
    /// For each region, its place in `batches`.
    places: FxHashMap<RegionKey, usize>,
    /// For each region, its first successor, and the locals of all its successors as words. Places from
    /// `used` on are empty.
    batches: Vec<(State, Vec<Word>)>,
    used: usize,
    /// The region and the place of the last successor, as the next successor is often in the same region.
    last: Option<(RegionKey, usize)>,
    count: usize,
    repeats: Repeats,
    set: LocalSet,
    width: PhantomData<L>,
}

/// Decides whether repeated successors are removed before they are sent. Neighbouring states have common
/// successors. In some spaces there are many; in others there are few, and removing them takes longer than
/// sending them.
#[derive(Debug, Default)]
struct Repeats {
    /// Number of times that successors are still sent with repetitions before the next try.
    left: u32,
    /// In the last try: the number of words of all successors, and of the different ones.
    tried: usize,
    different: usize,
}

impl Repeats {
    /// While repetitions are few, one in `PERIOD` calls of [`Self::begin`] is a try.
    const PERIOD: u32 = 32;

    /// Returns whether repetitions are removed this time.
    fn begin(&mut self) -> bool {
        let are_few = self.different * 4 > self.tried * 3;
        let is_try = self.left == 0 || !are_few;
        if is_try {
            *self = Repeats { left: Self::PERIOD, ..Repeats::default() };
        }
        self.left -= 1;
        is_try
    }
}

impl<L: LocalWord> SuccessorSink<State> for Targets<L> {
    #[inline]
    fn add(&mut self, state: State) {
        let place = match self.last {
            Some((region, place)) if region == state.region => place,
            _ => self.place(state),
        };
        L::truncate(state.local).append(&mut self.batches[place].1);
        self.count += 1;
    }

    fn add_run(&mut self, high: State, lows: &[u64]) {
        let Some(first) = lows.first() else { return };
        if high.local != 0 {
            return lows.iter().for_each(|low| self.add(high.with_low_bits(*low)));
        }
        let place = self.place(high.with_low_bits(*first));
        L::append_all(lows, &mut self.batches[place].1);
        self.count += lows.len();
    }
}

impl<L: LocalWord> Targets<L> {
    fn place(&mut self, state: State) -> usize {
        let used = &mut self.used;
        let place = *self.places.entry(state.region).or_insert_with(|| {
            *used += 1;
            *used - 1
        });
        if place == self.batches.len() {
            self.batches.push((state, Vec::new()));
        }
        let (first, words) = &mut self.batches[place];
        if words.is_empty() {
            *first = state;
        }
        self.last = Some((state.region, place));
        place
    }

    /// The number of collected successors.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= LIMIT
    }

    /// Sends all successors.
    ///
    /// # Errors
    /// If a successor is in the reserved region, or `exits` fails. The rest is then dropped.
    pub(super) fn send<S: StateSpace>(
        &mut self,
        space: &S,
        shards: u32,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        let (set, repeats) = (&mut self.set, &mut self.repeats);
        // Wide locals seldom repeat.
        let removes = L::WIDTH == LocalWidth::One && repeats.begin();
        let sent = self.batches[..self.used].iter_mut().try_for_each(|(first, words)| {
            check_region(space, *first)?;
            if removes {
                repeats.tried += words.len();
                set.sort_words(words);
                repeats.different += words.len();
            }
            exits.send(entry_key(space, shards, first.region), None, words)
        });
        self.clear();
        sent
    }

    /// Drops all successors and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.batches[..self.used].iter_mut().for_each(|(_, words)| words.clear());
        (self.used, self.last, self.count) = (0, None, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_always_removed_if_a_quarter_of_the_words_repeat() {
        let times = |different: usize| {
            let mut repeats = Repeats::default();
            let tries = (0..64).filter(|_| {
                let is_try = repeats.begin();
                if is_try {
                    (repeats.tried, repeats.different) = (1000, different);
                }
                is_try
            });
            tries.count()
        };
        assert_eq!([times(500), times(750), times(751), times(1000)], [64, 64, 2, 2]);
    }
}

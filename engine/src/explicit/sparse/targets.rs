//! Successors, collected by region.

use std::marker::PhantomData;

use rustc_hash::FxHashMap;
use strata_space::{RegionKey, State, StateSpace, Successor, SuccessorSink};
use strata_store::{LocalWidth, LocalWord, Word};

use crate::explicit::error::{Result, check_region};
use crate::explicit::kernel::ExitSink;
use crate::explicit::local_set::LocalSet;
use crate::explicit::trace::entry_key;

/// Successors at which they are sent: few enough for the processor's cache, enough to make long
/// batches.
const LIMIT: usize = 1 << 15;

/// Successors that are not sent yet, by their regions.
#[derive(Debug, Default)]
pub(super) struct Targets<L> {
    /// Region to its place in `batches`.
    places: FxHashMap<RegionKey, usize>,
    /// A successor of each region, and the locals of all, as words. Those from `used` on are empty.
    batches: Vec<(State, Vec<Word>)>,
    used: usize,
    /// The region and the place of the last successor: the next one is often in the same region.
    last: Option<(RegionKey, usize)>,
    count: usize,
    repeats: Repeats,
    set: LocalSet,
    width: PhantomData<L>,
}

/// Whether repeated successors are removed before they are sent. Neighbouring states have common
/// successors, in some spaces many. In others it takes longer to find few than to send them.
#[derive(Debug, Default)]
struct Repeats {
    /// How many times successors are sent as they are until the next try.
    left: u32,
    /// Of the last try: all successors, and those that were different.
    tried: usize,
    different: usize,
}

impl Repeats {
    /// While repetitions are few, one of `PERIOD` calls of [`Self::begin`] is a try.
    const PERIOD: u32 = 32;

    /// Decides about the next time.
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

    /// The number of successors.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= LIMIT
    }

    /// Sends all successors.
    ///
    /// # Errors
    /// If one has the reserved region, or `exits` fails. The rest is dropped.
    pub(super) fn send<S: StateSpace>(
        &mut self,
        space: &S,
        shards: u32,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        let (set, repeats) = (&mut self.set, &mut self.repeats);
        // Wide locals repeat too seldom.
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
    fn repetitions_are_removed_always_or_seldom() {
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

//! Successors, collected by region.

use std::marker::PhantomData;

use rustc_hash::FxHashMap;
use strata_space::{RegionKey, State, StateSink, StateSpace};
use strata_store::{LocalWidth, LocalWord};

use crate::error::{Result, check_region};
use crate::kernel::ExitSink;
use crate::local_set::LocalSet;
use crate::trace::entry_key;

/// Successors at which they are sent: few enough for the processor's cache, enough to make long
/// batches.
const LIMIT: usize = 1 << 15;

/// Successors that are not sent yet, by their regions.
#[derive(Debug, Default)]
pub(super) struct Targets<L> {
    /// Region to its place in `batches`.
    places: FxHashMap<RegionKey, usize>,
    /// A successor of each region, and the locals of all, as words. Those from `used` on are empty.
    batches: Vec<(State, Vec<u32>)>,
    used: usize,
    /// The region and the place of the last successor: the next one is often in the same region.
    last: Option<(RegionKey, usize)>,
    count: usize,
    set: LocalSet,
    width: PhantomData<L>,
}

impl<L: LocalWord> StateSink for Targets<L> {
    #[inline]
    fn add(&mut self, state: State) {
        let place = match self.last {
            Some((region, place)) if region == state.region => place,
            _ => self.place(state),
        };
        L::truncate(state.local).append(&mut self.batches[place].1);
        self.count += 1;
    }

    fn add_run(&mut self, region: RegionKey, locals: &[u64]) {
        let Some(first) = locals.first() else { return };
        let place = self.place(State { region, local: (*first).into() });
        L::append_all(locals, &mut self.batches[place].1);
        self.count += locals.len();
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
        let (first, locals) = &mut self.batches[place];
        if locals.is_empty() {
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
        let set = &mut self.set;
        let sent = self.batches[..self.used].iter_mut().try_for_each(|(first, locals)| {
            check_region(space, *first)?;
            if L::WIDTH == LocalWidth::One {
                // Neighbouring states have common successors. Wide locals repeat too seldom.
                set.sort(locals);
            }
            exits.send(entry_key(space, shards, first.region), None, locals)
        });
        self.clear();
        sent
    }

    /// Drops all successors and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.batches[..self.used].iter_mut().for_each(|(_, locals)| locals.clear());
        (self.used, self.last, self.count) = (0, None, 0);
    }
}

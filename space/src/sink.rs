//! Receivers of successors, one by one or in runs.

use crate::key::Key;
use crate::state::{RegionKey, State};

/// Receives the successors of a list of keys. A closure that takes the number of a key in the list and a
/// successor is one.
pub trait KeySink<K> {
    /// Takes a successor of the key with this number in the list.
    fn add(&mut self, number: usize, key: K);

    /// Takes a successor of each of some keys, given by their numbers in the list. The high bits of the
    /// successors are those of `high`, whose low bits are 0; their low bits are `lows`. It takes the least
    /// time if there are as many low bits as [`KeySpace::local_bits`](crate::KeySpace::local_bits) says.
    #[inline]
    fn add_run(&mut self, numbers: impl Iterator<Item = usize>, high: K, lows: &[u64])
    where
        K: Key,
    {
        add_each(self, numbers, high, lows);
    }
}

/// Adds the successors of a run one by one.
#[inline]
pub(crate) fn add_each<K: Key>(
    to: &mut (impl KeySink<K> + ?Sized),
    numbers: impl Iterator<Item = usize>,
    high: K,
    lows: &[u64],
) {
    let (upper, lower) = high.split(u64::BITS);
    for (number, low) in numbers.zip(lows) {
        to.add(number, K::join(upper, lower | u128::from(*low), u64::BITS));
    }
}

impl<K, F: FnMut(usize, K)> KeySink<K> for F {
    #[inline]
    fn add(&mut self, number: usize, key: K) {
        self(number, key);
    }
}

/// Receives states. A closure that takes a state is one.
pub trait StateSink {
    /// Takes a state.
    fn add(&mut self, state: State);

    /// Takes states of one region, given by their locals.
    #[inline]
    fn add_run(&mut self, region: RegionKey, locals: &[u64]) {
        for local in locals {
            self.add(State { region, local: (*local).into() });
        }
    }
}

impl<F: FnMut(State)> StateSink for F {
    #[inline]
    fn add(&mut self, state: State) {
        self(state);
    }
}

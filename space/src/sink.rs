//! Receiver of successors, one by one or in runs.

use crate::key::Key;
use crate::state::State;

/// Receives successors: keys, or states. Closures that take a successor implement it.
pub trait SuccessorSink<T: Successor> {
    /// Takes a successor.
    fn add(&mut self, successor: T);

    /// Takes successors that share their high bits, those of `high`; `lows` has the low bits of each.
    /// The low 64 bits of `high` are 0 where one of `lows` has a 1. With keys, it is fastest if the
    /// number of low bits is that of [`KeySpace::local_bits`](crate::KeySpace::local_bits).
    #[inline]
    fn add_run(&mut self, high: T, lows: &[u64]) {
        for low in lows {
            self.add(high.with_low_bits(*low));
        }
    }
}

impl<T: Successor, F: FnMut(T)> SuccessorSink<T> for F {
    #[inline]
    fn add(&mut self, successor: T) {
        self(successor);
    }
}

/// What a [`SuccessorSink`] receives: a [`Key`] or a [`State`].
pub trait Successor: Copy {
    /// The successor with the ones of `low` added to its low 64 bits: those of a key, or of a state's
    /// local.
    fn with_low_bits(self, low: u64) -> Self;
}

impl<K: Key> Successor for K {
    #[inline]
    fn with_low_bits(self, low: u64) -> K {
        let (upper, lower) = self.split(u64::BITS);
        K::join(upper, lower | u128::from(low), u64::BITS)
    }
}

impl Successor for State {
    #[inline]
    fn with_low_bits(self, low: u64) -> State {
        State { local: self.local | u128::from(low), ..self }
    }
}

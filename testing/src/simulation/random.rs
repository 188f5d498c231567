//! Random numbers of a simulation.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;

/// Random numbers of one part of a simulation.
#[derive(Debug)]
pub(crate) struct Random(Mutex<Rng>);

impl Random {
    /// The numbers of a seed.
    pub(crate) fn of_seed(seed: u64) -> Random {
        Random(Mutex::new(Rng::with_seed(seed)))
    }

    fn rng(&self) -> MutexGuard<'_, Rng> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Any number.
    pub(crate) fn number(&self) -> u128 {
        self.rng().u128(..)
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&self, limit: u64) -> u64 {
        self.rng().u64(..limit)
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A random time up to `most`.
    pub(crate) fn time(&self, most: Duration) -> Duration {
        Duration::from_nanos(self.below(most.as_nanos() as u64 + 1))
    }
}

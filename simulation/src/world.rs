//! What all parts of a simulation share: the seed's random numbers and the trace of events.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use tokio::runtime::Handle;
use tokio::time::Instant;
use xxhash_rust::xxh3::Xxh3;

/// A machine with a disk and an address.
pub(crate) type HostId = usize;

/// Random numbers, trace and clock of one simulation.
pub(crate) struct World {
    random: Mutex<Rng>,
    trace: Mutex<Xxh3>,
    started: Instant,
    pub(crate) runtime: Handle,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

impl World {
    /// A world that follows from a seed. Called on the simulation's runtime.
    pub(crate) fn new(seed: u64) -> Arc<World> {
        Arc::new(World {
            random: Mutex::new(Rng::with_seed(seed)),
            trace: Mutex::new(Xxh3::new()),
            started: Instant::now(),
            runtime: Handle::current(),
        })
    }

    /// The random numbers.
    pub(crate) fn random(&self) -> MutexGuard<'_, Rng> {
        self.random.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&self, limit: u64) -> u64 {
        self.random().u64(..limit)
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A time up to `most`.
    pub(crate) fn time(&self, most: Duration) -> Duration {
        Duration::from_nanos(self.below(most.as_nanos() as u64 + 1))
    }

    /// Simulated time since the start.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Adds an event to the trace: two runs of a seed are the same if their traces are.
    pub(crate) fn trace(&self, event: &str, numbers: &[u64]) {
        let now = self.now();
        tracing::trace!(?now, ?numbers, "{event}");
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        trace.update(event.as_bytes());
        trace.update(&(now.as_nanos() as u64).to_le_bytes());
        numbers.iter().for_each(|number| trace.update(&number.to_le_bytes()));
    }

    /// Digest of the trace so far.
    pub(crate) fn digest(&self) -> u64 {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner).digest()
    }
}

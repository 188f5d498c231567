//! Shared state of a simulation: the seed's random numbers and the trace of events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::runtime::Handle;
use tokio::time::Instant;
use xxhash_rust::xxh3::Xxh3;

use crate::simulation::random::Random;
use crate::simulation::scheduler::Scheduler;

/// Number of a host: a machine with a disk and an address.
pub(crate) type HostId = usize;

/// Time of day at the start, since 1970: Fri, 15 Jan 2027 08:00:00 GMT.
const START: Duration = Duration::from_secs(1_800_000_000);

/// Random numbers, trace and clock of one simulation.
///
/// Parts that act at the same time have random numbers of their own, and the trace does not depend
/// on the order of events of one moment: the runtime wakes some tasks in an order that is not
/// repeatable.
#[derive(Debug)]
pub(crate) struct World {
    seed: u64,
    /// Random numbers of the run: settings, jobs, faults.
    pub(crate) random: Random,
    /// Number of parts so far, by kind and hosts.
    parts: Mutex<BTreeMap<(&'static str, HostId, HostId), u64>>,
    /// Sum of the hashes of all events.
    trace: Mutex<u64>,
    started: Instant,
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) runtime: Handle,
}

impl World {
    /// The world of a seed. Must be called on the simulation's runtime.
    pub(crate) fn new(seed: u64, scheduler: &Arc<Scheduler>) -> Arc<World> {
        Arc::new(World {
            seed,
            random: Random::of_seed(seed),
            parts: Mutex::default(),
            trace: Mutex::default(),
            started: Instant::now(),
            scheduler: Arc::clone(scheduler),
            runtime: Handle::current(),
        })
    }

    /// Random numbers for the next part of a kind between two hosts.
    pub(crate) fn part(&self, kind: &'static str, a: HostId, b: HostId) -> Random {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let number = parts.entry((kind, a, b)).or_default();
        *number += 1;
        let seed = hash(kind, [self.seed, a as u64, b as u64, *number]);
        Random::of_seed(seed)
    }

    /// Simulated time since the start.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Simulated time of day: the same at the start of every run.
    pub(crate) fn wall_time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + START + self.now()
    }

    /// Adds an event to the trace: two runs of a seed are the same if their traces are.
    pub(crate) fn trace(&self, event: &str, numbers: &[u64]) {
        let now = self.now();
        tracing::trace!(?now, ?numbers, "{event}");
        let numbers = numbers.iter().copied();
        let event = hash(event, [now.as_nanos() as u64].into_iter().chain(numbers));
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        *trace = trace.wrapping_add(event);
    }

    /// Digest of the trace so far.
    pub(crate) fn digest(&self) -> u64 {
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(text: &str, numbers: impl IntoIterator<Item = u64>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(text.as_bytes());
    numbers.into_iter().for_each(|number| hash.update(&number.to_le_bytes()));
    hash.digest()
}

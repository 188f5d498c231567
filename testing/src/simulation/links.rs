//! Links between hosts: their faults and their latency.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::simulation::random::Random;
use crate::simulation::scheduler::Actor;
use crate::simulation::world::HostId;

/// Longest latency of a chunk on a healthy link, where priorities do not decide.
const LATENCY: Duration = Duration::from_millis(2);

/// Faults of the link from one host to another.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkFaults {
    /// Nothing arrives.
    pub(crate) cut: bool,
    /// Longest additional latency of a chunk.
    pub(crate) delay: Duration,
    /// One chunk in this many has a flipped bit; 0 for none.
    pub(crate) flips: u64,
    /// One chunk in this many is the last of its connection, and only a part of it arrives; 0 for
    /// none.
    pub(crate) truncations: u64,
}

#[derive(Debug, Default)]
struct State {
    faults: BTreeMap<(HostId, HostId), LinkFaults>,
    /// Hosts that do not run for now.
    paused: BTreeSet<HostId>,
}

/// The links between all hosts.
#[derive(Debug, Default)]
pub(crate) struct Links {
    state: Mutex<State>,
}

impl Links {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The faults of a link.
    pub(crate) fn faults(&self, from: HostId, to: HostId) -> LinkFaults {
        self.state().faults.get(&(from, to)).copied().unwrap_or_default()
    }

    /// Whether nothing arrives on a link for now.
    pub(crate) fn is_blocked(&self, from: HostId, to: HostId) -> bool {
        let state = self.state();
        let cut = state.faults.get(&(from, to)).is_some_and(|faults| faults.cut);
        cut || state.paused.contains(&from) || state.paused.contains(&to)
    }

    /// Random latency of a chunk that an actor receives.
    pub(crate) fn latency(actor: &Actor, random: &Random, faults: LinkFaults) -> Duration {
        actor.delay(random, LATENCY) + random.time(faults.delay)
    }

    /// Changes the faults of a link.
    pub(crate) fn set_faults(&self, from: HostId, to: HostId, faults: LinkFaults) {
        self.state().faults.insert((from, to), faults);
    }

    /// Pauses a host or lets it continue.
    pub(crate) fn set_paused(&self, host: HostId, paused: bool) {
        let mut state = self.state();
        if paused {
            state.paused.insert(host);
        } else {
            state.paused.remove(&host);
        }
    }

    /// Ends all faults and pauses.
    pub(crate) fn heal(&self) {
        *self.state() = State::default();
    }
}

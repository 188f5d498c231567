//! Pace of workers: states a second, and the share of time for which the others waited for a
//! worker.
//!
//! Both are averages over the last layers; the weight of a layer falls by a factor of e in half a
//! minute. A worker's time for a layer is measured by the coordinator, from the order to the
//! answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strata_proto::platform::Instant;

use crate::entry::WorkerNumber;

/// Time in seconds in which the weight of a layer falls by a factor of e.
const MEMORY: f64 = 30.0;

/// A worker that has made no layer for this time has no pace.
const LATELY: Duration = Duration::from_secs(60);

/// A worker's part of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartTime {
    pub(crate) worker: WorkerNumber,
    /// States of its part.
    pub(crate) states: u64,
    /// Time from the order to its answer.
    pub(crate) took: Duration,
}

/// Weighted sums over layers.
#[derive(Clone, Copy, Debug)]
struct Sums {
    last: Instant,
    states: f64,
    /// Time of the layers, in seconds.
    time: f64,
    /// Time of the layers that several workers made.
    shared: f64,
    /// Part of `shared` in which all other workers had finished.
    alone: f64,
}

/// Pace of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WorkerPace {
    /// States of its parts a second, over the time in which all workers made the layers.
    pub(crate) rate: Option<f64>,
    /// Share of the time of layers with several workers in which all other workers had finished.
    pub(crate) straggler_share: Option<f64>,
}

/// Pace of all workers.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    sums: Mutex<BTreeMap<WorkerNumber, Sums>>,
}

impl Pace {
    fn sums(&self) -> MutexGuard<'_, BTreeMap<WorkerNumber, Sums>> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a layer that is complete at `now`.
    pub(crate) fn add(&self, parts: &[PartTime], now: Instant) {
        let mut times: Vec<Duration> = parts.iter().map(|part| part.took).collect();
        times.sort_unstable();
        let (Some(last), before) = (times.pop(), times.pop()) else { return };
        let layer = last.as_secs_f64();
        let mut all = self.sums();
        for part in parts {
            let sums = all.entry(part.worker).or_insert(Sums {
                last: now,
                states: 0.0,
                time: 0.0,
                shared: 0.0,
                alone: 0.0,
            });
            let age = now.saturating_duration_since(sums.last).as_secs_f64();
            let weight = (-age / MEMORY).exp();
            for sum in [&mut sums.states, &mut sums.time, &mut sums.shared, &mut sums.alone] {
                *sum *= weight;
            }
            sums.last = now;
            sums.states += part.states as f64;
            sums.time += layer;
            if let Some(before) = before {
                sums.shared += layer;
                sums.alone += part.took.saturating_sub(before).as_secs_f64();
            }
        }
    }

    /// The pace of a worker at `now`.
    pub(crate) fn of(&self, worker: WorkerNumber, now: Instant) -> WorkerPace {
        let all = self.sums();
        let sums = all.get(&worker);
        let sums = sums.filter(|sums| now.saturating_duration_since(sums.last) < LATELY);
        let Some(sums) = sums else { return WorkerPace::default() };
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        WorkerPace {
            rate: share(sums.states, sums.time),
            straggler_share: share(sums.alone, sums.shared),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(worker: WorkerNumber, states: u64, seconds: u64) -> PartTime {
        PartTime { worker, states, took: Duration::from_secs(seconds) }
    }

    #[test]
    fn only_the_slowest_worker_of_a_layer_has_a_straggler_share() {
        let (pace, now) = (Pace::default(), Instant::now());
        pace.add(&[part(0, 300, 2), part(1, 500, 10), part(2, 100, 4)], now);
        let of = |worker| pace.of(worker, now);
        assert_eq!(of(0), WorkerPace { rate: Some(30.0), straggler_share: Some(0.0) });
        assert_eq!(of(1), WorkerPace { rate: Some(50.0), straggler_share: Some(0.6) });
        assert_eq!(of(2), WorkerPace { rate: Some(10.0), straggler_share: Some(0.0) });
        assert_eq!(of(3), WorkerPace::default());
    }

    #[test]
    fn a_worker_alone_is_no_straggler_and_old_layers_are_forgotten() {
        let (pace, begun) = (Pace::default(), Instant::now());
        pace.add(&[part(0, 1_000, 1)], begun);
        assert_eq!(pace.of(0, begun), WorkerPace { rate: Some(1_000.0), straggler_share: None });
        let later = begun + Duration::from_secs(300);
        assert_eq!(pace.of(0, later), WorkerPace::default());
        pace.add(&[part(0, 10, 1)], later);
        let rate = pace.of(0, later).rate.unwrap();
        assert!((rate - 10.0).abs() < 0.1, "{rate}");
        pace.add(&[], later);
    }
}

//! Tests of simulated clusters under the faults of many seeds: every job ends with the right
//! numbers.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use strata_store::{Fs, RealFs};
use strata_testing::simulation::Reached;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Numbers of runs.
#[derive(Debug, Default)]
struct Runs {
    /// In which jobs ran beside others.
    together: AtomicUsize,
    /// In which priorities decided the order of steps.
    by_priority: AtomicUsize,
}

/// Runs seeds on all processors, and fails with the first that goes wrong.
fn simulate(seeds: std::ops::Range<u64>) -> Runs {
    let runs = Runs::default();
    let next = AtomicU64::new(seeds.start);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            match strata_testing::simulation::run(seed) {
                Ok(outcome) => {
                    let beside = usize::from(outcome.together > 1);
                    runs.together.fetch_add(beside, Ordering::Relaxed);
                    runs.by_priority.fetch_add(outcome.by_priority.into(), Ordering::Relaxed);
                }
                Err(violation) => {
                    next.store(seeds.end, Ordering::Relaxed);
                    panic!("{violation}");
                }
            }
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(work))));
    runs
}

/// `scripts/simulate` runs more.
#[test]
fn jobs_end_with_the_right_numbers_under_the_faults_of_many_seeds() {
    let reached = Reached::default();
    let counts = reached.clone().with_filter(Reached::filter());
    tracing_subscriber::registry().with(counts).init();
    let Runs { together, by_priority } = simulate(0..100);
    assert!(together.into_inner() > 3, "few jobs run beside others");
    assert!((20..80).contains(&by_priority.into_inner()), "one of the schedulers has few runs");
    let missing: Vec<_> = reached.missing().collect();
    assert!(missing.len() < reached.counts().count() / 2, "rare states not reached: {missing:?}");
}

/// Seeds that found a defect.
#[test]
fn jobs_end_with_the_right_numbers_under_faults_that_once_broke_them() {
    for seed in [5460, 9497] {
        simulate(seed..seed + 1);
    }
}

/// A run must not depend on how many files the process has made before.
#[test]
fn a_seed_repeats_exactly() {
    let run =
        |seed| strata_testing::simulation::run(seed).unwrap_or_else(|wrong| panic!("{wrong}"));
    let outcomes = (1000..).map(|seed| (seed, run(seed)));
    let faulty = outcomes.filter(|(_, outcome)| outcome.faults.values().sum::<u32>() > 4);
    let mut files = 1000;
    for (seed, outcome) in faulty.take(4) {
        (0..files).for_each(|_| drop(RealFs.unique_suffix()));
        files *= 2;
        assert_eq!(run(seed), outcome, "seed {seed}");
    }
}

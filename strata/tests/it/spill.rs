//! Tests that spilled exits give the same layers as exits in memory.

use crate::drive;

use drive::{Outcome, SearchSetup, search};
use strata_explicit::Engine;
use strata_puzzles::Hanoi;
use strata_space::{KeySpace, Keyed, Seed};

/// Hanoi with regions so small that most moves leave them.
struct ManyRegions(Hanoi);

impl KeySpace for ManyRegions {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        self.0.seeds()
    }

    fn key_bits(&self) -> u32 {
        self.0.key_bits()
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        self.0.successors(key, out);
    }

    fn local_bits(&self) -> Option<u32> {
        Some(3)
    }

    fn text(&self, key: u64) -> String {
        self.0.text(key)
    }
}

fn hanoi(setup: SearchSetup) -> Outcome {
    let space = Keyed::new(ManyRegions(Hanoi::new(10, 4, true).unwrap())).unwrap();
    search(setup, |shards| Engine::sparse(space, shards))
}

#[test]
fn the_least_budget_spills_and_finds_the_same() {
    let generous = hanoi(SearchSetup { extra_memory: 1 << 30, ..SearchSetup::default() });
    assert_eq!(generous.spilled_bytes, 0);
    assert_eq!(generous.states().iter().sum::<u64>(), 4_u64.pow(10));
    for workers in [1, 2] {
        let tight = hanoi(SearchSetup { extra_memory: 0, workers, ..SearchSetup::default() });
        assert!(tight.spilled_bytes > 0, "{workers} workers");
        assert_eq!(tight.layers, generous.layers, "{workers} workers");
        assert_eq!(tight.run_files, 0, "{workers} workers leave spilled runs behind");
    }
}

#[test]
fn an_inbox_without_memory_spills_everything_and_finds_the_same() {
    let space = || Keyed::new(Hanoi::new(7, 4, true).unwrap()).unwrap();
    let plain = search(SearchSetup::default(), |shards| Engine::sparse(space(), shards));
    let setup = SearchSetup {
        inbox_memory: Some(0),
        unreliable: true,
        workers: 2,
        ..SearchSetup::default()
    };
    let spilled = search(setup, |shards| Engine::sparse(space(), shards));
    assert_eq!((plain.spilled_bytes, spilled.spilled_bytes > 0), (0, true));
    assert_eq!(spilled.layers, plain.layers);
    assert_eq!(spilled.run_files, 0);
}

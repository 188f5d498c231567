//! Tests that counts and digests do not depend on workers, threads, shards, memory or kept layers.

use crate::drive;
use crate::reference;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use drive::{Outcome, SearchSetup, search, start_workers};
use reference::golden::PANEX;
use strata_engine::explicit::Engine;
use strata_puzzles::Hanoi;
use strata_puzzles::panex::{Panex, PanexConfig, SymmetryUse};
use strata_run::KeepLayers;
use strata_space::{KeySpace, Keyed, LayerStats, Seed};

fn panex(setup: SearchSetup, config: PanexConfig) -> Outcome {
    let space = Panex::new(config).unwrap();
    search(setup, |shards| Engine::tabled(space, shards))
}

fn hanoi(setup: SearchSetup, discs: u32) -> Outcome {
    let space = Keyed::new(Hanoi::new(discs, 4, true).unwrap()).unwrap();
    search(setup, |shards| Engine::sparse(space, shards))
}

/// Combinations of shards, workers and threads, also with more workers than shards.
fn setups() -> impl Iterator<Item = SearchSetup> {
    let shards = [1, 7, 64].into_iter();
    let pairs = shards.flat_map(|shards| [1, 3].map(|workers| (shards, workers)));
    let triples = pairs.flat_map(|(shards, workers)| [1, 2].map(|n| (shards, workers, n)));
    triples.map(|(shards, workers, threads)| SearchSetup {
        shards,
        workers,
        threads,
        ..SearchSetup::default()
    })
}

fn assert_same(found: &Outcome, expected: &Outcome, setup: SearchSetup) {
    assert_eq!(found.layers, expected.layers, "{setup:?}");
    assert_eq!(found.moves, expected.moves, "{setup:?}");
}

#[test]
fn every_setup_finds_the_same_panex_layers() {
    for level in 1..=4 {
        for symmetry in [SymmetryUse::On, SymmetryUse::Off] {
            let config = PanexConfig { symmetry, ..PanexConfig::new(level) };
            let alone = panex(SearchSetup::default(), config);
            assert!(alone.moves.is_some());
            for setup in setups() {
                assert_same(&panex(setup, config), &alone, setup);
            }
        }
    }
}

#[test]
fn every_choice_of_shard_levels_finds_the_same() {
    let alone = panex(SearchSetup::default(), PanexConfig::new(5));
    let setup = SearchSetup { workers: 3, ..SearchSetup::default() };
    for s in 3..=5 {
        assert_same(&panex(setup, PanexConfig { s, ..PanexConfig::new(5) }), &alone, setup);
    }
}

#[test]
fn every_setup_finds_the_same_wide_hanoi_layers() {
    // Layers so wide that they are split between threads.
    let alone = hanoi(SearchSetup::default(), 8);
    let widest = alone.states().into_iter().max();
    assert!(widest > Some(2 * 4096), "{widest:?} states are one thread's share");
    for setup in setups() {
        assert_same(&hanoi(setup, 8), &alone, setup);
    }
}

#[test]
fn layers_in_files_are_the_layers_in_memory() {
    let config = PanexConfig::new(4);
    let memory = panex(SearchSetup::default(), config);
    assert_eq!(memory.layer_files, 0, "narrow layers are written to files");
    for (keep, files) in [
        (KeepLayers::All, memory.layers.len()),
        (KeepLayers::Every(NonZeroU32::new(3).unwrap()), 22),
    ] {
        let setup = SearchSetup { keep, ..SearchSetup::default() };
        let found = panex(setup, config);
        assert_same(&found, &memory, setup);
        assert_eq!(found.layer_files, files - 1, "{keep:?}: depth 0 never is a file");
    }
}

#[test]
fn exits_may_arrive_in_pieces_out_of_order_and_twice() {
    // Searches to the last layer: an earlier stop would leave exits in the inboxes.
    let config = PanexConfig { exhaust: true, ..PanexConfig::new(4) };
    let alone = panex(SearchSetup::default(), config);
    for inbox_memory in [None, Some(0), Some(1 << 10)] {
        let setup =
            SearchSetup { workers: 3, unreliable: true, inbox_memory, ..SearchSetup::default() };
        let found = panex(setup, config);
        assert_same(&found, &alone, setup);
        assert_eq!(found.spilled_bytes > 0, inbox_memory.is_some(), "{setup:?}");
        assert_eq!(found.run_files, 0, "{setup:?} leaves spilled runs behind");
    }
}

#[test]
fn level_six_is_golden_for_one_thread_and_two() {
    let golden = PANEX[5];
    let one = panex(SearchSetup::default(), PanexConfig::new(golden.level));
    assert_eq!(one.moves, Some(golden.moves));
    assert_eq!(one.layers.last().map(|layer| layer.depth), Some(golden.layers));
    assert_eq!(one.states().iter().sum::<u64>(), golden.states);
    assert_eq!(one.states().into_iter().max(), Some(golden.widest));
    let setup = SearchSetup { threads: 2, ..SearchSetup::default() };
    assert_same(&panex(setup, PanexConfig::new(golden.level)), &one, setup);
}

/// Bits of which a move changes one, where expanded states are counted.
struct Flips(Arc<AtomicU64>);

impl KeySpace for Flips {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }
    fn key_bits(&self) -> u32 {
        14
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        out.extend((0..14).map(|bit| key ^ 1 << bit));
    }
    fn count_successors(&self, keys: &[u64]) -> u64 {
        14 * keys.len() as u64
    }
    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

#[test]
fn the_last_layer_is_counted_but_not_expanded() {
    let run = |last_depth| {
        let (expanded, dir) = (Arc::new(AtomicU64::new(0)), tempfile::tempdir().unwrap());
        let engine = Engine::keyed(Keyed::new(Flips(Arc::clone(&expanded))).unwrap(), 64);
        let setup = SearchSetup { last_depth, ..SearchSetup::default() };
        let mut worker = start_workers(setup, &Arc::new(engine), dir.path()).remove(0);
        let mut reports = vec![worker.seed().unwrap()];
        let before = expanded.swap(0, Ordering::Relaxed);
        assert!(before <= 2);
        (1..=4).for_each(|_| reports.push(worker.advance().unwrap()));
        let stats: Vec<LayerStats> = reports.iter().map(drive::stats_of).collect();
        let error = worker.advance().err().map(|error| error.to_string());
        (stats, expanded.load(Ordering::Relaxed), error)
    };
    let (whole, all, error) = run(None);
    assert_eq!((error, whole[4].generated), (None, 14 * 1001));
    let (stopped, some, error) = run(Some(4));
    assert_eq!(stopped, whole);
    assert_eq!((some, all), (14 + 91 + 364, 14 + 91 + 364 + 1001 + 2002));
    // Without its exits, the next layer would be wrong.
    assert_eq!(error.unwrap(), "layer 4 is the last of this run: its exits were not kept");
}

//! What a search finds depends neither on who works at it nor on where its layers are.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod drive;
mod reference;

use std::num::NonZeroU32;

use drive::{Crew, Outcome, search};
use reference::golden::PANEX;
use strata::KeepLayers;
use strata_explicit::Engine;
use strata_puzzles::Hanoi;
use strata_puzzles::panex::{Panex, PanexConfig, SymmetryUse};
use strata_space::Keyed;

fn panex(crew: Crew, config: PanexConfig) -> Outcome {
    let space = Panex::new(config).unwrap();
    search(crew, |shards| Engine::tabled(space, shards))
}

fn hanoi(crew: Crew, discs: u32) -> Outcome {
    let space = Keyed::new(Hanoi::new(discs, 4, true).unwrap()).unwrap();
    search(crew, |shards| Engine::direct(space, shards))
}

/// Shards, workers and threads; more workers than shards, too.
fn crews() -> impl Iterator<Item = Crew> {
    let shards = [1, 7, 64].into_iter();
    let pairs = shards.flat_map(|shards| [1, 3].map(|workers| (shards, workers)));
    let triples = pairs.flat_map(|(shards, workers)| [1, 2].map(|n| (shards, workers, n)));
    triples.map(|(shards, workers, threads)| Crew { shards, workers, threads, ..Crew::default() })
}

fn assert_same(found: &Outcome, expected: &Outcome, crew: Crew) {
    assert_eq!(found.layers, expected.layers, "{crew:?}");
    assert_eq!(found.moves, expected.moves, "{crew:?}");
}

#[test]
fn every_crew_finds_the_same_panex_layers() {
    for level in 1..=4 {
        for symmetry in [SymmetryUse::On, SymmetryUse::Off] {
            let config = PanexConfig { symmetry, ..PanexConfig::new(level) };
            let alone = panex(Crew::default(), config);
            assert!(alone.moves.is_some());
            for crew in crews() {
                assert_same(&panex(crew, config), &alone, crew);
            }
        }
    }
}

#[test]
fn every_choice_of_shard_levels_finds_the_same() {
    let alone = panex(Crew::default(), PanexConfig::new(5));
    let crew = Crew { workers: 3, ..Crew::default() };
    for s in 3..=5 {
        assert_same(&panex(crew, PanexConfig { s, ..PanexConfig::new(5) }), &alone, crew);
    }
}

#[test]
fn every_crew_finds_the_same_wide_hanoi_layers() {
    // Layers so wide that they are split between threads.
    let alone = hanoi(Crew::default(), 8);
    let widest = alone.states().into_iter().max();
    assert!(widest > Some(2 * 4096), "{widest:?} states are one thread's share");
    for crew in crews() {
        assert_same(&hanoi(crew, 8), &alone, crew);
    }
}

#[test]
fn layers_in_files_are_the_layers_in_memory() {
    let config = PanexConfig::new(4);
    let memory = panex(Crew::default(), config);
    assert_eq!(memory.layer_files, 0, "narrow layers are written to files");
    for (keep, files) in [
        (KeepLayers::All, memory.layers.len()),
        (KeepLayers::Every(NonZeroU32::new(3).unwrap()), 22),
    ] {
        let crew = Crew { keep, ..Crew::default() };
        let found = panex(crew, config);
        assert_same(&found, &memory, crew);
        assert_eq!(found.layer_files, files - 1, "{keep:?}: depth 0 never is a file");
    }
}

#[test]
fn exits_may_arrive_in_pieces_out_of_order_and_twice() {
    // To the last layer: a search that stops before leaves the last exits where they wait.
    let config = PanexConfig { exhaust: true, ..PanexConfig::new(4) };
    let alone = panex(Crew::default(), config);
    for inbox_memory in [None, Some(0), Some(1 << 10)] {
        let crew = Crew { workers: 3, shred: true, inbox_memory, ..Crew::default() };
        let found = panex(crew, config);
        assert_same(&found, &alone, crew);
        assert_eq!(found.spilled_bytes > 0, inbox_memory.is_some(), "{crew:?}");
        assert_eq!(found.run_files, 0, "{crew:?} leaves spilled runs behind");
    }
}

#[test]
fn level_six_is_golden_for_one_thread_and_two() {
    let golden = PANEX[5];
    let one = panex(Crew::default(), PanexConfig::new(golden.level));
    assert_eq!(one.moves, Some(golden.moves));
    assert_eq!(one.layers.last().map(|layer| layer.depth), Some(golden.layers));
    assert_eq!(one.states().iter().sum::<u64>(), golden.states);
    assert_eq!(one.states().into_iter().max(), Some(golden.widest));
    let crew = Crew { threads: 2, ..Crew::default() };
    assert_same(&panex(crew, PanexConfig::new(golden.level)), &one, crew);
}

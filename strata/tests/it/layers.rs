//! Tests that compare every layer of small searches with the independent reference search.

use crate::drive;
use crate::reference;

use drive::{Outcome, SearchSetup, search};
use reference::{Options, Reference, Stop, Symmetry, hanoi_layers, panex_layers};
use strata_engine::explicit::Engine;
use strata_puzzles::Hanoi;
use strata_puzzles::panex::{CentreTop, Panex, PanexConfig, SymmetryUse};
use strata_space::{Digest, Keyed};

/// Values of k below, at and above the level.
const KS: std::ops::RangeInclusive<u8> = 1..=3;

fn config(level: u8, k: u8, symmetry: SymmetryUse) -> PanexConfig {
    PanexConfig { k, s: PanexConfig::default_s(level, k), symmetry, ..PanexConfig::new(level) }
}

fn tabled(config: PanexConfig) -> Outcome {
    let space = Panex::new(config).unwrap();
    search(SearchSetup::default(), |shards| Engine::tabled(space, shards))
}

fn direct(config: PanexConfig) -> Outcome {
    let space = Panex::new(config).unwrap();
    search(SearchSetup::default(), |shards| Engine::sparse(space, shards))
}

fn reference(config: PanexConfig) -> Reference {
    let options = Options {
        symmetry: match config.symmetry {
            SymmetryUse::On => Symmetry::Class,
            SymmetryUse::Off => Symmetry::Off,
        },
        centre_top: match config.centre_top {
            CentreTop::Forbid => reference::CentreTop::Forbid,
            CentreTop::Allow => reference::CentreTop::Allow,
        },
        stop: match (config.exhaust, config.symmetry) {
            (true, _) => Stop::Never,
            (false, SymmetryUse::On) => Stop::AtMeeting,
            (false, SymmetryUse::Off) => Stop::AtGoal,
        },
    };
    panex_layers(config.level, options)
}

fn assert_found(found: &Outcome, expected: &Reference, what: &str) {
    assert_eq!(found.states(), expected.layers, "states: {what}");
    assert_eq!(found.generated(), expected.generated, "moves: {what}");
    assert_eq!(found.moves, expected.moves, "answer: {what}");
}

/// Compares the searches for all k with the reference and with each other. Returns the digest and
/// the positions of every layer.
fn check_panex(level: u8, change: impl Fn(&mut PanexConfig)) -> Vec<(Digest, u64)> {
    let configs = KS.map(|k| {
        let mut config = config(level, k, SymmetryUse::On);
        change(&mut config);
        config
    });
    let configs: Vec<PanexConfig> = configs.collect();
    let expected = reference(configs[0]);
    let mut counted = None;
    for config in configs {
        let found = tabled(config);
        assert_found(&found, &expected, &format!("{config:?}"));
        let layers = found.layers.iter();
        let figures: Vec<_> = layers.map(|layer| (layer.digest, layer.positions)).collect();
        let first = counted.get_or_insert_with(|| figures.clone());
        assert_eq!(*first, figures, "digests and positions: {config:?}");
        if config.symmetry == SymmetryUse::Off {
            let states = found.states().into_iter();
            assert!(states.eq(figures.iter().map(|(_, positions)| *positions)), "{config:?}");
        }
    }
    counted.unwrap_or_default()
}

/// A digest is the sum over the positions that the states stand for. Equal digests with and without
/// symmetry show that a layer has the same positions.
#[test]
fn searches_find_the_references_layers_with_symmetry_and_without() {
    for level in 1..=5 {
        let met = check_panex(level, |_| {});
        // From the start to the goal.
        check_panex(level, |config| config.symmetry = SymmetryUse::Off);
        let on = check_panex(level, |config| config.exhaust = true);
        if level < 5 {
            let off = check_panex(level, |config| {
                config.exhaust = true;
                config.symmetry = SymmetryUse::Off;
            });
            assert_eq!(on, off, "level {level}");
            assert_eq!(met, off[..met.len()], "level {level}");
        }
    }
}

#[test]
fn an_open_centre_top_finds_the_references_layers() {
    for level in 1..=4 {
        for symmetry in [SymmetryUse::On, SymmetryUse::Off] {
            for exhaust in [false, true] {
                check_panex(level, |config| {
                    *config =
                        PanexConfig { symmetry, exhaust, centre_top: CentreTop::Allow, ..*config };
                });
            }
        }
    }
}

#[test]
fn a_search_without_tables_finds_the_same_layers() {
    let compare = |config: PanexConfig| {
        let (fast, slow) = (tabled(config), direct(config));
        assert_eq!(fast.layers, slow.layers, "{config:?}");
        assert_eq!(fast.moves, slow.moves, "{config:?}");
    };
    for (level, k) in (1..=4).flat_map(|level| KS.map(move |k| (level, k))) {
        for symmetry in [SymmetryUse::On, SymmetryUse::Off] {
            for centre_top in [CentreTop::Forbid, CentreTop::Allow] {
                for exhaust in [false, true] {
                    compare(PanexConfig { centre_top, exhaust, ..config(level, k, symmetry) });
                }
            }
        }
    }
    compare(PanexConfig::new(5));
}

#[test]
fn hanoi_finds_the_references_layers() {
    for (pegs, most) in [(3, 10), (4, 7), (5, 5)] {
        for discs in 1..=most {
            let expected = hanoi_layers(discs, pegs);
            let what = format!("{discs} discs on {pegs} pegs");
            let hanoi = |exhaust| Hanoi::new(discs as u32, pegs as u32, exhaust).unwrap();
            let run = |exhaust| {
                let space = Keyed::new(hanoi(exhaust)).unwrap();
                search(SearchSetup::default(), |shards| Engine::sparse(space, shards))
            };
            let exhausted = run(true);
            assert_found(&exhausted, &expected, &what);
            let solved = run(false);
            let moves = solved.moves.expect("the tower can be moved");
            assert_eq!(solved.layers, exhausted.layers[..=moves as usize], "{what}");
            if pegs == 3 {
                assert_eq!(moves, (1 << discs) - 1, "{what}");
            }
        }
    }
}

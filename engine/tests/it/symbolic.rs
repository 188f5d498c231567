//! Tests of whole symbolic searches against an independent reference search, and of searches that are
//! continued from snapshots, have little memory, or use two threads.

use std::sync::Arc;

use strata_engine::symbolic::{Layer, Options, Search, SnapshotError, StepError};
use strata_puzzles::panex::{self, NestedPanex, PanexConfig, SymmetryUse};
use strata_puzzles::{Hanoi, NestedHanoi};
use strata_space::LayerStats;
use strata_space::nested::NestedSpace;

use crate::reference::{self, CentreTop, Options as Reference, Stop, Symmetry};

const PLENTY: Options =
    Options { memory: 1 << 30, keep_layers: false, digests: true, verify: 0, threads: 1 };

const TWO: Options = Options { threads: 2, ..PLENTY };

/// All layers with states, and the length of a shortest solution.
fn layers<S: NestedSpace>(search: &mut Search<S>) -> (Vec<Layer>, Option<u32>) {
    let mut layers = vec![search.layer()];
    loop {
        let layer = search.advance().unwrap();
        if layer.stats.states > 0 {
            layers.push(layer);
        }
        if layer.is_last() {
            let Layer { depth, stats, .. } = layer;
            let moves = match stats {
                LayerStats { odd: true, .. } => Some(2 * depth - 1),
                LayerStats { even: true, .. } => Some(2 * depth),
                LayerStats { found: true, .. } => Some(depth),
                _ => None,
            };
            return (layers, moves);
        }
    }
}

#[test]
fn panex_layers_equal_those_of_the_reference_search() {
    for (level, centre, symmetry, stop) in [
        (1, CentreTop::Forbid, Symmetry::Class, Stop::AtMeeting),
        (1, CentreTop::Allow, Symmetry::Class, Stop::Never),
        (2, CentreTop::Forbid, Symmetry::Class, Stop::AtMeeting),
        (2, CentreTop::Allow, Symmetry::Off, Stop::Never),
        (3, CentreTop::Forbid, Symmetry::Off, Stop::AtGoal),
        (3, CentreTop::Allow, Symmetry::Class, Stop::AtMeeting),
        (3, CentreTop::Allow, Symmetry::Class, Stop::Never),
        (4, CentreTop::Forbid, Symmetry::Class, Stop::Never),
        (4, CentreTop::Allow, Symmetry::Class, Stop::AtMeeting),
        (5, CentreTop::Forbid, Symmetry::Class, Stop::AtMeeting),
    ] {
        let expected =
            reference::panex_layers(level, Reference { symmetry, centre_top: centre, stop });
        let config = PanexConfig {
            symmetry: match symmetry {
                Symmetry::Class => SymmetryUse::On,
                Symmetry::Off => SymmetryUse::Off,
            },
            centre_top: match centre {
                CentreTop::Forbid => panex::CentreTop::Forbid,
                CentreTop::Allow => panex::CentreTop::Allow,
            },
            exhaust: stop == Stop::Never,
            ..PanexConfig::new(level)
        };
        let space = Arc::new(NestedPanex::new(config).unwrap());
        let (found, moves) = layers(&mut Search::new(space, PLENTY).unwrap());
        let states: Vec<u64> = found.iter().map(|layer| layer.stats.states).collect();
        let generated: Vec<u64> = found.iter().map(|layer| layer.stats.generated).collect();
        let what = format!("{level} {centre:?} {symmetry:?} {stop:?}");
        assert_eq!(states, expected.layers, "{what}");
        assert_eq!(generated, expected.generated, "{what}");
        assert_eq!(moves, expected.moves, "{what}");
    }
}

#[test]
fn hanoi_has_the_known_radii_and_totals() {
    // Radii with four pegs, with all discs on one peg at first: Korf, "Best-First Frontier Search".
    for (discs, pegs, radius) in
        [(1, 3, 1), (5, 3, 31), (9, 3, 511), (3, 4, 5), (8, 4, 33), (10, 4, 49), (4, 5, 7)]
    {
        let space = NestedHanoi::new(Hanoi::new(discs, pegs, true).unwrap()).unwrap();
        let (found, _) = layers(&mut Search::new(Arc::new(space), PLENTY).unwrap());
        assert_eq!(found.len() - 1, radius, "{discs} discs, {pegs} pegs");
        let states: u64 = found.iter().map(|layer| layer.stats.states).sum();
        assert_eq!(states, u64::from(pegs).pow(discs), "{discs} discs, {pegs} pegs");
    }
    let space = NestedHanoi::new(Hanoi::new(10, 3, false).unwrap()).unwrap();
    let (_, moves) = layers(&mut Search::new(Arc::new(space), PLENTY).unwrap());
    assert_eq!(moves, Some(1023));
}

fn panex_of(level: u8, options: Options) -> Search<NestedPanex> {
    let space = NestedPanex::new(PanexConfig::new(level)).unwrap();
    Search::new(Arc::new(space), options).unwrap()
}

#[test]
fn two_threads_compute_the_same_layers() {
    let options = [PLENTY, TWO].map(|options| [options, Options { digests: false, ..options }]);
    let [one, two] =
        options.map(|options| options.map(|options| layers(&mut panex_of(6, options))));
    assert_eq!(one, two);
    let hanoi = |options| {
        let space = NestedHanoi::new(Hanoi::new(9, 4, true).unwrap()).unwrap();
        layers(&mut Search::new(Arc::new(space), options).unwrap())
    };
    assert_eq!(hanoi(PLENTY), hanoi(TWO));
}

#[test]
fn a_search_continues_from_a_snapshot_of_any_layer() {
    for options in [PLENTY, TWO] {
        continue_from_any_layer(options);
    }
}

fn continue_from_any_layer(options: Options) {
    let (expected, moves) = layers(&mut panex_of(5, PLENTY));
    let mut search = panex_of(5, options);
    let mut found = vec![search.layer()];
    while !search.layer().is_last() {
        found.push(search.advance().unwrap());
        let bytes = search.snapshot();
        let depth = search.depth();
        search.load(depth, &bytes).unwrap();
        let expected = expected[depth as usize];
        assert_eq!(Layer { nodes: expected.nodes, ..search.layer() }, expected);
    }
    assert_eq!(moves, Some(343));
    let same = found
        .iter()
        .zip(&expected)
        .all(|(a, b)| (a.stats.states, a.stats.digest) == (b.stats.states, b.stats.digest));
    assert!(same && found.len() == expected.len());
}

#[test]
fn little_memory_does_not_change_layers_and_too_little_is_an_error() {
    let (expected, _) = layers(&mut panex_of(6, PLENTY));
    for options in [PLENTY, TWO] {
        search_with_little_memory(options, &expected);
        search_with_too_little_memory(options, &expected);
    }
}

fn search_with_little_memory(options: Options, expected: &[Layer]) {
    let mut search = panex_of(6, Options { memory: 2 << 20, ..options });
    let mut found = vec![search.layer()];
    while !found.last().is_some_and(Layer::is_last) {
        found.push(search.advance().unwrap());
        assert!(search.usage().bytes <= 2 << 20, "{:?}", search.usage());
    }
    assert!(search.usage().collections > 2, "{:?}", search.usage());
    let numbers = |layer: &Layer| (layer.stats.states, layer.stats.generated, layer.stats.digest);
    assert!(found.iter().map(numbers).eq(expected.iter().map(numbers)));
}

fn search_with_too_little_memory(options: Options, expected: &[Layer]) {
    for (memory, keep_layers) in [(300 << 10, false), (2 << 20, true)] {
        let mut search = panex_of(6, Options { memory, keep_layers, ..options });
        let full = loop {
            match search.advance() {
                Ok(layer) => assert!(!layer.is_last(), "the memory suffices"),
                Err(full) => break full,
            }
        };
        assert_eq!(full, StepError::Memory { budget: memory });
        // The last layer is unchanged, and can be continued with more memory.
        assert_eq!(search.advance(), Err(full));
        let depth = search.depth();
        let bytes = search.snapshot();
        let expected = expected[depth as usize];
        assert_eq!(
            (search.layer().stats.states, search.layer().stats.digest),
            (expected.stats.states, expected.stats.digest)
        );
        let mut search = panex_of(6, Options { memory: 1 << 30, ..options });
        search.load(depth, &bytes).unwrap();
        assert_eq!(layers(&mut search).1, Some(881));
    }
}

#[test]
fn without_digests_the_numbers_of_states_are_the_same() {
    let (expected, _) = layers(&mut panex_of(5, PLENTY));
    let mut search = panex_of(5, Options { digests: false, ..PLENTY });
    let (found, moves) = layers(&mut search);
    assert_eq!(moves, Some(343));
    assert!(found.iter().all(|layer| layer.stats.generated == 0));
    assert!(
        found
            .iter()
            .map(|layer| layer.stats.states)
            .eq(expected.iter().map(|layer| layer.stats.states))
    );
}

#[test]
fn listed_states_are_found_by_rank_and_membership() {
    let mut search = panex_of(3, Options { keep_layers: true, ..PLENTY });
    for _ in 0..12 {
        search.advance().unwrap();
    }
    let mut listed = Vec::new();
    let _: std::ops::ControlFlow<()> = search.visit(|state| {
        listed.push(state.clone());
        std::ops::ControlFlow::Continue(())
    });
    // Positions are listed, not orbits.
    let fixed = listed.iter().filter(|state| {
        let position = search.space().position(state);
        position == position.image(panex::Symmetry::BOTH)
    });
    assert_eq!((listed.len() + fixed.count()) as u64 / 2, search.layer().stats.states);
    assert_eq!(search.positions(), listed.len() as u64);
    for (at, state) in (0..).zip(&listed) {
        assert_eq!(search.nth(at).as_ref(), Some(state));
    }
    assert_eq!(search.nth(search.positions()), None);
    for state in &listed {
        assert_eq!(search.contains(12, state), Some(true));
        assert_eq!(search.contains(11, state), Some(false));
        assert_eq!(search.contains(13, state), None);
    }
    let texts: std::collections::HashSet<String> =
        listed.iter().map(|state| search.space().text(state)).collect();
    assert_eq!(texts.len(), listed.len());
}

#[test]
fn memoised_steps_equal_their_recomputation() {
    for (verify, threads) in [(1, 1), (1, 2), (2, 1), (7, 1), (7, 2)] {
        let options = Options { verify, threads, ..PLENTY };
        let (found, moves) = layers(&mut panex_of(5, options));
        assert_eq!(moves, Some(343));
        assert_eq!(found.iter().map(|layer| layer.stats.states).sum::<u64>(), 218_855);
    }
}

#[test]
fn shortest_paths_are_traced_back() {
    use std::ops::ControlFlow;

    use strata_space::nested::successors;
    let mut go_on = || ControlFlow::Continue(());
    let keeping = Options { keep_layers: true, ..TWO };
    for level in 1..=5 {
        let mut search = panex_of(level, keeping);
        let (_, moves) = layers(&mut search);
        let path = search.shortest_path(&mut go_on).unwrap();
        assert_eq!(path.len() as u32 - 1, moves.unwrap());
        let mut left = moves.unwrap();
        let mut until = |more: u32| {
            left = more;
            search.shortest_path(&mut || match left.checked_sub(1) {
                Some(fewer) => {
                    left = fewer;
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(()),
            })
        };
        assert_eq!(until(moves.unwrap()).as_ref(), Some(&path));
        assert_eq!(until(moves.unwrap() - 1), None);
        let space = search.space();
        let ends = [&path[0], &path[path.len() - 1]].map(|end| space.position(end));
        let (start, goal) = (panex::Position::start(level), panex::Position::goal(level));
        assert_eq!(ends, [start, goal]);
        assert!(path.windows(2).all(|pair| successors(&**space, &pair[0]).contains(&pair[1])));
    }
    let space = NestedHanoi::new(Hanoi::new(6, 4, false).unwrap()).unwrap();
    let mut search = Search::new(Arc::new(space), keeping).unwrap();
    let (_, moves) = layers(&mut search);
    assert_eq!(search.shortest_path(&mut go_on).unwrap().len() as u32 - 1, moves.unwrap());
    // Without `keep_layers` there is no path.
    let mut search = panex_of(4, PLENTY);
    layers(&mut search);
    assert_eq!(search.shortest_path(&mut go_on), None);
}

/// A snapshot is checked against the budget before lists of its nodes are made.
#[test]
fn a_snapshot_that_takes_more_than_the_budget_is_refused() {
    let budget = 1 << 20;
    let mut search = panex_of(4, Options { memory: budget, ..PLENTY });
    for _ in 0..3 {
        search.advance().unwrap();
    }
    let bytes = search.snapshot();
    // The levels above the leaf, each with its configurations; then the number of nodes.
    let mut at = 0;
    for _ in 0..3 {
        at += 2 + 16 * usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    }
    let nodes = u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    assert!((1..1000).contains(&nodes), "{nodes}");
    // Copies of the first node, a leaf.
    let leaf = &bytes[at + 4..][..17];
    let crafted = |count: usize| {
        let mut crafted = bytes[..at].to_vec();
        crafted.extend((count as u32).to_le_bytes());
        crafted.extend(leaf.repeat(count));
        crafted.extend([2, 0, 0, 0]);
        crafted
    };
    let mut load = |bytes: &[u8]| search.load(3, bytes).unwrap_err();
    let too_many = load(&crafted(budget / 17));
    assert!(matches!(too_many, SnapshotError::Step(StepError::Memory { .. })), "{too_many}");
    // Fewer copies are read, but they are not a layer.
    let few = load(&crafted(budget / 40));
    assert!(matches!(few, SnapshotError::Malformed { .. }), "{few}");
    // A number of nodes that exceeds the bytes.
    let mut stated = bytes.clone();
    stated[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let stated = load(&stated);
    assert!(matches!(stated, SnapshotError::Malformed { .. }), "{stated}");
    search.load(3, &bytes).unwrap();
}

#[test]
fn invalid_snapshots_are_refused() {
    let mut search = panex_of(4, PLENTY);
    for _ in 0..30 {
        search.advance().unwrap();
    }
    let bytes = search.snapshot();
    let expected = search.layer();
    for end in [0, 1, 2, 40, bytes.len() / 2, bytes.len() - 1] {
        assert!(search.load(30, &bytes[..end]).is_err(), "{end} bytes");
    }
    let start = Some(panex::Position::parse(4, "b2 b3 b4 / b1 / o1 o2 o3 o4").unwrap());
    let one_sided = PanexConfig { start, symmetry: SymmetryUse::Off, ..PanexConfig::new(4) };
    let one_sided = Arc::new(NestedPanex::new(one_sided).unwrap());
    let mut one_sided = Search::new(one_sided, PLENTY).unwrap();
    one_sided.advance().unwrap();
    one_sided.advance().unwrap();
    let error = search.load(2, &one_sided.snapshot()).unwrap_err().to_string();
    assert!(error.contains("not its own flip"), "{error}");
    let longer = [&*bytes, &[0]].concat();
    assert!(search.load(30, &longer).is_err());
    let mut refused = 0;
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        // Some damage yields another valid layer, which only the checksum of a file detects. None may
        // cause a panic.
        refused += u32::from(search.load(30, &damaged).is_err());
    }
    assert!(refused > 100, "{refused}");
    search.load(30, &bytes).unwrap();
    assert_eq!(search.layer().stats.digest, expected.stats.digest);
}

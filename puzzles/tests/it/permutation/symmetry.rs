//! Tests of searches with symmetries: positions and digests of every layer, orbits against trial, and paths.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use strata_puzzles::permutation::{BurntPancake, Lrx, Member, Pancake, Permutation, TopSpin};
use strata_space::dense::DenseFolding;
use strata_space::{
    Chain, Digest, KeySpace, Keyed, Parameters, Puzzle, SpaceError, State, StateSpace, file_value,
};

use crate::permutation::orbits::Graph;
use crate::permutation::reference::{
    Reference, Step, burnt_pancakes, lrx, pancakes, reversed, shifted, steps_of, topspin,
};
use crate::permutation::{layers_of_keys, numbers, parameters, texts};

/// A layer around the start: keys, the positions that they stand for, and the digest.
type Layer = (usize, u64, Digest);

/// Layers around the start, by keys.
fn counted(space: &impl KeySpace) -> Vec<Layer> {
    let positions = |key| space.positions(key).unwrap();
    let figures = |layer: Vec<_>| {
        let sum = layer.iter().copied().map(positions).sum();
        (layer.len(), sum, space.digest(&layer))
    };
    layers_of_keys(space).into_iter().map(figures).collect()
}

/// Checks that a search with symmetries has as many positions as the reference has states, with the
/// same digests as a search without. Given a number of symmetries, also compares orbits with trial.
fn check<P: Puzzle + KeySpace>(
    parameters: &Parameters,
    reference: &Reference,
    moves: &[Vec<Step>],
    symmetries: Option<usize>,
) {
    let with = |symmetry: &str| {
        let mut parameters = parameters.clone();
        parameters.insert("symmetry".to_owned(), symmetry.to_owned());
        let puzzle = P::open(&parameters).unwrap();
        assert_eq!(puzzle.parameters()["symmetry"], symmetry);
        puzzle
    };
    let (on, off) = (counted(&with("on")), counted(&with("off")));
    let label = format!("{parameters:?}");
    let orbits: Vec<(usize, u64)> = on.iter().map(|layer| (layer.0, layer.1)).collect();
    if let Some(symmetries) = symmetries {
        let (expected, found) = Graph::new(reference, moves).orbits();
        assert_eq!(found, symmetries, "symmetries of {label}");
        assert_eq!(orbits, expected, "{label}");
    }
    let counts: Vec<u64> = reference.search(moves).into_iter().map(|count| count as u64).collect();
    assert_eq!(orbits.iter().map(|orbit| orbit.1).collect::<Vec<_>>(), counts, "{label}");
    for ((_, positions, digest), (keys, each, unfolded)) in on.iter().zip(&off) {
        assert_eq!((positions, digest), (&(*keys as u64), unfolded), "{label}");
        assert_eq!(each, positions);
    }
    assert_eq!(on.len(), off.len());
    check_paths(with("on"), &with("off"));
}

/// Checks that stored states of every layer have paths of neighbours from the start.
fn check_paths<P: Puzzle + KeySpace>(on: P, off: &P) {
    let on = Keyed::new(on).unwrap();
    let start = on.seeds()[0];
    let mut before = HashMap::from([(start, start)]);
    let (mut layer, mut depth) = (vec![start], 0);
    while !layer.is_empty() {
        for state in [layer[0], layer[layer.len() / 2], layer[layer.len() - 1]] {
            let mut from_start = vec![state];
            while *from_start.last().unwrap() != start {
                from_start.push(before[from_start.last().unwrap()]);
            }
            from_start.reverse();
            let chain = Chain { from_start, from_goal: Vec::new() };
            let path = on.space().positions_along(&on, &chain).unwrap();
            assert_eq!(path.len(), depth + 1);
            assert_eq!(path[0], off.text(off.seeds()[0].key()));
            assert_eq!(path[depth], on.text(state));
            assert_eq!(off.moves_between(&path).unwrap().len(), depth);
        }
        let mut next = Vec::new();
        for state in &layer {
            let mut moves = Vec::new();
            on.moves(*state, &mut moves);
            next.extend(moves.into_iter().map(|next| (next, *state)));
        }
        layer.clear();
        for (state, from) in next {
            if let Entry::Vacant(entry) = before.entry(state) {
                entry.insert(from);
                layer.push(state);
            }
        }
        depth += 1;
    }
}

fn file(text: &str, options: &[(&str, &str)], symmetries: Option<usize>) {
    let (reference, moves) = Reference::of_options(text, options);
    check::<Permutation>(&parameters(text, options), &reference, &moves, symmetries);
}

/// A puzzle of different pieces without orientations, with moves by images from 0.
fn plain<P: Puzzle + KeySpace>(parameters: &Parameters, moves: &[Vec<usize>], symmetries: usize) {
    let slots = moves[0].len();
    check::<P>(parameters, &Reference::solved(slots, 1), &steps_of(moves), Some(symmetries));
}

#[test]
fn families_have_the_orbits_that_trial_finds() {
    for (n, symmetries) in [(3, 2), (4, 2), (5, 1)] {
        plain::<Member<Pancake>>(&numbers(&[("n", n)]), &pancakes(n), symmetries);
    }
    for (n, k, symmetries) in [(5, 2, 10), (5, 3, 10), (6, 2, 12), (6, 4, 12), (7, 3, 14)] {
        plain::<Member<TopSpin>>(&numbers(&[("n", n), ("k", k)]), &topspin(n, k), symmetries);
    }
    for n in 4..=7 {
        plain::<Member<Lrx>>(&numbers(&[("n", n)]), &lrx(n), 2);
    }
    for n in 3..=4 {
        let (reference, moves) = (Reference::solved(n, 2), burnt_pancakes(n));
        let found = (n == 4).then_some(1);
        check::<Member<BurntPancake>>(&numbers(&[("n", n)]), &reference, &moves, found);
    }
}

#[test]
fn tws_files_have_the_orbits_that_trial_finds() {
    for (text, symmetries) in [
        (texts::RING, Some(2)),
        (texts::TWISTS, Some(1)),
        (texts::ALIKE_OPEN, Some(1)),
        (texts::SETS, Some(4)),
        (texts::ILLEGAL, Some(1)),
        // No relabelling maps a move to the move times a turn of all pieces.
        (texts::ZERO_BASED, None),
        (texts::SEQUENCES, Some(4)),
        (texts::SHUFFLED, Some(12)),
        (texts::ILLEGAL_RING, Some(2)),
    ] {
        file(text, &[], symmetries);
    }
    file(texts::SHUFFLED, &[("metric", "quarter")], Some(4));
    let cube = include_str!("../../../data/2x2x2.tws");
    file(cube, &[("moves", "U2,F2,R2")], Some(6));
    file(cube, &[("moves", "U,R")], Some(4));
    let pyraminx = include_str!("../../../data/pyraminx.tws");
    file(pyraminx, &[("moves", "U,b")], Some(4));
    // Three tips, each of two senses, in any order.
    file(pyraminx, &[("moves", "u,b,l")], Some(48));
    file(include_str!("../../../data/dino.tws"), &[("moves", "UFR,UBR")], Some(8));
    let skewb = include_str!("../../../data/skewb.tws");
    file(skewb, &[("moves", "UFR,UBL"), ("metric", "quarter")], Some(4));
    file(include_str!("../../../data/3x3x3.tws"), &[("moves", "U2,F2,R2")], Some(6));
}

#[test]
fn other_formats_have_the_orbits_that_trial_finds() {
    let list = parameters("a = (1,2)\nb = (2,3)\nc = (3,4)\nd = (4,5)\n", &[]);
    let swaps: Vec<_> = (0..4).map(|first| reversed(5, first, 2)).collect();
    plain::<Permutation>(&list, &swaps, 2);
    let ring = parameters("r = (1,2,3,4,5,6)\nt = (1,2)(4,5)\n", &[("inverses", "true")]);
    let moves = [shifted(6, 1), shifted(6, 5), vec![1, 0, 2, 4, 3, 5]];
    plain::<Permutation>(&ring, &moves, 2);
    let reference = Reference::read(texts::TWISTS);
    let moves = reference.powers(&[], false);
    check::<Permutation>(&parameters(texts::KPUZZLE, &[]), &reference, &moves, Some(1));
    let ignore = format!("{}Ignore\nA\n1 0 0 0 0 0\nEnd\n", texts::RING);
    let reference = Reference::read(texts::RING);
    let moves = reference.powers(&[], false);
    check::<Permutation>(&parameters(&ignore, &[]), &reference, &moves, Some(2));
}

/// Figures of all layers of a search from both ends, and a shortest chain.
fn from_both_ends<P: Puzzle + KeySpace>(space: &Keyed<P>) -> (Vec<Layer>, Option<Chain>) {
    let seeds = space.seeds();
    let mut before: HashMap<State, State> = seeds.iter().map(|seed| (*seed, *seed)).collect();
    let (mut layer, mut found, mut met) = (seeds, Vec::new(), None);
    while !layer.is_empty() {
        let positions = layer.iter().map(|state| space.positions(*state).unwrap()).sum();
        let digest = layer.iter().map(|state| space.weight(*state)).sum();
        found.push((layer.len(), positions, digest));
        let other = |state: &State| State { local: state.local ^ 1, ..*state };
        met =
            met.or_else(|| layer.iter().copied().find(|state| before.contains_key(&other(state))));
        let mut next = Vec::new();
        for state in &layer {
            let mut moves = Vec::new();
            space.moves(*state, &mut moves);
            for after in moves {
                if let Entry::Vacant(entry) = before.entry(after) {
                    entry.insert(*state);
                    next.push(after);
                }
            }
        }
        layer = next;
    }
    let back = |mut state: State| {
        let mut chain = vec![state];
        while before[&state] != state {
            state = before[&state];
            chain.push(state);
        }
        chain.reverse();
        chain
    };
    let chain = met.map(|state| Chain {
        from_start: back(State { local: state.local & !1, ..state }),
        from_goal: back(State { local: state.local | 1, ..state }),
    });
    (found, chain)
}

/// Checks a search from a start to goals with symmetries against one without. Returns the states of
/// both.
fn check_goal(text: &str, options: &[(&str, &str)]) -> [usize; 2] {
    let with = |symmetry: &str| {
        let options = [options, &[("symmetry", symmetry)]].concat();
        Permutation::open(&parameters(text, &options)).unwrap()
    };
    let off = Keyed::new(with("off")).unwrap();
    let on = Keyed::new(with("on")).unwrap();
    let (all, shortest) = from_both_ends(&off);
    let (folded, chain) = from_both_ends(&on);
    let figures = |layers: &[Layer]| -> Vec<(u64, Digest)> {
        layers.iter().map(|layer| (layer.1, layer.2)).collect()
    };
    assert_eq!(figures(&folded), figures(&all), "{options:?}");
    assert_eq!(chain.is_some(), shortest.is_some());
    if let (Some(chain), Some(shortest)) = (chain, shortest) {
        let path = on.space().positions_along(&on, &chain).unwrap();
        let expected = off.space().positions_along(&off, &shortest).unwrap();
        assert_eq!(path.len(), expected.len(), "{options:?}");
        assert_eq!(on.space().moves_along(&on, &chain).unwrap().len(), path.len() - 1);
        assert_eq!(off.space().moves_between(&path).unwrap().len(), path.len() - 1);
        let ends: Vec<String> = off.seeds().into_iter().map(|seed| off.text(seed)).collect();
        assert_eq!(path[0], ends[0]);
        assert!(ends[1..].contains(path.last().unwrap()), "{path:?} of {options:?}");
    }
    [folded, all].map(|layers| layers.iter().map(|layer| layer.0).sum())
}

#[test]
fn only_symmetries_that_keep_start_and_goals_are_used() {
    let cube = include_str!("../../../data/2x2x2.tws");
    let moves = ("moves", "U2,F2,R2");
    // All six symmetries keep no goal but those on the axis.
    for (start, goal) in [
        ("solved", "U2"),
        ("solved", "U2 F2"),
        ("solved", "U2 F2 R2 U2"),
        ("U2", "R2"),
        ("U2 R2", "solved"),
        ("U2", "U2"),
    ] {
        let [folded, all] = check_goal(cube, &[moves, ("start", start), ("goal", goal)]);
        assert!(folded <= all);
    }
    // A goal that equals its mirror image, goals that are images of one another, and goals of which one is
    // not an image of the others.
    let ring = "# ring\na = (1,2)\nb = (2,3)\nc = (3,4)\nd = (4,1)\n";
    let check = |start: &str, goal: &str| check_goal(ring, &[("start", start), ("goal", goal)]);
    let [folded, all] = check("solved", "2 1 4 3");
    assert!(folded * 3 < all * 2, "{folded} {all}");
    let [folded, all] = check("solved", &file_value("2 1 3 4\n1 3 2 4\n1 2 4 3\n4 2 3 1\n"));
    assert!(folded * 3 <= all, "{folded} {all}");
    let [folded, all] = check("solved", &file_value("2 1 3 4\n1 3 2 4\n1 2 4 3\n"));
    assert!(folded < all && folded * 2 >= all, "{folded} {all}");
    let [folded, all] = check("solved", "2 3 4 1");
    assert!(folded < all);
    let [folded, all] = check("3 1 4 2", "? ? ? ?");
    assert!(folded * 3 <= all, "{folded} {all}");
}

#[test]
fn unreachable_goals_give_the_same_result_with_symmetries() {
    // Even permutations only: the goal is odd.
    let even = "# even\na = (1,2,3)\nb = (3,4,5)\n";
    for goal in ["2 1 3 4 5", "1 2 3 5 4", "1 2 3 4 5", "2 3 1 5 4", "1 2 ? ? ?"] {
        for moves in ["a,b", "a"] {
            let options = [("inverses", "true"), ("moves", moves), ("goal", goal)];
            if Permutation::open(&parameters(even, &options)).is_ok() {
                check_goal(even, &options);
            }
        }
    }
    // A goal of another orbit of states, with pieces that look alike.
    check_goal(texts::SHUFFLED, &[("goal", "A 3 1 2 4 5 / 1 0 2 0 0")]);
    check_goal(texts::SETS, &[("goal", "CORNERS 2 1 3 / 1 0 1; EDGES 1 3 2 4")]);
    check_goal(texts::RING, &[("goal", "A 7 7 1 1 2 2")]);
    check_goal(texts::RING, &[("start", "A 7 1 2 1 2 7"), ("goal", "A 2 2 1 1 7 7")]);
}

#[test]
fn alike_pieces_in_a_dense_form_and_too_many_symmetries_are_refused() {
    let on = ("symmetry", "on");
    let puzzle = Permutation::open(&parameters(texts::RING, &[on])).unwrap();
    for error in [puzzle.dense_size().unwrap_err(), puzzle.dense().unwrap_err()] {
        let text = error.to_string();
        let why = "with `symmetry` on it takes puzzles whose pieces all differ";
        assert!(matches!(error, SpaceError::Conflict { .. }) && text.contains(why), "{text}");
    }
    puzzle.check_explicit().unwrap();
    // All swaps of seven: 7! symmetries.
    let swaps: Vec<String> =
        (2..=7).flat_map(|b| (1..b).map(move |a| format!("({a},{b})\n"))).collect();
    let error = Permutation::open(&parameters(&swaps.concat(), &[on])).unwrap_err();
    assert_refused(&error, "more than 1024 symmetries");
    Permutation::open(&parameters(&swaps.concat(), &[])).unwrap();
}

#[test]
fn a_dense_form_is_folded_where_that_saves_half_of_its_memory() {
    let cube = include_str!("../../../data/2x2x2.tws");
    let open = |text: &str, options: &[(&str, &str)]| {
        let puzzle = Permutation::open(&parameters(text, options)).unwrap();
        (puzzle.dense_size().unwrap(), puzzle.dense().unwrap())
    };
    let on = ("symmetry", "on");
    let (size, space) = open(cube, &[("moves", "F,U,R"), on]);
    assert!(matches!(size.folding, DenseFolding::On { .. }), "{size:?}");
    assert!(space.tables().is_folded() && 2 * size.states <= 3_674_160);
    // Without symmetry, and where too little is saved, every state is stored.
    let (size, space) = open(cube, &[("moves", "F,U,R")]);
    assert_eq!((size.folding, size.states), (DenseFolding::Off, 3_674_160));
    assert!(!space.tables().is_folded());
    for text in ["a = (1,2,3)\nb = (3,4,5)\n", "a = (1,2)\nb = (2,3,4,5,6,7)\n"] {
        let (size, space) = open(text, &[("inverses", "true"), on]);
        assert_eq!(size.folding, DenseFolding::Unused);
        assert!(!space.tables().is_folded());
        assert_eq!(size.states, space.tables().shape().states());
    }
}

fn assert_refused(error: &SpaceError, why: &str) {
    let text = error.to_string();
    assert!(matches!(error, SpaceError::Conflict { .. }), "{text}");
    assert!(text.starts_with("symmetry cannot have this value: ") && text.contains(why), "{text}");
}

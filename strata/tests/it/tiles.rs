//! Tests of sliding tiles: known spaces, layers and digests independent of k, workers and threads,
//! and distances compared with a plain search.

use crate::drive;

use std::collections::HashMap;

use drive::{Outcome, SearchSetup, search};
use strata_run::catalogue::{Parameters, Registry, Space};
use strata_space::{Digest, StateSpace};

use crate::reference::search::layers_of;
use crate::reference::tiles::{image, orbits};

/// Several workers with little memory and an unreliable exchange of exits.
fn hard_setup() -> SearchSetup {
    let (inbox_memory, unreliable) = (Some(20_000), true);
    SearchSetup { workers: 3, threads: 2, inbox_memory, unreliable, ..SearchSetup::default() }
}

fn open(pairs: &[(&str, &str)]) -> Space {
    let given = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Registry::shipped().open("tiles", &given.collect::<Parameters>()).unwrap()
}

fn run(setup: SearchSetup, pairs: &[(&str, &str)]) -> Outcome {
    search(setup, |shards| open(pairs).engine(shards))
}

fn exhaust(size: &str, more: &[(&str, &str)]) -> Outcome {
    run(SearchSetup::default(), &[&[("size", size), ("exhaust", "true")], more].concat())
}

#[test]
fn known_spaces_are_listed() {
    for (size, states, radius) in
        [("2x2", 12, 6), ("2x3", 360, 21), ("3x2", 360, 21), ("2x4", 20_160, 36)]
    {
        let layers = exhaust(size, &[("symmetry", "off")]).states();
        assert_eq!((layers.iter().sum::<u64>(), layers.len() - 1), (states, radius), "{size}");
    }
    // From a blank in a corner: OEIS A089473.
    let known = [
        1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1_024, 1_893, 2_512, 4_485, 5_638,
        9_529, 10_878, 16_993, 17_110, 23_952, 20_224, 24_047, 15_578, 14_560, 6_274, 3_910, 760,
        221, 2,
    ];
    assert_eq!(known.iter().sum::<u64>(), 181_440);
    assert_eq!(exhaust("3x3", &[("symmetry", "off")]).states(), known);
    let layers = exhaust("2x5", &[]).states();
    assert_eq!((layers.iter().sum::<u64>(), layers.len() - 1), (1_814_400, 55));
}

#[test]
fn a_layer_has_as_many_states_as_orbits_and_the_digest_of_its_boards() {
    for (size, start, text) in [
        ("2x2", &[1, 2, 3, 0][..], "1 2 / 3 _"),
        ("3x3", &[1, 2, 3, 4, 5, 6, 7, 8, 0], "1 2 3 / 4 5 6 / 7 8 _"),
        ("3x3", &[8, 1, 3, 4, 0, 2, 7, 6, 5], "8 1 3 / 4 _ 2 / 7 6 5"),
    ] {
        let (orbits, all): (Vec<u64>, Vec<u64>) = orbits(start, usize::MAX).into_iter().unzip();
        let given = |symmetry| [("start", text), ("symmetry", symmetry)];
        let (off, on) = (exhaust(size, &given("off")), exhaust(size, &given("on")));
        assert_eq!((off.states(), on.states()), (all, orbits), "{text}");
        let boards = |outcome: &Outcome| -> Vec<(Digest, u64)> {
            outcome.layers.iter().map(|layer| (layer.digest, layer.positions)).collect()
        };
        assert_eq!(boards(&on), boards(&off), "{text}");
        assert!(off.layers.iter().all(|layer| layer.positions == layer.states), "{text}");

        let setup = hard_setup();
        for k in ["1", "2", "3"] {
            let given = [&given("on")[..], &[("size", size), ("exhaust", "true"), ("k", k)]];
            assert_eq!(run(setup, &given.concat()).layers, on.layers, "{text}, k = {k}");
        }
    }
}

#[test]
fn symmetric_ends_are_as_far_apart_without_symmetry() {
    let sorted = [1, 2, 3, 4, 5, 6, 7, 8, 0];
    let space = open(&[("size", "3x3"), ("exhaust", "true"), ("symmetry", "off")]);
    let read = |text: &str| -> Vec<u8> {
        let tokens = text.split_whitespace().filter(|token| *token != "/");
        tokens.map(|token| token.parse().unwrap_or(0)).collect()
    };
    let distances = distances(space.state_space());
    let is_fixed = |board: &Vec<u8>| image(&sorted, board) == *board;
    let mut goals: Vec<&String> = distances.keys().filter(|goal| is_fixed(&read(goal))).collect();
    // Three squares for the blank, two for the tiles that keep their names, three pairs of squares
    // for three pairs of tiles in 3! · 2^3 ways; half of them can be reached.
    assert_eq!(goals.len(), 144);
    goals.sort_unstable();
    for goal in goals.into_iter().step_by(9) {
        for symmetry in ["on", "off"] {
            let ends = [("size", "3x3"), ("goal", goal), ("symmetry", symmetry)];
            assert_eq!(
                run(SearchSetup::default(), &ends).moves,
                Some(distances[goal]),
                "{goal} {symmetry}"
            );
        }
    }
}

#[test]
fn layers_depend_neither_on_the_layout_nor_on_the_setup() {
    let given = [("start", "1 2 3 / 4 _ 5 / 6 7 8"), ("symmetry", "off")];
    let usual = exhaust("3x3", &given).layers;
    assert_eq!(usual.iter().map(|layer| layer.states).sum::<u64>(), 181_440);
    for k in ["1", "2", "4"] {
        let other = exhaust("3x3", &[&given[..], &[("k", k)]].concat()).layers;
        assert_eq!(other, usual, "k = {k}");
    }
    let setup = hard_setup();
    let pairs = [("size", "3x3"), ("exhaust", "true"), ("k", "3")];
    assert_eq!(run(setup, &[&given[..], &pairs].concat()).layers, usual);
}

/// Distances from the start to all boards, over texts.
fn distances(space: &dyn StateSpace) -> HashMap<String, u32> {
    let layers = layers_of(&space.seeds()[..1], usize::MAX, |state| {
        let mut next = Vec::new();
        space.moves(*state, &mut next);
        next
    });
    let layers = (0..).zip(&layers);
    layers
        .flat_map(|(depth, layer)| layer.iter().map(move |state| (space.text(*state), depth)))
        .collect()
}

#[test]
fn both_ends_meet_after_as_many_moves() {
    let start = "4 _ 1 / 5 3 2";
    let space = open(&[("size", "2x3"), ("start", start), ("exhaust", "true")]);
    let distances = distances(space.state_space());
    assert_eq!(distances.len(), 360);
    for (goal, distance) in distances {
        let ends = [("size", "2x3"), ("start", start), ("goal", &goal), ("k", "2")];
        assert_eq!(run(SearchSetup::default(), &ends).moves, Some(distance), "{goal}");
    }
    // One of the two boards that are farthest from the usual goal.
    let found = run(SearchSetup::default(), &[("size", "3x3"), ("start", "8 6 7 / 2 5 4 / 3 _ 1")]);
    assert_eq!(found.moves, Some(31));
}

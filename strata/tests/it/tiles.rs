//! Tests of sliding tiles: known spaces, layers and digests independent of k, workers and threads,
//! and distances compared with a plain search.

use crate::drive;

use std::collections::{HashMap, VecDeque};

use drive::{Outcome, SearchSetup, search};
use strata_run::catalogue::{Parameters, Registry};
use strata_space::{Digest, StateSpace};

fn run(setup: SearchSetup, pairs: &[(&str, &str)]) -> Outcome {
    let given = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let parameters: Parameters = given.collect();
    search(setup, |shards| Registry::shipped().open("tiles", &parameters).unwrap().engine(shards))
}

fn exhaust(size: &str, more: &[(&str, &str)]) -> Outcome {
    run(SearchSetup::default(), &[&[("size", size), ("exhaust", "true")], more].concat())
}

#[test]
fn known_spaces_are_listed() {
    for (size, states, radius) in [
        ("2x2", 12, 6),
        ("2x3", 360, 21),
        ("3x2", 360, 21),
        ("2x4", 20_160, 36),
        ("3x3", 181_440, 31),
    ] {
        let layers = exhaust(size, &[("symmetry", "off")]).states();
        assert_eq!((layers.iter().sum::<u64>(), layers.len() - 1), (states, radius), "{size}");
        if size == "3x3" {
            assert_eq!((layers[24], layers[31]), (24_047, 2));
        }
    }
    let layers = exhaust("2x5", &[]).states();
    assert_eq!((layers.iter().sum::<u64>(), layers.len() - 1), (1_814_400, 55));
}

/// The image of a board of side 3 or less under the transposition that fixes `start`.
fn image(start: &[u8], board: &[u8]) -> Vec<u8> {
    let side = if board.len() == 4 { 2 } else { 3 };
    let transposed = |at: usize| at % side * side + at / side;
    let renamed = |tile: u8| {
        let at = start.iter().position(|at| *at == tile).unwrap();
        start[transposed(at)]
    };
    (0..board.len()).map(|at| renamed(board[transposed(at)])).collect()
}

/// The number of boards and of orbits under a transposition in every layer, by a plain search.
fn orbits(start: &[u8]) -> Vec<(u64, u64)> {
    let side = if start.len() == 4 { 2 } else { 3 };
    let mut depths = HashMap::from([(start.to_vec(), 0)]);
    let mut queue = VecDeque::from([start.to_vec()]);
    let mut counts: Vec<(u64, u64)> = Vec::new();
    while let Some(board) = queue.pop_front() {
        let depth = depths[&board];
        counts.resize(counts.len().max(depth + 1), (0, 0));
        counts[depth].0 += 1;
        // Each orbit is counted once, at its smaller board.
        counts[depth].1 += u64::from(board <= image(start, &board));
        let blank = board.iter().position(|tile| *tile == 0).unwrap();
        let (row, column) = (blank / side, blank % side);
        let beside = [
            (row > 0).then(|| blank - side),
            (row + 1 < side).then_some(blank + side),
            (column > 0).then(|| blank - 1),
            (column + 1 < side).then_some(blank + 1),
        ];
        for to in beside.into_iter().flatten() {
            let mut next = board.clone();
            next.swap(blank, to);
            if !depths.contains_key(&next) {
                depths.insert(next.clone(), depth + 1);
                queue.push_back(next);
            }
        }
    }
    counts
}

#[test]
fn a_layer_has_as_many_states_as_orbits_and_the_digest_of_its_boards() {
    for (size, start, text) in [
        ("2x2", &[1, 2, 3, 0][..], "1 2 / 3 _"),
        ("3x3", &[1, 2, 3, 4, 5, 6, 7, 8, 0], "1 2 3 / 4 5 6 / 7 8 _"),
        ("3x3", &[8, 1, 3, 4, 0, 2, 7, 6, 5], "8 1 3 / 4 _ 2 / 7 6 5"),
    ] {
        let orbits = orbits(start);
        let given = |symmetry| [("start", text), ("symmetry", symmetry)];
        let (off, on) = (exhaust(size, &given("off")), exhaust(size, &given("on")));
        let expected: Vec<u64> = orbits.iter().map(|(boards, _)| *boards).collect();
        assert_eq!(off.states(), expected, "{text}");
        let expected: Vec<u64> = orbits.iter().map(|(_, orbits)| *orbits).collect();
        assert_eq!(on.states(), expected, "{text}");
        let boards = |outcome: &Outcome| -> Vec<(Digest, u64)> {
            outcome.layers.iter().map(|layer| (layer.digest, layer.positions)).collect()
        };
        assert_eq!(boards(&on), boards(&off), "{text}");
        assert!(off.layers.iter().all(|layer| layer.positions == layer.states), "{text}");

        let setup = SearchSetup {
            workers: 3,
            threads: 2,
            inbox_memory: Some(20_000),
            unreliable: true,
            ..SearchSetup::default()
        };
        for k in ["1", "2", "3"] {
            let given = [&given("on")[..], &[("size", size), ("exhaust", "true"), ("k", k)]];
            assert_eq!(run(setup, &given.concat()).layers, on.layers, "{text}, k = {k}");
        }
    }
}

#[test]
fn symmetric_ends_are_as_far_apart_without_symmetry() {
    let sorted = [1, 2, 3, 4, 5, 6, 7, 8, 0];
    let parameters: Parameters = [("size", "3x3"), ("exhaust", "true"), ("symmetry", "off")]
        .map(|(a, b)| (a.into(), b.into()))
        .into();
    let space = Registry::shipped().open("tiles", &parameters).unwrap();
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
    let setup = SearchSetup {
        workers: 3,
        threads: 2,
        inbox_memory: Some(20_000),
        unreliable: true,
        ..SearchSetup::default()
    };
    let pairs = [("size", "3x3"), ("exhaust", "true"), ("k", "3")];
    assert_eq!(run(setup, &[&given[..], &pairs].concat()).layers, usual);
}

/// Distances from a board to all others, over texts.
fn distances(space: &dyn StateSpace) -> HashMap<String, u32> {
    let first = space.seeds()[0];
    let mut depths = HashMap::from([(space.text(first), 0)]);
    let mut queue = VecDeque::from([(first, 0)]);
    let mut moves = Vec::new();
    while let Some((state, depth)) = queue.pop_front() {
        moves.clear();
        space.moves(state, &mut moves);
        for next in &moves {
            if let std::collections::hash_map::Entry::Vacant(new) = depths.entry(space.text(*next))
            {
                new.insert(depth + 1);
                queue.push_back((*next, depth + 1));
            }
        }
    }
    depths
}

#[test]
fn both_ends_meet_after_as_many_moves() {
    let start = "4 _ 1 / 5 3 2";
    let parameters: Parameters = [("size", "2x3"), ("start", start), ("exhaust", "true")]
        .map(|(a, b)| (a.into(), b.into()))
        .into();
    let space = Registry::shipped().open("tiles", &parameters).unwrap();
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

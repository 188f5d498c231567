//! Sliding tiles by tables: the known spaces, layers and digests that depend neither on the layout
//! nor on who searches, and distances compared with a plain search.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod drive;

use std::collections::{HashMap, VecDeque};

use drive::{Crew, Outcome, search};
use strata_search::Engine;
use strata_space::StateSpace;
use strata_space::catalogue::{Parameters, Space};

fn run(crew: Crew, pairs: &[(&str, &str)]) -> Outcome {
    let given = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let parameters: Parameters = given.collect();
    search(crew, |shards| Engine::open(Space::open("tiles", &parameters).unwrap(), shards))
}

fn exhaust(size: &str, more: &[(&str, &str)]) -> Outcome {
    run(Crew::default(), &[&[("size", size), ("exhaust", "true")], more].concat())
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
        let layers = exhaust(size, &[]).states();
        assert_eq!((layers.iter().sum::<u64>(), layers.len() - 1), (states, radius), "{size}");
        if size == "3x3" {
            assert_eq!((layers[24], layers[31]), (24_047, 2));
        }
    }
    let layers = exhaust("2x5", &[]).states();
    assert_eq!((layers.iter().sum::<u64>(), layers.len() - 1), (1_814_400, 55));
}

#[test]
fn layers_depend_neither_on_the_layout_nor_on_the_crew() {
    let usual = exhaust("3x3", &[("start", "1 2 3 / 4 _ 5 / 6 7 8")]).layers;
    assert_eq!(usual.iter().map(|layer| layer.states).sum::<u64>(), 181_440);
    for k in ["1", "2", "4"] {
        let other = exhaust("3x3", &[("start", "1 2 3 / 4 _ 5 / 6 7 8"), ("k", k)]).layers;
        assert_eq!(other, usual, "k = {k}");
    }
    let crew =
        Crew { workers: 3, threads: 2, inbox_memory: Some(20_000), shred: true, ..Crew::default() };
    let pairs =
        [("size", "3x3"), ("exhaust", "true"), ("start", "1 2 3 / 4 _ 5 / 6 7 8"), ("k", "3")];
    assert_eq!(run(crew, &pairs).layers, usual);
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
    let Space::Tiles(space) = Space::open("tiles", &parameters).unwrap() else { panic!("tiles") };
    let distances = distances(&*space);
    assert_eq!(distances.len(), 360);
    for (goal, distance) in distances {
        let ends = [("size", "2x3"), ("start", start), ("goal", &goal), ("k", "2")];
        assert_eq!(run(Crew::default(), &ends).moves, Some(distance), "{goal}");
    }
    // One of the two boards that are farthest from the usual goal.
    let found = run(Crew::default(), &[("size", "3x3"), ("start", "8 6 7 / 2 5 4 / 3 _ 1")]);
    assert_eq!(found.moves, Some(31));
}

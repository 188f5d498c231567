//! Tests of the tiles space, compared with moves on plain boards.

use std::collections::{BTreeSet, HashMap};

use super::*;
use strata_space::Digest;

fn open(size: &str, start: &str, k: Option<u8>) -> Tiles {
    let start = Board::parse(Shape::parse(size).unwrap(), start).unwrap();
    Tiles::new(TilesConfig { start, goal: None, k, symmetry: false }).unwrap()
}

/// The same with symmetric boards identified.
fn symmetric(size: &str, start: &str, k: Option<u8>) -> Tiles {
    Tiles::new(TilesConfig { symmetry: true, ..open(size, start, k).config }).unwrap()
}

fn goal(size: &str) -> Board {
    Board::goal(Shape::parse(size).unwrap())
}

/// Layers of a plain search over texts of boards, to a depth.
fn plain(size: &str, from: &Board, depth: usize) -> Vec<Vec<String>> {
    let (rows, columns) = size.split_once('x').unwrap();
    let (rows, columns): (i32, i32) = (rows.parse().unwrap(), columns.parse().unwrap());
    let neighbours = |text: &str| {
        let tokens: Vec<&str> = text.split_whitespace().filter(|token| *token != "/").collect();
        let blank = tokens.iter().position(|token| *token == "_").unwrap() as i32;
        let mut found = Vec::new();
        for (down, right) in [(-1, 0), (0, 1), (1, 0), (0, -1)] {
            let (row, column) = (blank / columns + down, blank % columns + right);
            if (0..rows).contains(&row) && (0..columns).contains(&column) {
                let mut tokens = tokens.clone();
                tokens.swap(blank as usize, (row * columns + column) as usize);
                let rows = tokens.chunks(columns as usize).map(|row| row.join(" "));
                found.push(rows.collect::<Vec<_>>().join(" / "));
            }
        }
        found
    };
    let mut depths = HashMap::from([(from.to_string(), 0)]);
    let mut layers = vec![vec![from.to_string()]];
    loop {
        let mut next = Vec::new();
        for text in &layers[layers.len() - 1] {
            for other in neighbours(text) {
                if !depths.contains_key(&other) {
                    depths.insert(other.clone(), layers.len());
                    next.push(other);
                }
            }
        }
        layers.push(next);
        if layers.len() > depth {
            return layers;
        }
    }
}

#[test]
fn states_are_boards_and_moves_are_those_of_boards() {
    for (size, k, radius) in
        [("2x2", 1, 6), ("2x2", 3, 6), ("2x3", 2, 21), ("3x2", 3, 21), ("2x4", 2, 36)]
    {
        let space = open(size, &goal(size).to_string(), Some(k));
        let layers = plain(size, &goal(size), radius);
        let mut here: Vec<State> = space.seeds();
        let mut before: Vec<State> = Vec::new();
        for layer in layers {
            let mut texts: Vec<String> = here.iter().map(|state| space.text(*state)).collect();
            texts.sort();
            let mut expected = layer.clone();
            expected.sort();
            assert_eq!(texts, expected, "{size}");
            let mut next = Vec::new();
            for state in &here {
                assert_eq!(space.state(&space.reading(*state), state.side()), *state);
                space.moves(*state, &mut next);
            }
            next.sort_unstable();
            next.dedup();
            next.retain(|state| !here.contains(state) && !before.contains(state));
            before = std::mem::replace(&mut here, next);
        }
        assert!(here.is_empty());
    }
}

/// Compares tables and moves on a walk from the seed. Returns how many moves were scattered.
fn walk(space: &Tiles, side: u32) -> usize {
    let mut state = space.seeds()[0];
    state.local ^= u128::from(side);
    let (mut seed, mut scattered) = (7u64, 0);
    for _ in 0..3_000 {
        let mut moves = Vec::new();
        space.moves(state, &mut moves);
        let index = state.narrow() >> 1;
        let open = space.legal_moves(&(), index);
        assert_eq!(open.inside & open.exits, 0);
        let mut tabled = Vec::new();
        for kind in 0..Tiles::MOVE_KINDS {
            if open.inside >> kind & 1 == 1 {
                let local = space.neighbour(index, kind) << 1 | side;
                tabled.push(State::new(state.region, local));
            } else if open.exits >> kind & 1 == 1 {
                let edge = space.exit_edge(index, kind);
                assert!(edge < space.exit_edges());
                assert_eq!(space.exit_kind(edge), kind);
                if edge >= space.first_scattering_edge() {
                    space.scatter(state.region, edge, &[state.narrow()], &mut tabled);
                    scattered += 1;
                    continue;
                }
                let region = space.edge_target(state.region, edge).region;
                assert_ne!(region, state.region);
                tabled.push(State::new(region, space.transfer(index, edge, 0) | side));
            } else {
                assert_eq!(space.neighbour(index, kind), index);
            }
        }
        let inside = space.inside_successors(&(), index).first;
        assert_eq!(inside, [0, 1, 2, 3].map(|kind| space.neighbour(index, kind)));
        moves.sort_unstable();
        tabled.sort_unstable();
        assert_eq!(tabled, moves, "{}", space.text(state));
        assert!(moves.iter().all(|at| space.canonical(&space.reading(*at), side) == *at));
        seed = mix(seed);
        state = moves[seed as usize % moves.len()];
    }
    scattered
}

#[test]
fn links_are_the_inside_moves_along_the_order() {
    for (size, k) in [("3x3", 3), ("3x4", 4), ("4x4", 2)] {
        let space =
            Tiles::new(TilesConfig { start: goal(size), goal: None, k: Some(k), symmetry: false })
                .unwrap();
        let links = space.links(&()).unwrap();
        assert_eq!(links.len(), space.indices().div_ceil(64) as usize);
        let is_linked = |index: u32| {
            links.get(index as usize / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
        };
        for index in 0..space.indices() {
            let [before, after, across, other] = space.inside_successors(&(), index).first;
            assert_eq!(before, index - u32::from(is_linked(index)));
            assert_eq!(after, index + u32::from(is_linked(index + 1)));
            assert!([across, other].iter().all(|next| next.abs_diff(index) != 1));
        }
    }
    let start = "8 1 3 / 4 _ 2 / 7 6 5";
    assert_eq!(symmetric("3x3", start, Some(3)).links(&()), None);
}

#[test]
fn tables_agree_with_moves() {
    for (size, start, k) in [
        ("2x2", "1 2 / 3 _", 2),
        ("3x3", "8 1 3 / 4 _ 2 / 7 6 5", 3),
        ("3x4", "5 2 11 4 / 1 10 7 8 / 9 6 3 _", 4),
        ("4x3", "5 2 11 / 4 1 10 / 7 8 9 / 6 3 _", 2),
        ("2x6", "5 2 11 4 1 10 / 7 8 9 6 3 _", 4),
        ("4x4", "5 15 11 4 / 1 10 7 8 / 13 6 3 _ / 14 2 9 12", 3),
    ] {
        assert_eq!(walk(&open(size, start, Some(k)), 1), 0);
    }
    for (size, start) in [
        ("2x2", "1 2 / 3 _"),
        ("3x3", "8 1 3 / 4 _ 2 / 7 6 5"),
        ("4x4", "_ 5 15 11 / 4 1 10 7 / 8 13 6 3 / 14 2 9 12"),
        ("5x5", "7 3 2 4 5 / 6 1 8 9 10 / 11 12 13 14 15 / 16 17 18 _ 20 / 21 22 23 24 19"),
    ] {
        for k in [1, max_k(Shape::parse(size).unwrap())] {
            let scattered = walk(&symmetric(size, start, Some(k)), u32::from(k & 1));
            assert!((1..6_000).contains(&scattered), "{size} {k} {scattered}");
        }
    }
}

#[test]
fn weights_do_not_depend_on_k() {
    let start = "5 2 11 4 / 1 10 7 8 / 9 6 3 _";
    let digest_of = |k: u8, side: u32| -> Digest {
        let space = open("3x4", start, Some(k));
        let mut states =
            vec![State { local: space.seeds()[0].local | u128::from(side), ..space.seeds()[0] }];
        space.moves(states[0], &mut states);
        states.into_iter().map(|state| space.weight(state)).sum()
    };
    assert_eq!(digest_of(1, 0), digest_of(4, 0));
    assert_eq!(digest_of(2, 1), digest_of(3, 1));
    assert_ne!(digest_of(2, 0), digest_of(2, 1));
}

/// The image of a text of a board, by the definition: transposed and renamed so that `start` is its
/// own image.
fn image(start: &str, text: &str) -> String {
    let rows = |text: &str| -> Vec<Vec<String>> {
        let rows = text.split('/');
        rows.map(|row| row.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let (start, board) = (rows(start), rows(text));
    let side = start.len();
    let squares = (0..side).flat_map(|row| (0..side).map(move |column| (row, column)));
    let names: HashMap<&str, &str> =
        squares.map(|(row, column)| (&*start[row][column], &*start[column][row])).collect();
    let row = |row: usize| {
        let tiles = (0..side).map(|column| names[&*board[column][row]]);
        tiles.collect::<Vec<_>>().join(" ")
    };
    (0..side).map(row).collect::<Vec<_>>().join(" / ")
}

#[test]
fn a_state_is_an_orbit_of_boards() {
    for (size, start, ks, depth) in [
        ("2x2", "1 2 / 3 _", &[1, 2, 3][..], 6),
        ("2x2", "_ 2 / 3 1", &[2], 6),
        ("3x3", "1 2 3 / 4 5 6 / 7 8 _", &[1, 5], 16),
        // Neither 1 nor 2 keeps its name, nor do they exchange theirs.
        ("3x3", "3 1 2 / 4 _ 5 / 6 7 8", &[2], 16),
    ] {
        let board = Board::parse(Shape::parse(size).unwrap(), start).unwrap();
        let layers = plain(size, &board, depth);
        for k in ks {
            let (all, space) = (open(size, start, Some(*k)), symmetric(size, start, Some(*k)));
            let (mut here, mut before) = (space.seeds(), Vec::new());
            for layer in &layers {
                let orbits = layer.iter().map(|text| text.min(&image(start, text)).clone());
                let orbits: BTreeSet<String> = orbits.collect();
                let texts: Vec<String> = here.iter().map(|state| space.text(*state)).collect();
                assert_eq!(texts.len(), orbits.len(), "{size} {k}");
                assert_eq!(texts.into_iter().collect::<BTreeSet<_>>(), orbits, "{size} {k}");
                let digest_of = |text: &String| {
                    let board = Board::parse(space.shape, text).unwrap();
                    all.weight(all.locate(&board, 0))
                };
                let weights = here.iter().map(|state| space.weight(*state));
                assert_eq!(weights.sum::<Digest>(), layer.iter().map(digest_of).sum());
                let mut next = Vec::new();
                here.iter().for_each(|state| space.moves(*state, &mut next));
                next.sort_unstable();
                next.dedup();
                next.retain(|state| {
                    here.binary_search(state).is_err() && before.binary_search(state).is_err()
                });
                before = std::mem::replace(&mut here, next);
            }
            assert_eq!(here.is_empty(), depth == 6, "{size} {k}");
        }
    }
}

#[test]
fn ends_must_be_fixed_by_one_transposition() {
    let fixes = |size: &str, start: &str, goal: Option<&str>| {
        let board = |text| Board::parse(Shape::parse(size).unwrap(), text).unwrap();
        let config =
            TilesConfig { start: board(start), goal: goal.map(board), k: None, symmetry: true };
        Tiles::new(config).unwrap().symmetry.is_some()
    };
    let sorted = "1 2 3 / 4 5 6 / 7 8 _";
    assert!(fixes("3x3", sorted, None) && fixes("3x3", sorted, Some(sorted)));
    assert!(fixes("3x3", "8 1 3 / 4 _ 2 / 7 6 5", None));
    // The blank is not on the diagonal.
    assert!(!fixes("3x3", "1 2 3 / 4 5 6 / 7 _ 8", None));
    assert!(!fixes("3x3", sorted, Some("1 2 3 / 4 5 6 / 7 _ 8")));
    // Each has one, but they rename tiles differently.
    assert!(!fixes("3x3", sorted, Some("2 1 3 / 4 5 6 / 8 7 _")));
    // The same pairs of tiles on other pairs of squares.
    assert!(fixes("3x3", sorted, Some("5 4 8 / 2 1 7 / 6 3 _")));
    assert!(!fixes("2x3", "1 2 3 / 4 5 _", None));
    // The symmetry is used only if it is requested.
    assert!(open("3x3", sorted, None).symmetry.is_none());
}

#[test]
fn unreachable_goals_and_wrong_k_are_refused() {
    let refused = |start: &str, goal: &str, k: Option<u8>| {
        let shape = Shape::parse("2x3").unwrap();
        let board = |text: &str| Board::parse(shape, text).unwrap();
        let config =
            TilesConfig { start: board(start), goal: Some(board(goal)), k, symmetry: true };
        Tiles::new(config).err().map(|error| error.to_string())
    };
    assert_eq!(refused("1 2 3 / 4 5 _", "_ 1 2 / 4 5 3", None), None);
    assert_eq!(
        refused("2 1 3 / 4 5 _", "1 2 3 / 4 5 _", None).unwrap(),
        "1 2 3 / 4 5 _ cannot be reached from 2 1 3 / 4 5 _: an odd permutation of the tiles \
         lies between"
    );
    let error = refused("1 2 3 / 4 5 _", "_ 1 2 / 4 5 3", Some(6)).unwrap();
    assert_eq!(error, "k must be between 1 and 5, not 6");
    let k = |size: &str| max_k(Shape::parse(size).unwrap());
    assert_eq!([k("2x2"), k("3x3"), k("3x4"), k("4x4"), k("5x5"), k("2x12")], [3, 5, 4, 3, 2, 2]);
}

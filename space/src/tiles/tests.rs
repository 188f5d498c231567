//! The space against plain boards.

use std::collections::HashMap;

use super::*;
use crate::Digest;

fn open(size: &str, start: &str, k: Option<u8>) -> Tiles {
    let start = Board::parse(Shape::parse(size).unwrap(), start).unwrap();
    Tiles::new(TilesConfig { start, goal: None, k }).unwrap()
}

fn goal(size: &str) -> Board {
    Board::goal(Shape::parse(size).unwrap())
}

/// Layers of a plain search over texts of boards: their number, and each one's texts.
fn plain(size: &str, from: &Board) -> Vec<Vec<String>> {
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
        if next.is_empty() {
            return layers;
        }
        layers.push(next);
    }
}

#[test]
fn states_are_boards_and_moves_are_those_of_boards() {
    for (size, k) in [("2x2", 1), ("2x2", 3), ("2x3", 2), ("3x2", 3), ("2x4", 2)] {
        let space = open(size, &goal(size).to_string(), Some(k));
        let layers = plain(size, &goal(size));
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
                assert_eq!(space.locate(&space.board(*state), state.local & 1), *state);
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

#[test]
fn tables_say_what_moves_do() {
    for (size, start, k) in [
        ("2x2", "1 2 / 3 _", 2),
        ("3x3", "8 1 3 / 4 _ 2 / 7 6 5", 3),
        ("3x4", "5 2 11 4 / 1 10 7 8 / 9 6 3 _", 4),
        ("4x3", "5 2 11 / 4 1 10 / 7 8 9 / 6 3 _", 2),
        ("2x6", "5 2 11 4 1 10 / 7 8 9 6 3 _", 4),
        ("4x4", "5 15 11 4 / 1 10 7 8 / 13 6 3 _ / 14 2 9 12", 3),
    ] {
        let space = open(size, start, Some(k));
        let mut state = State { local: space.seeds()[0].local | 1, ..space.seeds()[0] };
        let mut seed = 7u64;
        for _ in 0..3_000 {
            let mut moves = Vec::new();
            space.moves(state, &mut moves);
            let (index, side) = (state.local >> 1, state.local & 1);
            let open = space.open(&(), index);
            assert_eq!(open.inside & open.exits, 0);
            let mut tabled = Vec::new();
            for door in 0..Tiles::DOORS {
                if open.inside >> door & 1 == 1 {
                    let local = space.neighbour(index, door) << 1 | side;
                    tabled.push(State { local, ..state });
                } else if open.exits >> door & 1 == 1 {
                    let gate = space.gate(index, door);
                    assert!(gate < space.gates());
                    let region = space.crossing(state.region, gate).target;
                    assert_ne!(region, state.region);
                    tabled.push(State { region, local: space.carry(index, gate, 0) | side });
                } else {
                    assert_eq!(space.neighbour(index, door), index);
                }
            }
            let inside = space.inside(&(), index).first;
            assert_eq!(inside, [0, 1, 2, 3].map(|door| space.neighbour(index, door)));
            moves.sort_unstable();
            tabled.sort_unstable();
            assert_eq!(tabled, moves, "{}", space.text(state));
            seed = mix(seed);
            state = moves[seed as usize % moves.len()];
        }
    }
}

#[test]
fn weights_do_not_depend_on_k() {
    let start = "5 2 11 4 / 1 10 7 8 / 9 6 3 _";
    let weigh = |k: u8, side: u32| -> Digest {
        let space = open("3x4", start, Some(k));
        let mut states = vec![State { local: space.seeds()[0].local | side, ..space.seeds()[0] }];
        space.moves(states[0], &mut states);
        states.into_iter().map(|state| space.weight(state)).sum()
    };
    assert_eq!(weigh(1, 0), weigh(4, 0));
    assert_eq!(weigh(2, 1), weigh(3, 1));
    assert_ne!(weigh(2, 0), weigh(2, 1));
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let refused = |start: &str, goal: &str, k: Option<u8>| {
        let shape = Shape::parse("2x3").unwrap();
        let board = |text: &str| Board::parse(shape, text).unwrap();
        let config = TilesConfig { start: board(start), goal: Some(board(goal)), k };
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

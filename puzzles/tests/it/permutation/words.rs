//! Tests of names of moves: a printed name is read as the same move.

use std::collections::HashSet;

use proptest::prelude::*;
use strata_puzzles::permutation::{Definition, Survey};
use strata_space::Puzzle;

use crate::permutation::open;

/// Names that are powers, inverses or brackets of others, or words of the command line.
const ODD: [&str; 40] = [
    "m", "m2", "m3", "m2'", "m'", "m''", "m^2", "m^-1", "m^-2", "m^", "^", "m22", "2", "12", "2m",
    "R[1..2]", "R", "(m)", "(m)2", "[m]", "[m", "m]", "m(", ".m", "m.", "..", "\"m\"", "\"m\"2",
    "\"", "m\"", "’", "m’", ":", "m:R", "/", "?", ";", "solved", "@m", "#m",
];

fn arranged(points: &[usize]) -> String {
    points.iter().map(|point| (point + 1).to_string()).collect::<Vec<_>>().join(" ")
}

fn file(moves: &[(String, Vec<usize>)]) -> String {
    let mut file = "Set A 6 1\n".to_owned();
    for (name, points) in moves {
        file += &format!("Move {name}\nA\n{}\nEnd\n", arranged(points));
    }
    file
}

/// The state that a text names as a goal.
fn goal(file: &str, text: &str) -> String {
    let opened = open(file, &[("goal", text)]);
    let opened = opened.unwrap_or_else(|error| panic!("{text}: {error}\n{file}"));
    let [_, goal] = opened.ends().unwrap_or_else(|| panic!("{text} is no state"));
    goal
}

/// Checks that all moves of a file are read as they are printed.
fn check(moves: &[(String, Vec<usize>)]) {
    let file = file(moves);
    let puzzle = open(&file, &[]).unwrap_or_else(|error| panic!("{error}\n{file}"));
    let words: Vec<String> = puzzle.move_names().map(str::to_owned).collect();
    assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len(), "{words:?}");
    let solved = arranged(&[0, 1, 2, 3, 4, 5]);
    for word in &words {
        let path = [solved.clone(), goal(&file, word)];
        assert_eq!(puzzle.moves_between(&path), Some(vec![word.clone()]), "{file}");
        let alone =
            open(&file, &[("moves", word)]).unwrap_or_else(|error| panic!("{error}\n{file}"));
        assert_eq!(alone.move_names().next(), Some(&**word), "{file}");
    }
    for pair in words.windows(2).step_by(5) {
        let [a, b] = pair else { unreachable!() };
        let path = [solved.clone(), goal(&file, a), goal(&file, &format!("{a} {b}"))];
        assert_eq!(puzzle.moves_between(&path), Some(pair.to_vec()), "{file}");
        for (text, plain) in [
            (format!("{a}, {b}"), format!("{a} {b}")),
            (format!("({a} {b})2'"), format!("({b})' ({a})' ({b})' ({a})'")),
            (format!("[{a}, {b}]"), format!("{a} {b} ({a})' ({b})'")),
            (format!("[{a}: {b}]^-1"), format!("{a} ({b})' ({a})'")),
        ] {
            assert_eq!(goal(&file, &text), goal(&file, &plain), "{text}\n{file}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_printed_word_is_read_as_its_moves(
        odd in proptest::sample::subsequence(ODD.to_vec(), 4..9),
        more in proptest::collection::hash_set("[mR12'^\\-\\[\\]().\"#@:?’é/;]{1,5}", 0..4),
        points in proptest::collection::vec(Just(vec![0, 1, 2, 3, 4, 5]).prop_shuffle(), 12),
    ) {
        let names: HashSet<String> = odd.into_iter().map(str::to_owned).chain(more).collect();
        let moves: Vec<(String, Vec<usize>)> = names.into_iter().zip(points).collect();
        prop_assume!(moves.iter().any(|(_, points)| !points.is_sorted()));
        check(&moves);
    }
}

#[test]
fn all_odd_names_at_once_are_read_as_they_are_printed() {
    // Rotations of six points by one, each followed by a swap: no two are equal.
    let pairs: Vec<_> = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b))).collect();
    let points = |number: usize| {
        let mut points: Vec<usize> = (0..6).map(|point| (point + 1 + number / 15) % 6).collect();
        let (first, second) = pairs[number % 15];
        points.swap(first, second);
        points
    };
    let moves = ODD.iter().enumerate().map(|(number, name)| ((*name).to_owned(), points(number)));
    check(&moves.collect::<Vec<_>>());
}

/// A cycle of four pieces, and one of five that has the name of its square.
const CLASH: &str =
    "Name amb\nSet P 8 1\nMove m\nP\n2 3 4 1 5 6 7 8\nEnd\nMove m2\nP\n1 2 3 5 6 7 8 4\nEnd\n";

#[test]
fn a_power_with_the_name_of_another_move_is_written_apart() {
    let puzzle = open(CLASH, &[]).unwrap();
    let names: Vec<&str> = puzzle.move_names().collect();
    assert_eq!(names, ["m", "m^2", "m'", "m2", "m2^2", "m2^-2", "m2^-1"]);
    let path = ["1 2 3 4 5 6 7 8", "3 4 1 2 5 6 7 8"].map(str::to_owned);
    assert_eq!(puzzle.moves_between(&path), Some(vec!["m^2".to_owned()]));
    assert_eq!(goal(CLASH, "m m"), goal(CLASH, "m^2"));
    assert_ne!(goal(CLASH, "m m"), goal(CLASH, "m2"));
    let survey = Survey::of(&Definition::read(CLASH).unwrap(), None, false).unwrap();
    assert_eq!(survey.clashes, ["m^2 is not written m2, which is another move"]);
    for (options, message) in [
        (
            ("moves", "m,m2'"),
            "moves must be names of moves, of which one could be m2^-1 or m^-2, not 'm2''",
        ),
        (
            ("goal", "m m2'"),
            "goal is not a state or a sequence of moves from the solved state: 'm2'' could be m2^-1 or m^-2: write which one is meant (column 3)",
        ),
    ] {
        assert_eq!(open(CLASH, &[options]).unwrap_err().to_string(), message);
    }
}

#[test]
fn powers_of_selected_powers_have_the_name_of_the_move() {
    let names = |moves: &str| {
        let puzzle = open("Set A 6 1\nMove m\nA\n2 3 4 5 6 1\nEnd\n", &[("moves", moves)]).unwrap();
        puzzle.move_names().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names("m^2"), ["m2", "m2'"]);
    assert_eq!(names("m'"), ["m'", "m2'", "m3", "m2", "m"]);
    let list = open("a = (1,2,3,4,5)\n", &[("moves", "a2"), ("inverses", "true")]).unwrap();
    assert_eq!(list.move_names().collect::<Vec<_>>(), ["a2", "a2'"]);
}

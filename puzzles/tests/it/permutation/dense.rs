//! Tests of dense forms: every layer, its digest, names of moves, texts, goals.

use proptest::prelude::*;
use strata_puzzles::permutation::{Lrx, Member, Pancake, Permutation};
use strata_space::dense::{DenseSpace, DenseState};
use strata_space::{Digest, KeySpace, Puzzle, SpaceError, file_value};

use crate::permutation::reference::Reference;
use crate::permutation::search::layers_of;
use crate::permutation::{layers, layers_of_keys, numbers, open};

/// Maximum number of states of a space whose edges are all checked.
const MOST_CHECKED: u64 = 20_000;

/// States of each layer around the start, and the digest, by numbers.
fn dense_layers(space: &dyn DenseSpace) -> Vec<(usize, Digest)> {
    let tables = space.tables();
    let successors = |state: &DenseState| tables.successors(*state).map(|(_, next)| next).collect();
    let layers = layers_of(&[tables.start()], usize::MAX, successors);
    let digest = |layer: &Vec<DenseState>| layer.iter().map(|state| space.weight(*state)).sum();
    layers.iter().map(|layer| (layer.len(), digest(layer))).collect()
}

/// Checks a puzzle's dense form against the counts of its layers, and against its keys.
pub(crate) fn check_dense<P: Puzzle + KeySpace>(puzzle: &P, expected: &[usize]) {
    let space = match puzzle.dense() {
        Ok(space) => space,
        Err(error) => {
            assert!(error.to_string().contains("illegal"), "{error}");
            assert_eq!(puzzle.dense_size().unwrap_err().to_string(), error.to_string());
            return;
        }
    };
    let tables = space.tables();
    let (counts, found): (Vec<usize>, Vec<Digest>) = dense_layers(&*space).into_iter().unzip();
    assert_eq!(counts, expected);
    let by_keys = layers_of_keys(puzzle).into_iter().map(|layer| puzzle.digest(&layer));
    assert!(by_keys.eq(found));
    let size = puzzle.dense_size().unwrap();
    assert_eq!(size.shape, tables.shape());
    assert_eq!(size.is_undirected, tables.is_undirected());
    assert!(size.table_bytes >= tables.bytes() as u64 / 2, "{size:?} {}", tables.bytes());
    assert_eq!(space.text(tables.start()), puzzle.text(puzzle.seeds()[0].key()));
    if tables.shape().states() <= MOST_CHECKED {
        tables.check_converses().unwrap();
    }
    check_texts(&*space, puzzle);
}

/// States as texts, and edges as moves between them.
fn check_texts<P: Puzzle>(space: &dyn DenseSpace, puzzle: &P) {
    let tables = space.tables();
    let mut state = tables.start();
    for step in 0..50 {
        let text = space.text(state);
        assert_eq!(space.parse(&text), Some(state), "{text}");
        let next: Vec<_> = tables.successors(state).collect();
        for (_, after) in &next {
            let path = [text.clone(), space.text(*after)];
            assert!(puzzle.moves_between(&path).is_some(), "{path:?}");
        }
        state = next[step * 7 % next.len()].1;
    }
}

#[test]
fn moves_keep_their_order_and_names() {
    let puzzle =
        open(include_str!("../../../data/pyraminx.tws"), &[("metric", "quarter")]).unwrap();
    let space = puzzle.dense().unwrap();
    let tables = space.tables();
    let names: Vec<&str> = puzzle.move_names().collect();
    let mut state = tables.start();
    for step in 0..200 {
        let next: Vec<_> = tables.successors(state).collect();
        assert_eq!(next.len(), names.len());
        for (number, after) in &next {
            let path = [space.text(state), space.text(*after)];
            assert_eq!(puzzle.moves_between(&path), Some(vec![names[*number].to_owned()]));
        }
        state = next[step * 5 % next.len()].1;
    }
}

fn refusal(content: &str) -> String {
    open(content, &[]).unwrap().dense().unwrap_err().to_string()
}

#[test]
fn the_error_for_a_missing_dense_form_has_the_reason() {
    let illegal = "Set A 4 1\nSolved\nA\n1 2 3 4\nEnd\nMove L\nA\n2 3 4 1\nEnd\nIllegal A 4 1\n";
    assert!(refusal(illegal).contains("illegal"), "{}", refusal(illegal));
    let error = pancakes(17).dense_size().unwrap_err().to_string();
    assert!(error.contains("2^32 blocks or more"), "{error}");
    // Two of 15 pancakes look alike.
    let list = |numbers: Vec<usize>| numbers.iter().map(|n| format!(" {n}")).collect::<String>();
    let solved = list([1].into_iter().chain(1..15).collect());
    let flip = |size: usize| {
        let images = list((1..=size).rev().chain(size + 1..16).collect());
        format!("Move F{size}\nA\n{images}\nEnd\n")
    };
    let flips: String = (2..=15).map(flip).collect();
    let alike = open(&format!("Set A 15 1\nSolved\nA\n{solved}\nEnd\n{flips}"), &[]).unwrap();
    let error = alike.dense_size().unwrap_err().to_string();
    assert!(error.contains("bytes, more than"), "{error}");
    let error = alike.dense().err().unwrap().to_string();
    assert!(error.contains("bytes, more than"), "{error}");
}

fn pancakes(count: u32) -> Member<Pancake> {
    Member::open(&numbers(&[("n", count)])).unwrap()
}

#[test]
fn sizes_are_known_without_tables() {
    for (count, least, most) in [(12, 10_000_000, 12_000_000), (14, 0, 8 << 20), (16, 0, 32 << 20)]
    {
        let size = pancakes(count).dense_size().unwrap();
        assert_eq!(size.states, (1..=u64::from(count)).product::<u64>());
        assert_eq!(size.shape.rows * size.shape.lanes, 5040);
        assert!(size.is_undirected);
        assert!((least..most).contains(&size.table_bytes), "{size:?}");
    }
}

#[test]
fn only_reachable_goals_are_goals_of_the_dense_form() {
    let text = "a = (1,2,3)\nb = (2,3,4)\n";
    let goals = |goal: &str| {
        let options = [("inverses", "true"), ("goal", goal)];
        let space = open(text, &options).unwrap().dense()?;
        let goals = space.tables().goals().iter().map(|goal| space.text(*goal));
        Ok::<Vec<String>, SpaceError>(goals.collect())
    };
    assert_eq!(goals("2 1 4 3").unwrap(), ["2 1 4 3"]);
    // The other state that matches is odd.
    assert_eq!(goals("2 1 ? ?").unwrap(), ["2 1 4 3"]);
    let file = file_value("# two goals, one twice\n2 1 4 3\n\n3 ? 2 ?\na b a'\n2 1 4 3\n");
    assert_eq!(goals(&file).unwrap(), ["2 1 4 3", "3 1 2 4", "4 1 3 2"]);
    let error = goals("2 1 3 4").unwrap_err().to_string();
    assert!(error.contains("no sequence of moves leads"), "{error}");
}

#[test]
fn a_start_that_is_not_solved_is_the_first_state() {
    for start in ["2 1 3 4 5", "5 4 3 2 1"] {
        let lrx: Member<Lrx> = Member::open(&numbers(&[("n", "5"), ("start", start)])).unwrap();
        let space = lrx.dense().unwrap();
        assert_eq!(space.text(space.tables().start()), start);
        check_dense(&lrx, &layers(&lrx));
    }
}

fn cube() -> Permutation {
    open(include_str!("../../../data/2x2x2.tws"), &[("moves", "U,R,F")]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn texts_of_all_states_are_read(numbers in prop::collection::vec(any::<u64>(), 20)) {
        let space = cube().dense().unwrap();
        let shape = space.tables().shape();
        for number in numbers {
            let state = shape.state(number % shape.states()).unwrap();
            prop_assert_eq!(space.parse(&space.text(state)), Some(state));
        }
    }
}

/// The images of a permutation of `0..size`, by the Lehmer code of a number.
fn permutation(size: usize, mut number: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..size).collect();
    let digits = (1..=size).rev().map(|base| {
        let digit = number % base;
        number /= base;
        left.remove(digit)
    });
    digits.collect()
}

/// A set of a random puzzle: size, orientations, and numbers for its solved state and two moves.
type RandomSet = (usize, usize, [usize; 6]);

fn words(numbers: impl IntoIterator<Item = usize>) -> String {
    numbers.into_iter().map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
}

/// A `.tws` file in which pieces look alike, some have no orientation, and sums may be kept.
fn random_puzzle(sets: &[RandomSet]) -> String {
    let mut text = String::new();
    for (name, (size, orientations, _)) in ('A'..).zip(sets) {
        text += &format!("Set {name} {size} {orientations}\n");
    }
    text += "Solved\n";
    for (name, (size, orientations, numbers)) in ('A'..).zip(sets) {
        let labels: Vec<usize> =
            (0..*size).map(|slot| numbers[0] >> (2 * slot) & 3).map(|label| label + 1).collect();
        let turns = labels.iter().enumerate().map(|(slot, label)| {
            let is_open = numbers[1] >> label & 1 == 1;
            let turn = (numbers[1] >> (2 * slot)) % orientations;
            if is_open { "?".to_owned() } else { turn.to_string() }
        });
        let turns: Vec<String> = turns.collect();
        text += &format!("{name}\n{}\n{}\n", words(labels), turns.join(" "));
    }
    text += "End\n";
    for (mv, at) in [("U", 2), ("R", 4)] {
        text += &format!("Move {mv}\n");
        for (name, (size, orientations, numbers)) in ('A'..).zip(sets) {
            let images = permutation(*size, numbers[at]).into_iter().map(|image| image + 1);
            let mut turns: Vec<usize> =
                (0..*size).map(|slot| (numbers[at + 1] >> (2 * slot)) % orientations).collect();
            if numbers[at + 1] & 1 == 0 {
                let sum: usize = turns[1..].iter().sum();
                turns[0] = (orientations - sum % orientations) % orientations;
            }
            text += &format!("{name}\n{}\n{}\n", words(images), words(turns));
        }
        text += "End\n";
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn random_puzzles_are_searched_as_the_reference_does(
        first in (1..5_usize, 1..4_usize, prop::array::uniform6(0..1_usize << 12)),
        second in (1..4_usize, 1..3_usize, prop::array::uniform6(0..1_usize << 12)),
    ) {
        let text = random_puzzle(&[first, second]);
        match open(&text, &[("metric", "quarter")]) {
            Ok(puzzle) => check_dense(&puzzle, &Reference::read(&text).layers(&[], true)),
            Err(error) => prop_assert!(error.to_string().contains("no move changes"), "{}", error),
        }
    }
}

#[test]
fn arrangements_of_alike_pieces_have_blocks_rows_and_lanes() {
    let shape = |solved: &str, cycle: &str| {
        let size = solved.split(' ').count();
        let swap: Vec<usize> = [2, 1].into_iter().chain(3..=size).collect();
        let text = format!(
            "Set A {size} 1\nSolved\nA\n{solved}\nEnd\nMove L\nA\n{cycle}\nEnd\nMove X\nA\n{}\nEnd\n",
            words(swap)
        );
        let shape = open(&text, &[]).unwrap().dense_size().unwrap().shape;
        (shape.blocks, shape.rows, shape.lanes)
    };
    assert_eq!(shape("1 1 1 1 2 3 4 5", "2 3 4 5 6 7 8 1"), (1, 70, 24));
    assert_eq!(shape("1 1 1 2 2 2", "2 3 4 5 6 1"), (1, 1, 20));
    // 11! / 4! arrangements: of the alike pieces, of 3 more, and of the last 4.
    assert_eq!(shape("1 1 1 1 2 3 4 5 6 7 8", "2 3 4 5 6 7 8 9 10 11 1"), (330, 210, 24));
}

//! Walks by theorems 3 and 4, each checked by code that shares nothing with the solver.

use std::collections::HashMap;

use proptest::prelude::*;
use strata_panex::tiles::{Solvability, WalkError, walk};
use strata_replay::tiles::{Board, Choices, Clockwise, MAX_SIDE, Shape, check, choice_squares};

use crate::tiles::shape;

/// All configurations, in the order of their tiles.
fn configurations(shape: Shape) -> Vec<Board> {
    fn extend(shape: Shape, tiles: &mut Vec<u8>, all: &mut Vec<Board>) {
        if tiles.len() == shape.squares() {
            all.push(Board::new(shape, tiles.clone()).unwrap());
            return;
        }
        for tile in 0..shape.squares() as u8 {
            if !tiles.contains(&tile) {
                tiles.push(tile);
                extend(shape, tiles, all);
                tiles.pop();
            }
        }
    }
    let mut all = Vec::new();
    extend(shape, &mut Vec::new(), &mut all);
    all
}

#[test]
fn theorem_1_decides_reachability_by_clockwise_walks() {
    for text in ["2x2", "2x3", "3x2", "2x4", "4x2"] {
        // Every board that can be solved has a clockwise solution, too.
        let goal = Board::goal(shape(text));
        let mut search = Clockwise::new(&goal, Choices::Free, false, u64::MAX).unwrap();
        while search.advance().is_some() {}
        let all = configurations(shape(text));
        for board in &all {
            assert_eq!(Solvability::of(board).is_solvable(), search.reaches(board), "{board}");
        }
        let reached = all.iter().filter(|board| search.reaches(board)).count();
        assert_eq!(2 * reached, all.len(), "{text}");
    }
}

/// Walks of all solvable configurations: the longest, the sum of lengths, how many there are, and
/// every square on which one of them has a choice.
fn walks(text: &str) -> (usize, usize, usize, Vec<usize>) {
    let shape = shape(text);
    let (mut longest, mut sum, mut count) = (0, 0, 0);
    let mut choices = Vec::new();
    for board in configurations(shape) {
        match walk(&board) {
            Ok(word) => {
                let walked =
                    check(&board, &word).unwrap_or_else(|wrong| panic!("{board}: {wrong}"));
                choices.extend(walked.choices);
                longest = longest.max(word.len());
                sum += word.len();
                count += 1;
            }
            Err(WalkError::Unsolvable { .. }) => assert!(!Solvability::of(&board).is_solvable()),
            Err(stuck) => panic!("{stuck}"),
        }
    }
    choices.sort_unstable();
    choices.dedup();
    (longest, sum, count, choices)
}

#[test]
fn walks_of_all_small_boards_have_the_figures_of_the_page() {
    let page = include_str!("../../../../docs/tiles.md");
    for (text, boards, longest, sum, squares) in [
        ("2x2", 12, 11, 66, &[][..]),
        ("2x3", 360, 80, 17_250, &[5]),
        ("3x2", 360, 79, 16_920, &[3]),
        ("2x4", 20_160, 216, 2_714_824, &[6, 7]),
        ("4x2", 20_160, 215, 2_694_720, &[3, 5]),
        ("3x3", 181_440, 218, 23_502_904, &[8]),
    ] {
        assert_eq!(walks(text), (longest, sum, boards, squares.to_vec()), "{text}");
        let count = match boards {
            0..1_000 => boards.to_string(),
            _ => format!("{},{:03}", boards / 1_000, boards % 1_000),
        };
        let mean = sum as f64 / boards as f64;
        let row = format!("\n| {text} | {count} | {longest} | {mean:.1} |\n");
        assert!(page.contains(&row), "no row {row}");
    }
}

/// Configurations of shapes with sides up to one; about half of them can be solved.
fn board(most: u8) -> impl Strategy<Value = Board> {
    let shape = (2..=most, 2..=most).prop_map(|(rows, columns)| Shape::new(rows, columns).unwrap());
    shape.prop_flat_map(|shape| {
        let tiles: Vec<u8> = (0..shape.squares() as u8).collect();
        Just(tiles).prop_shuffle().prop_map(move |tiles| Board::new(shape, tiles).unwrap())
    })
}

/// Random configurations, the unsolvable ones with two tiles exchanged.
fn solvable(board: &Board) -> Board {
    if Solvability::of(board).is_solvable() {
        return board.clone();
    }
    let mut tiles = board.tiles().to_vec();
    let mut places = (0..tiles.len()).filter(|at| tiles[*at] != 0);
    let (first, second) = (places.next().unwrap(), places.next().unwrap());
    tiles.swap(first, second);
    Board::new(board.shape(), tiles).unwrap()
}

fn walk_and_check(board: &Board) {
    let board = solvable(board);
    let word = walk(&board).unwrap();
    let walked = check(&board, &word).unwrap_or_else(|wrong| panic!("{board}: {wrong}"));
    assert_eq!(walked.clockwise + walked.straight + 1, word.len().max(1));
    let (rows, columns) = (board.shape().rows(), board.shape().columns());
    let most = if rows.min(columns) > 2 { rows.min(columns) } else { rows.max(columns) } - 2;
    assert!(walked.choices.len() <= most && choice_squares(board.shape()).len() == most);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_boards_are_walked(board in board(8)) {
        walk_and_check(&board);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn random_boards_of_all_sides_are_walked(board in board(MAX_SIDE)) {
        walk_and_check(&board);
    }
}

/// Boards with more columns than rows, one after the other until every choice square was used.
#[test]
fn columns_are_solved_with_choices_on_one_side() {
    for text in ["3x4", "3x5", "4x5", "3x8", "5x7"] {
        let shape = shape(text);
        let mut used = HashMap::new();
        let mut state = 1u64;
        for _ in 0..60 {
            let mut tiles: Vec<u8> = (0..shape.squares() as u8).collect();
            for at in (1..tiles.len()).rev() {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                tiles.swap(at, (state >> 33) as usize % (at + 1));
            }
            let board = solvable(&Board::new(shape, tiles).unwrap());
            let walked = check(&board, &walk(&board).unwrap()).unwrap();
            walked.choices.into_iter().for_each(|square| *used.entry(square).or_insert(0) += 1);
        }
        let mut used: Vec<usize> = used.into_keys().collect();
        used.sort_unstable();
        assert_eq!(used, choice_squares(shape), "{text}");
    }
}

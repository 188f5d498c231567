//! Tests of the paper's correct example sequences; `docs/tiles.md` lists the errors. Its figures 13
//! to 19 show tile 12 twice and no 9; here the one in the last row or column is the 9.

use strata_panex::tiles::walk;
use strata_replay::tiles::{Board, Move, Turn, Word};

/// The board to which a sequence leads, if each move is possible; else the number of the first move
/// that is not.
fn replay(board: &str, moves: &str) -> Result<Board, usize> {
    let mut board: Board = board.parse().unwrap();
    let word: Word = moves.parse().unwrap();
    for (index, mv) in word.iter().enumerate() {
        if !board.step(*mv) {
            return Err(index + 1);
        }
    }
    Ok(board)
}

fn turns(moves: &str) -> Vec<Turn> {
    let word: Word = moves.parse().unwrap();
    word.windows(2).map(|pair| pair[1].turn_from(pair[0])).collect()
}

fn is_clockwise(moves: &str) -> bool {
    turns(moves).iter().all(|turn| matches!(turn, Turn::Straight | Turn::Clockwise))
}

/// The squares of the blank and a tile at the end of a clockwise sequence, from 1.
fn ends(board: &str, moves: &str, tile: u8) -> (usize, usize) {
    assert!(is_clockwise(moves), "{moves}");
    let board = replay(board, moves).unwrap();
    let place = board.tiles().iter().position(|other| *other == tile).unwrap();
    (board.blank(), place + 1)
}

#[test]
fn figure_6_solves_its_board() {
    let moves = "ULULDLDRRDR";
    let end = replay("1 3 7 4 / 6 2 8 12 / 5 9 10 _ / 13 14 11 15", moves).unwrap();
    assert_eq!(end, Board::goal(end.shape()));
    let of = |wanted: Turn| -> Vec<usize> {
        let all = turns(moves).into_iter().enumerate();
        all.filter(|(_, turn)| *turn == wanted).map(|(index, _)| index + 2).collect()
    };
    assert_eq!(of(Turn::Counterclockwise), [2, 4, 5, 7, 8, 11]);
    assert_eq!(of(Turn::Clockwise), [3, 6, 10]);
    assert_eq!(of(Turn::Straight), [9]);
}

#[test]
fn figures_13_and_14_bring_the_blank_to_square_1() {
    let corner = "1 2 3 _ / 6 12 10 5 / 7 8 4 11 / 15 14 13 9";
    assert_eq!(ends(corner, "DDDLLLUUU", 0), (1, 1));
    let inner = "1 2 3 10 / 6 12 _ 5 / 7 8 4 11 / 15 14 13 9";
    assert_eq!(ends(inner, "URDDDLLLUUU", 0), (1, 1));
}

#[test]
fn the_construction_begins_as_figures_13_and_14() {
    for (board, moves) in [
        ("1 2 3 _ / 6 12 10 5 / 7 8 4 11 / 15 14 9 13", "DDDLLLUUUR"),
        ("1 2 3 10 / 6 12 _ 5 / 7 8 4 11 / 15 14 13 9", "URDDDLLLUUUR"),
    ] {
        let walk = walk(&board.parse().unwrap()).unwrap().to_string();
        assert!(walk.starts_with(moves), "{walk}");
    }
}

#[test]
fn figures_15_and_16_bring_tile_1_home() {
    let boundary = "_ 2 3 1 / 6 12 10 5 / 7 8 4 11 / 15 14 13 9";
    assert_eq!(ends(boundary, "(RRRDDDLLLUUU)2R", 1), (2, 1));
    let inner = "_ 2 3 4 / 6 12 10 5 / 7 8 1 11 / 15 14 13 9";
    assert_eq!(ends(inner, "RRRDDDLUUUR(DDDLLLUUURRR)5DDDLLLUUUR", 1), (2, 1));
    // The text's version ends elsewhere.
    assert_eq!(ends(inner, "RRRDDDLUUUR(DDDLLLUUURRR)5DDDLUUUR", 1).0, 4);
}

#[test]
fn figures_17_to_19_bring_tile_2_home() {
    let boundary = "1 _ 3 12 / 6 9 10 5 / 7 8 4 11 / 15 14 13 2";
    assert_eq!(ends(boundary, "RR(DDDLLUUURR)3DDDLLUUUR", 2), (3, 2));
    let column = "1 _ 3 12 / 2 9 10 5 / 7 8 4 11 / 15 14 13 6";
    assert_eq!(ends(column, "RRD(DDLLLUURRR)3DDLL(UUURRDDDLL)5UUUR", 2), (3, 2));
    let printed = "RRD(DDLLLUURRR)3DDLL(UUURRDDDLL)6UUUR";
    assert_ne!(ends(column, printed, 2).1, 2);
    let inner = "1 _ 3 12 / 6 9 2 5 / 7 8 4 11 / 15 14 13 10";
    assert_eq!(ends(inner, "RR(DDDLUUUR)2(DDDLLUUURR)4DDDLLUUUR", 2), (3, 2));
    // The text's version leaves out a D.
    assert_eq!(replay(inner, "RR(DDDLUUUR)2(DDLLUUURR)4DDDLLUUUR"), Err(25));
}

#[test]
fn figure_8_is_a_cycle_of_all_12_solvable_boards() {
    // The 12 solvable boards of two by two squares, in the order in which the blank meets them.
    let mut board: Board = "1 2 / 3 _".parse().unwrap();
    let mut seen = vec![board.clone()];
    for mv in [Move::Left, Move::Up, Move::Right, Move::Down].into_iter().cycle() {
        assert!(board.step(mv));
        if board == seen[0] {
            break;
        }
        seen.push(board.clone());
    }
    assert_eq!(seen.len(), 12);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 12);
}

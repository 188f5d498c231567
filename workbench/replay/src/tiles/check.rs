//! Checker of restricted walks. It shares only the board with the solver: it applies the rules of
//! theorems 3 and 4 and derives from the moves when each square was settled.

use crate::tiles::board::{Board, Shape};
use crate::tiles::moves::{Move, Turn};

/// Turns and choices of a valid walk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Walked {
    /// Right turns.
    pub clockwise: usize,
    /// Straight moves. The first move is neither.
    pub straight: usize,
    /// Squares, from 1 and in ascending order, on which the blank turned although it could have
    /// gone straight.
    pub choices: Vec<usize>,
}

/// A rule that a walk breaks. Moves are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The blank leaves the board.
    #[error("move {at}, {mv}: the blank is at the edge, on square {square}")]
    OffBoard {
        /// Number of the move.
        at: usize,
        /// The move.
        mv: Move,
        /// The blank's square, from 1.
        square: usize,
    },
    /// A left turn, or straight back.
    #[error("move {at}, {mv}: not straight and not clockwise")]
    NotClockwise {
        /// Number of the move.
        at: usize,
        /// The move.
        mv: Move,
    },
    /// A right turn that is not forced, on a square without a choice.
    #[error("move {at}, {mv}: the blank turns on square {square}, where it has no choice")]
    NotForced {
        /// Number of the move.
        at: usize,
        /// The move.
        mv: Move,
        /// The blank's square, from 1.
        square: usize,
    },
    /// The walk ends elsewhere.
    #[error("the walk ends at {end}")]
    NotSolved {
        /// The board at the end.
        end: Board,
    },
}

/// The side of the board along which theorems 3 and 4 leave a choice. The blank goes along it
/// clockwise; between the corners it may go straight on, or turn right, away from the edge.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Side {
    /// Boards with two rows, and boards of at least three columns with as many rows or more. The
    /// blank goes left, or turns up.
    Bottom,
    /// Boards with at least three rows and more columns than rows. The blank goes down, or turns
    /// left.
    Right,
    /// Boards with two columns and more rows. The blank goes up, or turns right.
    Left,
}

impl Side {
    /// The side of a shape.
    pub fn of(shape: Shape) -> Side {
        match (shape.rows(), shape.columns()) {
            (2, _) => Side::Bottom,
            (_, 2) => Side::Left,
            (rows, columns) if rows >= columns => Side::Bottom,
            _ => Side::Right,
        }
    }

    /// The direction in which the blank goes along the side, clockwise.
    pub fn heading(self) -> Move {
        match self {
            Side::Bottom => Move::Left,
            Side::Right => Move::Down,
            Side::Left => Move::Up,
        }
    }
}

/// The squares, from 1, on which theorems 3 and 4 leave a choice: those of the side without its
/// corners. Their number is min(N, P) - 2 if N and P are at least 3, else max(N, P) - 2.
pub fn choice_squares(shape: Shape) -> Vec<usize> {
    let (rows, columns) = (shape.rows(), shape.columns());
    match Side::of(shape) {
        Side::Bottom => (2..columns).map(|column| (rows - 1) * columns + column).collect(),
        Side::Right => (2..rows).map(|row| row * columns).collect(),
        Side::Left => (2..rows).map(|row| (row - 1) * columns + 1).collect(),
    }
}

/// Squares, from 0, in the order in which they are settled: line by line towards the side with the
/// choices; the last two lines are settled together, pair by pair.
fn settling(shape: Shape) -> Vec<usize> {
    let (rows, columns) = (shape.rows(), shape.columns());
    let at = |row: usize, column: usize| row * columns + column;
    let mut order = Vec::new();
    match Side::of(shape) {
        Side::Bottom => {
            order.extend((0..rows - 2).flat_map(|r| (0..columns).map(move |c| at(r, c))));
            order.extend((0..columns).flat_map(|c| [at(rows - 2, c), at(rows - 1, c)]));
        }
        Side::Right => {
            order.extend((0..columns - 2).flat_map(|c| (0..rows).rev().map(move |r| at(r, c))));
            order.extend((0..rows).rev().flat_map(|r| [at(r, columns - 2), at(r, columns - 1)]));
        }
        Side::Left => order.extend((0..rows).flat_map(|r| [at(r, 1), at(r, 0)])),
    }
    order
}

/// Checks a walk of the blank from a board to the usual goal: every move is possible, none turns
/// left or back, and a right turn is made only where going straight would lead off the board or
/// onto a settled square, or where there is a choice. The first move is free.
///
/// A square is settled when the blank does not enter it any more, and all squares before it in the
/// order of the procedure are settled: row by row, and the last two rows column by column (turned
/// with the board). So the region in which the blank works is read from the walk itself.
///
/// # Errors
/// The first rule that is broken.
pub fn check(board: &Board, moves: &[Move]) -> Result<Walked, Violation> {
    let shape = board.shape();
    let visits = visits(board, moves)?;
    let mut last = vec![0; shape.squares()];
    visits.iter().enumerate().for_each(|(time, cell)| last[*cell] = time);
    let order = settling(shape);
    let (side, free) = (Side::of(shape), choice_squares(shape));
    let mut settled = vec![false; shape.squares()];
    let mut next = 0;
    let mut walked = Walked { clockwise: 0, straight: 0, choices: Vec::new() };
    for (time, pair) in moves.windows(2).enumerate() {
        let (before, mv, at) = (pair[0], pair[1], time + 2);
        let cell = visits[time + 1];
        while next < order.len() && last[order[next]] <= time + 1 {
            settled[order[next]] = true;
            next += 1;
        }
        match mv.turn_from(before) {
            Turn::Straight => walked.straight += 1,
            Turn::Clockwise => {
                walked.clockwise += 1;
                let ahead = shape.beside(cell, before).filter(|ahead| !settled[*ahead]);
                let square = cell + 1;
                if ahead.is_some() {
                    if before != side.heading() || !free.contains(&square) {
                        return Err(Violation::NotForced { at, mv, square });
                    }
                    walked.choices.push(square);
                }
            }
            _ => return Err(Violation::NotClockwise { at, mv }),
        }
    }
    walked.choices.sort_unstable();
    walked.choices.dedup();
    Ok(walked)
}

/// The blank's squares, from 0, before the first move and after each, if they end at the goal.
fn visits(board: &Board, moves: &[Move]) -> Result<Vec<usize>, Violation> {
    let mut board = board.clone();
    let mut visits = vec![board.blank() - 1];
    for (index, mv) in moves.iter().copied().enumerate() {
        if !board.step(mv) {
            return Err(Violation::OffBoard { at: index + 1, mv, square: board.blank() });
        }
        visits.push(board.blank() - 1);
    }
    if board != Board::goal(board.shape()) {
        return Err(Violation::NotSolved { end: board });
    }
    Ok(visits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiles::word::Word;

    fn checked(board: &str, moves: &str) -> Result<Walked, Violation> {
        check(&board.parse().unwrap(), &moves.parse::<Word>().unwrap())
    }

    #[test]
    fn the_choice_squares_are_those_of_the_theorems() {
        let squares = |text: &str| choice_squares(text.parse().unwrap());
        assert_eq!(squares("2x2"), []);
        assert_eq!(squares("2x5"), [7, 8, 9]);
        assert_eq!(squares("5x2"), [3, 5, 7]);
        assert_eq!(squares("3x3"), [8]);
        // The paper says 13 and 14; 13 is a corner.
        assert_eq!(squares("4x4"), [14, 15]);
        assert_eq!(squares("5x3"), [14]);
        assert_eq!(squares("3x5"), [10]);
    }

    #[test]
    fn walks_that_break_a_rule_are_refused() {
        assert_eq!(
            checked("1 2 / 3 _", ""),
            Ok(Walked { clockwise: 0, straight: 0, choices: vec![] })
        );
        let turned = Ok(Walked { clockwise: 1, straight: 0, choices: vec![] });
        assert_eq!(checked("1 2 / _ 3", "R").map(|walked| walked.clockwise), Ok(0));
        assert_eq!(
            checked("_ 2 / 1 3", "DR").unwrap_err().to_string(),
            "move 2, R: not straight and not clockwise"
        );
        assert_eq!(
            checked("1 2 3 / _ 4 5", "RLRR").unwrap_err(),
            Violation::NotClockwise { at: 2, mv: Move::Left }
        );
        assert_eq!(checked("_ 1 / 3 2", "RD"), turned);
        assert_eq!(
            checked("_ 1 / 3 2", "RR").unwrap_err().to_string(),
            "move 2, R: the blank is at the edge, on square 2"
        );
        assert_eq!(
            checked("1 2 / _ 3", "U").unwrap_err().to_string(),
            "the walk ends at _ 2 / 1 3"
        );
    }

    #[test]
    fn a_turn_must_be_forced_or_a_choice() {
        let loops = |moves: &str| {
            let mut board = Board::goal("3x3".parse().unwrap());
            let moves: Word = moves.parse().unwrap();
            // Where the walk has to begin to end at the goal.
            for mv in moves.iter().rev() {
                assert!(board.step(Move::ALL[(*mv as usize + 2) % 4]));
            }
            check(&board, &moves)
        };
        assert_eq!(loops("RDLLUURRDD").map(|walked| walked.choices), Ok(vec![]));
        assert_eq!(loops("LUURDDLLUURRDD").map(|walked| walked.choices), Ok(vec![8]));
        assert_eq!(
            loops("RDLURDLLUURRDD").unwrap_err(),
            Violation::NotForced { at: 5, mv: Move::Right, square: 5 }
        );
        // Squares 1 to 3, 4 and 7 are not entered: the blank works in the last two columns.
        assert_eq!(loops("RDLURD").map(|walked| walked.choices), Ok(vec![]));
    }
}

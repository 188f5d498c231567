//! Rules of clockwise walks: the blank's moves, and the moves that may follow each.

use super::super::board::Shape;

/// A move of the blank.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Move {
    Up,
    Right,
    Down,
    Left,
}

impl Move {
    /// All moves, each a right turn from the one before.
    pub(super) const ALL: [Move; 4] = [Move::Up, Move::Right, Move::Down, Move::Left];

    /// Letter of the move.
    pub(super) fn letter(self) -> char {
        match self {
            Move::Up => 'U',
            Move::Right => 'R',
            Move::Down => 'D',
            Move::Left => 'L',
        }
    }

    /// Rows down and columns to the right.
    pub(super) fn step(self) -> (i8, i8) {
        match self {
            Move::Up => (-1, 0),
            Move::Right => (0, 1),
            Move::Down => (1, 0),
            Move::Left => (0, -1),
        }
    }

    fn right_turn(self) -> Move {
        Move::ALL[(self as usize + 1) % 4]
    }

    /// The inverse move.
    pub(super) fn inverse(self) -> Move {
        self.right_turn().right_turn()
    }

    /// The square after a move from `square`, both numbered row by row from 0; None at the edge.
    pub(super) fn from(self, shape: Shape, square: u8) -> Option<u8> {
        let (row, column) = (square / shape.columns(), square % shape.columns());
        let (down, right) = self.step();
        let row = row.checked_add_signed(down).filter(|row| *row < shape.rows())?;
        let column = column.checked_add_signed(right).filter(|to| *to < shape.columns())?;
        Some(row * shape.columns() + column)
    }
}

/// The squares on which the blank may turn right although it could go straight.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Choices {
    /// On every square.
    Free,
    /// Between the corners of one side, while it moves along that side clockwise. The side is the bottom,
    /// with two exceptions: the left side of boards with two columns and three or more rows, and the right
    /// side of boards with three or more rows and more columns than rows.
    Limited,
    /// Between the corners of the bottom row, while it moves left.
    Bottom,
}

impl Choices {
    /// The words for the variants in parameters.
    pub(super) const WORDS: [&str; 3] = ["free", "limited", "bottom"];

    /// All variants, in the order of [`Self::WORDS`].
    pub(super) const ALL: [Choices; 3] = [Choices::Free, Choices::Limited, Choices::Bottom];

    /// The word.
    pub(super) fn word(self) -> &'static str {
        Choices::WORDS[self as usize]
    }

    /// Whether a move may follow another, with the blank on `square` in between.
    pub(super) fn allow(self, shape: Shape, square: u8, before: Move, next: Move) -> bool {
        if next == before {
            return true;
        }
        let must_turn = before.from(shape, square).is_none();
        next == before.right_turn() && (must_turn || self.has(shape, square, before))
    }

    /// Whether the blank has a choice on a square that it enters by a move.
    fn has(self, shape: Shape, square: u8, before: Move) -> bool {
        let (rows, columns) = (shape.rows(), shape.columns());
        let side = match self {
            Choices::Free => return true,
            Choices::Bottom => Move::Left,
            Choices::Limited if rows == 2 => Move::Left,
            Choices::Limited if columns == 2 => Move::Up,
            Choices::Limited if rows < columns => Move::Down,
            Choices::Limited => Move::Left,
        };
        let (row, column) = (square / columns, square % columns);
        let inside = |at: u8, length: u8| at > 0 && at + 1 < length;
        before == side
            && match side {
                Move::Left => row + 1 == rows && inside(column, columns),
                Move::Up => column == 0 && inside(row, rows),
                Move::Down => column + 1 == columns && inside(row, rows),
                Move::Right => false,
            }
    }
}

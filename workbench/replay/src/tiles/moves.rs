//! Moves of the blank, and the turn between two moves.

use std::fmt;

/// A move of the blank by one square. Text form: its first letter.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Move {
    Up,
    Right,
    Down,
    Left,
}

/// Direction of a move relative to the one before it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Turn {
    /// In the same direction.
    Straight,
    /// A right turn.
    Clockwise,
    /// Straight back.
    Back,
    /// A left turn.
    Counterclockwise,
}

impl Move {
    /// All four, clockwise.
    pub const ALL: [Move; 4] = [Move::Up, Move::Right, Move::Down, Move::Left];

    /// The move after a right turn.
    #[must_use]
    pub fn right_turn(self) -> Move {
        Move::ALL[(self as usize + 1) % 4]
    }

    /// The turn from the move `before` to this one.
    pub fn turn_from(self, before: Move) -> Turn {
        match (self as usize + 4 - before as usize) % 4 {
            0 => Turn::Straight,
            1 => Turn::Clockwise,
            2 => Turn::Back,
            _ => Turn::Counterclockwise,
        }
    }

    /// The move as it is on a board that is turned by 90 degrees.
    #[must_use]
    pub fn rotated(self, clockwise: bool) -> Move {
        Move::ALL[(self as usize + if clockwise { 1 } else { 3 }) % 4]
    }

    /// U, R, D or L.
    pub fn letter(self) -> char {
        match self {
            Move::Up => 'U',
            Move::Right => 'R',
            Move::Down => 'D',
            Move::Left => 'L',
        }
    }

    /// The move with this letter, if there is one.
    pub fn from_letter(letter: char) -> Option<Move> {
        Move::ALL.into_iter().find(|mv| mv.letter() == letter)
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

//! Moves, words of moves and their text forms.

use std::fmt;
use std::ops::{Add, Deref};
use std::str::FromStr;

use crate::tile::{Column, Tile};

/// A move: the top tile of one column goes on top of another. One byte. Text form: `LC`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names say it: from which column to which")]
pub enum Move {
    LC,
    LR,
    CL,
    CR,
    RL,
    RC,
}

impl Move {
    /// All six.
    pub const ALL: [Move; 6] = [Move::LC, Move::LR, Move::CL, Move::CR, Move::RL, Move::RC];

    /// The move between two columns; none if they are equal.
    pub fn between(from: Column, to: Column) -> Option<Move> {
        Move::ALL.into_iter().find(|mv| mv.from() == from && mv.to() == to)
    }

    /// The column the tile leaves.
    pub fn from(self) -> Column {
        match self {
            Move::LC | Move::LR => Column::Left,
            Move::CL | Move::CR => Column::Centre,
            Move::RL | Move::RC => Column::Right,
        }
    }

    /// The column the tile goes to.
    pub fn to(self) -> Column {
        match self {
            Move::CL | Move::RL => Column::Left,
            Move::LC | Move::RC => Column::Centre,
            Move::LR | Move::CR => Column::Right,
        }
    }

    /// The inverse move.
    #[must_use]
    pub fn inverse(self) -> Move {
        match self {
            Move::LC => Move::CL,
            Move::LR => Move::RL,
            Move::CL => Move::LC,
            Move::CR => Move::RC,
            Move::RL => Move::LR,
            Move::RC => Move::CR,
        }
    }

    /// The move with L and R swapped.
    #[must_use]
    pub fn mirror(self) -> Move {
        match self {
            Move::LC => Move::RC,
            Move::LR => Move::RL,
            Move::CL => Move::CR,
            Move::CR => Move::CL,
            Move::RL => Move::LR,
            Move::RC => Move::LC,
        }
    }

    /// Reads `LC` or `L>C`.
    fn parse(token: &str) -> Result<Move, MoveFault> {
        let mut letters = token.chars();
        let from = letters.next().and_then(Column::from_letter);
        let to = letters.next_back().and_then(Column::from_letter);
        match (from, to, letters.as_str()) {
            (Some(from), Some(to), "" | ">") => {
                Move::between(from, to).ok_or(MoveFault::Nowhere { column: from })
            }
            _ => Err(MoveFault::Unknown),
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())
    }
}

/// A sequence of moves, one byte each.
///
/// Text form: moves separated by white space, `LC RC CL`. A word has no position: the legality of
/// its moves depends on the position to which it is applied.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Word(Vec<Move>);

impl Word {
    /// The empty word.
    pub const fn new() -> Word {
        Word(Vec::new())
    }

    /// An empty word with memory for `moves` moves.
    pub fn with_capacity(moves: usize) -> Word {
        Word(Vec::with_capacity(moves))
    }

    /// The inverse moves in reverse order: they lead back to the position before the word.
    #[must_use]
    pub fn inverse(&self) -> Word {
        self.iter().rev().map(|mv| mv.inverse()).collect()
    }

    /// The word with L and R swapped.
    #[must_use]
    pub fn mirror(&self) -> Word {
        self.iter().map(|mv| mv.mirror()).collect()
    }
}

impl Deref for Word {
    type Target = [Move];

    fn deref(&self) -> &[Move] {
        &self.0
    }
}

impl FromIterator<Move> for Word {
    fn from_iter<I: IntoIterator<Item = Move>>(moves: I) -> Word {
        Word(moves.into_iter().collect())
    }
}

impl Extend<Move> for Word {
    fn extend<I: IntoIterator<Item = Move>>(&mut self, moves: I) {
        self.0.extend(moves);
    }
}

impl Add<&Word> for Word {
    type Output = Word;

    /// The moves of both words, one after the other.
    fn add(mut self, after: &Word) -> Word {
        self.0.extend_from_slice(after);
        self
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, mv) in self.iter().enumerate() {
            if place > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{mv}")?;
        }
        Ok(())
    }
}

impl FromStr for Word {
    type Err = MoveTextError;

    /// Reads a word; tile names are accepted and dropped.
    fn from_str(text: &str) -> Result<Word, MoveTextError> {
        Ok(parse_moves(text)?.into_iter().map(|named| named.mv).collect())
    }
}

/// A move with or without the name of its tile. Text forms: `b1 L>C`, `LC`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct NamedMove {
    /// The tile that moves, if it was named.
    pub tile: Option<Tile>,
    /// The columns.
    pub mv: Move,
}

impl From<Move> for NamedMove {
    fn from(mv: Move) -> NamedMove {
        NamedMove { tile: None, mv }
    }
}

impl From<&Move> for NamedMove {
    fn from(mv: &Move) -> NamedMove {
        NamedMove::from(*mv)
    }
}

impl fmt::Display for NamedMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tile {
            Some(tile) => write!(f, "{tile} {}>{}", self.mv.from(), self.mv.to()),
            None => write!(f, "{}", self.mv),
        }
    }
}

/// Error of a token in a move list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoveFault {
    /// Neither a move nor a tile.
    #[error("neither a move (two of L, C, R: LC or L>C) nor a tile (b1, o12)")]
    Unknown,
    /// A move from a column to itself.
    #[error("a move from {column} to itself")]
    Nowhere {
        /// The column.
        column: Column,
    },
    /// A tile that no move follows.
    #[error("a tile without a move after it")]
    NoMove,
}

/// Error of a text that is not a list of moves.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("move {number}: '{token}' is {fault}")]
pub struct MoveTextError {
    /// Number of the move, from 1.
    pub number: usize,
    /// The token that does not fit.
    pub token: String,
    /// Why.
    pub fault: MoveFault,
}

/// Reads a list of moves in any of the text forms: `LC RC`, `L>C`, or `b1 L>C`, separated by spaces
/// or line ends.
///
/// # Errors
/// At the first token that is neither a move nor a tile, or a tile that no move follows.
pub fn parse_moves(text: &str) -> Result<Vec<NamedMove>, MoveTextError> {
    let mut moves = Vec::new();
    let mut pending: Option<(Tile, &str)> = None;
    for token in text.split_whitespace() {
        let number = moves.len() + 1;
        let error = |token: &str, fault| MoveTextError { number, token: token.to_owned(), fault };
        match (token.parse::<Tile>(), pending) {
            (Ok(tile), None) => pending = Some((tile, token)),
            (Ok(_), Some((_, name))) => return Err(error(name, MoveFault::NoMove)),
            (Err(_), _) => {
                let mv = Move::parse(token).map_err(|fault| error(token, fault))?;
                moves.push(NamedMove { tile: pending.take().map(|(tile, _)| tile), mv });
            }
        }
    }
    match pending {
        None => Ok(moves),
        Some((_, token)) => Err(MoveTextError {
            number: moves.len() + 1,
            token: token.to_owned(),
            fault: MoveFault::NoMove,
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_word() -> impl Strategy<Value = Word> {
        prop::collection::vec(prop::sample::select(&Move::ALL[..]), 0..60)
            .prop_map(|moves| moves.into_iter().collect())
    }

    proptest! {
        #[test]
        fn words_round_trip_through_text(word in any_word()) {
            prop_assert_eq!(word.to_string().parse(), Ok(word.clone()));
            let lines: String = word.iter().map(|mv| format!("{}>{}\n", mv.from(), mv.to())).collect();
            prop_assert_eq!(lines.parse(), Ok(word));
        }

        #[test]
        fn inverse_and_mirror_are_involutions_that_commute(a in any_word(), b in any_word()) {
            prop_assert_eq!(a.inverse().inverse(), a.clone());
            prop_assert_eq!(a.mirror().mirror(), a.clone());
            prop_assert_eq!(a.mirror().inverse(), a.inverse().mirror());
            let both = a.clone() + &b;
            prop_assert_eq!(both.inverse(), b.inverse() + &a.inverse());
            prop_assert_eq!(both.mirror(), a.mirror() + &b.mirror());
        }
    }

    #[test]
    fn a_move_is_one_byte_with_its_columns() {
        assert_eq!(size_of::<Move>(), 1);
        for mv in Move::ALL {
            assert_eq!(Move::between(mv.from(), mv.to()), Some(mv));
            assert_eq!(Move::between(mv.to(), mv.from()), Some(mv.inverse()));
            assert_eq!(Move::between(mv.from().mirror(), mv.to().mirror()), Some(mv.mirror()));
        }
        assert_eq!(Move::between(Column::Left, Column::Left), None);
    }

    #[test]
    fn lists_with_tiles_keep_them() {
        let moves = parse_moves("b1 L>C\no12 RL LC\n").unwrap();
        let shown: Vec<String> = moves.iter().map(NamedMove::to_string).collect();
        assert_eq!(shown, ["b1 L>C", "o12 R>L", "LC"]);
    }

    #[test]
    fn errors_name_the_move_and_the_reason() {
        for (text, message) in [
            (
                "LC XY",
                "move 2: 'XY' is neither a move (two of L, C, R: LC or L>C) nor a tile (b1, o12)",
            ),
            ("LC RR", "move 2: 'RR' is a move from R to itself"),
            ("L>>C", "move 1: 'L>>C' is neither"),
            ("L", "move 1: 'L' is neither"),
            ("LC b1 b2 CL", "move 2: 'b1' is a tile without a move after it"),
            ("LC b1", "move 2: 'b1' is a tile without a move after it"),
        ] {
            let error = text.parse::<Word>().unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}

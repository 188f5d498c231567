//! Tiles and columns.

use std::fmt;
use std::str::FromStr;

/// The highest level (tiles per tower) of a position.
pub const MAX_LEVEL: u8 = 99;

/// The colour of a tower.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Colour {
    /// Starts in the left column.
    Blue,
    /// Starts in the right column.
    Orange,
}

impl Colour {
    /// Both colours.
    pub const ALL: [Colour; 2] = [Colour::Blue, Colour::Orange];

    /// The other colour.
    #[must_use]
    pub fn swapped(self) -> Colour {
        match self {
            Colour::Blue => Colour::Orange,
            Colour::Orange => Colour::Blue,
        }
    }

    /// `b` or `o`.
    pub fn letter(self) -> char {
        match self {
            Colour::Blue => 'b',
            Colour::Orange => 'o',
        }
    }

    pub(crate) fn from_letter(letter: &str) -> Option<Colour> {
        Colour::ALL.into_iter().find(|colour| letter.chars().eq([colour.letter()]))
    }
}

/// A tile: its level is the deepest layer it can rest in. Text form: `b1`, `o12`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tile {
    /// Its place in its tower, from 1 at the top.
    pub level: u8,
    /// Whose tower it belongs to.
    pub colour: Colour,
}

impl Tile {
    /// The blue tile of a level.
    pub const fn blue(level: u8) -> Tile {
        Tile { level, colour: Colour::Blue }
    }

    /// The orange tile of a level.
    pub const fn orange(level: u8) -> Tile {
        Tile { level, colour: Colour::Orange }
    }

    /// The tile of the same level and the other colour.
    #[must_use]
    pub fn swapped(self) -> Tile {
        Tile { colour: self.colour.swapped(), ..self }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.colour.letter(), self.level)
    }
}

/// Error of a text that is not a tile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a tile: b or o and a level from 1 to {MAX_LEVEL}, such as b1 or o12")]
pub struct NotATile(pub String);

impl FromStr for Tile {
    type Err = NotATile;

    fn from_str(text: &str) -> Result<Tile, NotATile> {
        let read = || {
            let colour = Colour::from_letter(text.get(..1)?)?;
            let digits = text.get(1..)?;
            if digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let level = digits.parse().ok().filter(|level| *level <= MAX_LEVEL)?;
            Some(Tile { level, colour })
        };
        read().ok_or_else(|| NotATile(text.to_owned()))
    }
}

/// One of the three columns.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Column {
    /// L, where the blue tower starts.
    Left,
    /// C, empty at first.
    Centre,
    /// R, where the orange tower starts.
    Right,
}

impl Column {
    /// From left to right.
    pub const ALL: [Column; 3] = [Column::Left, Column::Centre, Column::Right];

    /// `L`, `C` or `R`.
    pub fn letter(self) -> char {
        match self {
            Column::Left => 'L',
            Column::Centre => 'C',
            Column::Right => 'R',
        }
    }

    /// L and R swapped.
    #[must_use]
    pub fn mirror(self) -> Column {
        match self {
            Column::Left => Column::Right,
            Column::Centre => Column::Centre,
            Column::Right => Column::Left,
        }
    }

    pub(crate) fn from_letter(letter: char) -> Option<Column> {
        Column::ALL.into_iter().find(|column| column.letter() == letter)
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_round_trip_through_text() {
        for level in 1..=MAX_LEVEL {
            for tile in [Tile::blue(level), Tile::orange(level)] {
                assert_eq!(tile.to_string().parse(), Ok(tile));
                assert_eq!(tile.swapped().swapped(), tile);
            }
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "b", "b0", "b01", "b+1", "b100", "b999", "g1", "B1", "1b", "b1 ", "é1"] {
            let error = text.parse::<Tile>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("'{text}' is not a tile")));
        }
    }

    #[test]
    fn mirroring_keeps_the_centre() {
        assert_eq!(Column::ALL.map(Column::mirror).map(Column::letter), ['R', 'C', 'L']);
    }
}

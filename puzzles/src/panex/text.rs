//! Parsing of positions from text, and its errors.

use super::position::Position;
use super::tile::{COLUMNS, Tile};
use super::tokens::CentreTop;

/// The columns' names.
const NAMES: [char; 3] = ['L', 'C', 'R'];

/// Why a text is not a position of a level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// Not three columns.
    #[error("there are {found} columns, not three with '/' between them")]
    Columns {
        /// The number of columns found.
        found: usize,
    },
    /// Nothing between two slashes.
    #[error("there is nothing in column {column}: an empty column is written '-'")]
    Nothing {
        /// The column: L, C or R.
        column: char,
    },
    /// Not a tile.
    #[error("'{word}' is no tile: they are b1 to b{level} and o1 to o{level}")]
    Word {
        /// The word in place of a tile.
        word: String,
        /// The puzzle's level.
        level: u8,
    },
    /// A tile is there twice.
    #[error("{tile} is there twice")]
    Twice {
        /// The tile.
        tile: Tile,
    },
    /// A tile is not there.
    #[error("{tile} is missing")]
    Missing {
        /// The tile.
        tile: Tile,
    },
    /// A tile has more tiles above it than its level allows.
    #[error(
        "{tile} has {above} tiles above it in column {column}: at most {} may be",
        tile.level()
    )]
    TooDeep {
        /// The tile.
        tile: Tile,
        /// Its column: L, C or R.
        column: char,
        /// Tiles above it.
        above: usize,
    },
}

impl Position {
    /// Parses the text form of a [`Position`], such as `b2 / - / o1 b1 o2`, and checks that it is a
    /// legal position of a level (at most [`MAX_LEVEL`](super::MAX_LEVEL)). A tile may stand on the
    /// centre's top layer.
    ///
    /// # Errors
    /// The first fault: words in reading order, then missing tiles, then tiles that are too deep.
    pub fn parse(level: u8, text: &str) -> Result<Position, PositionError> {
        let columns: Vec<&str> = text.split('/').collect();
        if columns.len() != COLUMNS.len() {
            return Err(PositionError::Columns { found: columns.len() });
        }
        let mut position = Position::default();
        let mut seen = Vec::new();
        for ((stack, name), column) in position.columns.iter_mut().zip(NAMES).zip(columns) {
            match column.trim() {
                "-" => continue,
                "" => return Err(PositionError::Nothing { column: name }),
                _ => {}
            }
            for word in column.split_whitespace() {
                let no_tile = || PositionError::Word { word: word.to_owned(), level };
                let tile = tile(word, level).ok_or_else(no_tile)?;
                if seen.contains(&tile) {
                    return Err(PositionError::Twice { tile });
                }
                seen.push(tile);
                stack.push_below(tile);
            }
        }
        let mut tiles = (1..=level).flat_map(|level| [Tile::new(level, 0), Tile::new(level, 1)]);
        if let Some(tile) = tiles.find(|tile| !seen.contains(tile)) {
            return Err(PositionError::Missing { tile });
        }
        position.check()?;
        Ok(position)
    }

    /// Checks that no tile has more tiles above it than its level allows; the centre's top layer may be
    /// used.
    fn check(&self) -> Result<(), PositionError> {
        for (stack, column) in self.columns.iter().zip(NAMES) {
            for (above, tile) in stack.items().iter().enumerate() {
                if above > usize::from(tile.level()) {
                    return Err(PositionError::TooDeep { tile: *tile, column, above });
                }
            }
        }
        Ok(())
    }

    /// Whether a legal position has a tile on the centre's top layer.
    pub fn uses_centre_top(&self) -> bool {
        !self.is_legal(CentreTop::Forbid)
    }
}

fn tile(word: &str, level: u8) -> Option<Tile> {
    let (colour, number) = match word.split_at_checked(1)? {
        ("b", number) => (0, number),
        ("o", number) => (1, number),
        _ => return None,
    };
    // `+1` and `01` are numbers, too.
    let plain = number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
    let number: u8 = number.parse().ok().filter(|_| plain)?;
    (1..=level).contains(&number).then(|| Tile::new(number, colour))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_parsed_from_their_own_text() {
        for (level, text) in [
            (1, "- / b1 o1 / -"),
            (2, "b2 / - / o1 b1 o2"),
            (3, "b1 b2 b3 / - / o1 o2 o3"),
            (10, "b1 b2 b3 b4 b5 b6 b7 b8 b9 b10 / o1 / o2 o3 o4 o5 o6 o7 o8 o9 o10"),
        ] {
            assert_eq!(Position::parse(level, text).unwrap().to_string(), text);
        }
        let spaced = Position::parse(2, " b2/ - /o1   b1 o2 ").unwrap();
        assert_eq!(spaced.to_string(), "b2 / - / o1 b1 o2");
    }

    #[test]
    fn errors_name_the_tile_and_the_rule() {
        for (text, message) in [
            ("b1 b2 / o1 o2", "there are 2 columns, not three with '/' between them"),
            ("b1 b2 /  / o1 o2", "there is nothing in column C: an empty column is written '-'"),
            ("b1 b2 / - / o1 o3", "'o3' is no tile: they are b1 to b2 and o1 to o2"),
            ("b1 b2 / - / o1 x", "'x' is no tile: they are b1 to b2 and o1 to o2"),
            ("b1 b2 / - / o1 o02", "'o02' is no tile: they are b1 to b2 and o1 to o2"),
            ("b1 b2 / é / o1 o2", "'é' is no tile: they are b1 to b2 and o1 to o2"),
            ("b1 - b2 / - / o1 o2", "'-' is no tile: they are b1 to b2 and o1 to o2"),
            ("b1 b2 / b1 / o1 o2", "b1 is there twice"),
            ("b1 b2 / - / o2", "o1 is missing"),
            ("b2 o2 b1 / - / o1", "b1 has 2 tiles above it in column L: at most 1 may be"),
            ("- / b1 o1 b2 o2 / -", "o2 has 3 tiles above it in column C: at most 2 may be"),
        ] {
            assert_eq!(Position::parse(2, text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn a_tile_on_the_centres_top_layer_is_recognised() {
        for (text, uses) in [
            ("b2 / o1 b1 / o2", true),
            ("b2 / b1 / o1 o2", false),
            ("- / b1 b2 o2 / o1", true),
            ("b1 b2 / - / o1 o2", false),
        ] {
            assert_eq!(Position::parse(2, text).unwrap().uses_centre_top(), uses, "{text}");
        }
    }
}

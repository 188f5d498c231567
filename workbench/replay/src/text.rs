//! The text form of positions: `b1 b2 / - / o1 o2`, tiles top to bottom.

use std::fmt;
use std::str::FromStr;

use crate::position::{Position, PositionError};
use crate::tile::{Column, NotATile, Tile};

/// Error of a text that is not a position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Not three columns.
    #[error("a position has three columns with '/' between them (b1 / - / o1), this has {found}")]
    Columns {
        /// Number of columns.
        found: usize,
    },
    /// Nothing between two slashes.
    #[error("nothing in {column}: an empty column is written '-'")]
    Nothing {
        /// The column.
        column: Column,
    },
    /// A token that is not a tile.
    #[error("{column}, token {place}: {error}")]
    Token {
        /// The column.
        column: Column,
        /// Number of the token in its column, from 1.
        place: usize,
        /// The reason.
        error: NotATile,
    },
    /// The tiles do not make a position.
    #[error(transparent)]
    Position(#[from] PositionError),
}

impl Position {
    /// Reads a position whose level is known, so that a missing or wrong tile is named.
    ///
    /// # Errors
    /// If a token is not a tile, tiles are missing or repeated, or a rule is broken.
    pub fn parse(text: &str, level: u8) -> Result<Position, TextError> {
        Ok(Position::new(level, parse_columns(text)?)?)
    }
}

impl FromStr for Position {
    type Err = TextError;

    /// Reads a position. Its level is the highest level of its tiles.
    fn from_str(text: &str) -> Result<Position, TextError> {
        let columns = parse_columns(text)?;
        let level = columns.iter().flatten().map(|tile| tile.level).max().unwrap_or(0);
        Ok(Position::new(level, columns)?)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_columns(f, |column| self.column(column).map(|tile| tile.to_string()))
    }
}

fn parse_columns(text: &str) -> Result<[Vec<Tile>; 3], TextError> {
    let mut columns = [const { Vec::new() }; 3];
    for (column, tokens) in Column::ALL.into_iter().zip(split_columns(text)?) {
        for (place, token) in (1..).zip(tokens) {
            let tile = token.parse().map_err(|error| TextError::Token { column, place, error })?;
            columns[column.index()].push(tile);
        }
    }
    Ok(columns)
}

/// The tokens of the three columns. A column `-` has none.
pub(crate) fn split_columns(text: &str) -> Result<[Vec<&str>; 3], TextError> {
    let parts: Vec<Vec<&str>> =
        text.split('/').map(|part| part.split_whitespace().collect()).collect();
    let found = parts.len();
    let mut columns: [Vec<&str>; 3] = parts.try_into().map_err(|_| TextError::Columns { found })?;
    for (column, tokens) in Column::ALL.into_iter().zip(&mut columns) {
        match tokens.as_slice() {
            [] => return Err(TextError::Nothing { column }),
            ["-"] => tokens.clear(),
            _ => {}
        }
    }
    Ok(columns)
}

/// Writes the tokens of the three columns, with `-` for a column without tokens.
pub(crate) fn write_columns<I: Iterator<Item = String>>(
    f: &mut fmt::Formatter<'_>,
    tokens: impl Fn(Column) -> I,
) -> fmt::Result {
    let columns = Column::ALL.map(|column| {
        let tokens: Vec<String> = tokens(column).collect();
        if tokens.is_empty() { "-".to_owned() } else { tokens.join(" ") }
    });
    f.write_str(&columns.join(" / "))
}

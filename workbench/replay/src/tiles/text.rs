//! The text form of boards: `1 2 3 / 4 5 _`, rows from the top, `_` for the blank.

use std::fmt;
use std::str::FromStr;

use crate::tiles::board::{Board, BoardError, MAX_SIDE, MIN_SIDE, Shape};

/// Error of a text that is not a board. Rows and columns are counted from 1; the first wrong token
/// is named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Too many or too few rows.
    #[error("a {shape} board has {} rows with '/' between them, this has {found}", shape.rows())]
    Rows {
        /// The shape.
        shape: Shape,
        /// Number of rows.
        found: usize,
    },
    /// A row with too few tokens.
    #[error("row {row} ends after '{last}': it has {found} of {} squares", shape.columns())]
    Short {
        /// The row.
        row: usize,
        /// Its last token.
        last: String,
        /// Number of its tokens.
        found: usize,
        /// The shape.
        shape: Shape,
    },
    /// A row with too many tokens.
    #[error("row {row} has {} squares: '{token}' is one too many", shape.columns())]
    Long {
        /// The row.
        row: usize,
        /// The first token too many.
        token: String,
        /// The shape.
        shape: Shape,
    },
    /// A token that is not a tile of the board.
    #[error("row {row}, column {column}: '{token}' is not one of 1 to {last}, or _ for the blank")]
    Token {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The token.
        token: String,
        /// The board's last tile.
        last: usize,
    },
    /// A tile, or the blank, that occurs for the second time.
    #[error("row {row}, column {column}: '{token}' is there twice{missing}")]
    Twice {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The token.
        token: String,
        /// The tile or blank that is missing instead, in words.
        missing: String,
    },
    /// No board has this shape.
    #[error("a board has {MIN_SIDE} to {MAX_SIDE} rows and columns, this has {rows} by {columns}")]
    Shape {
        /// Rows.
        rows: usize,
        /// Tokens of the first row.
        columns: usize,
    },
    /// The tiles do not make a board.
    #[error(transparent)]
    Board(#[from] BoardError),
}

impl Board {
    /// Reads a board of a known shape.
    ///
    /// # Errors
    /// Names the first token that is wrong.
    pub fn parse(text: &str, shape: Shape) -> Result<Board, TextError> {
        let rows: Vec<Vec<&str>> =
            text.split('/').map(|row| row.split_whitespace().collect()).collect();
        let mut tiles = Vec::with_capacity(shape.squares());
        for (row, tokens) in rows.iter().take(shape.rows()).enumerate() {
            for (column, token) in tokens.iter().enumerate() {
                if column == shape.columns() {
                    let token = (*token).to_owned();
                    return Err(TextError::Long { row: row + 1, token, shape });
                }
                let tile = tile(token, shape).ok_or_else(|| TextError::Token {
                    row: row + 1,
                    column: column + 1,
                    token: (*token).to_owned(),
                    last: shape.squares() - 1,
                })?;
                if tiles.contains(&tile) {
                    return Err(TextError::Twice {
                        row: row + 1,
                        column: column + 1,
                        token: (*token).to_owned(),
                        missing: missing(&rows, shape),
                    });
                }
                tiles.push(tile);
            }
            if tokens.len() < shape.columns() {
                let last = tokens.last().copied().unwrap_or("/").to_owned();
                return Err(TextError::Short { row: row + 1, last, found: tokens.len(), shape });
            }
        }
        if rows.len() != shape.rows() {
            return Err(TextError::Rows { shape, found: rows.len() });
        }
        Ok(Board::new(shape, tiles)?)
    }
}

fn tile(token: &str, shape: Shape) -> Option<u8> {
    if token == "_" {
        return Some(0);
    }
    let plain = token.bytes().all(|b| b.is_ascii_digit());
    let tile = token.parse::<u8>().ok().filter(|_| plain)?;
    (1..shape.squares()).contains(&usize::from(tile)).then_some(tile)
}

fn missing(rows: &[Vec<&str>], shape: Shape) -> String {
    let there = |wanted: u8| rows.iter().flatten().any(|token| tile(token, shape) == Some(wanted));
    match (1..shape.squares() as u8).chain([0]).find(|tile| !there(*tile)) {
        Some(0) => ", and the blank is missing".to_owned(),
        Some(tile) => format!(", and {tile} is missing"),
        None => String::new(),
    }
}

impl FromStr for Board {
    type Err = TextError;

    /// Reads a board; its shape is that of the text.
    fn from_str(text: &str) -> Result<Board, TextError> {
        let rows = text.split('/').count();
        let columns = text.split('/').next().map_or(0, |row| row.split_whitespace().count());
        let side = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
        let shape = Shape::new(side(rows), side(columns));
        Board::parse(text, shape.map_err(|_| TextError::Shape { rows, columns })?)
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (row, tiles) in self.tiles().chunks(self.shape().columns()).enumerate() {
            f.write_str(if row > 0 { " / " } else { "" })?;
            for (column, tile) in tiles.iter().enumerate() {
                f.write_str(if column > 0 { " " } else { "" })?;
                match tile {
                    0 => f.write_str("_")?,
                    tile => write!(f, "{tile}")?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_read_and_written() {
        let board: Board = " 3 1 2/ _ 5  4 ".parse().unwrap();
        assert_eq!(board.to_string(), "3 1 2 / _ 5 4");
        assert_eq!((board.blank(), board.blank_row()), (4, 2));
    }

    #[test]
    fn the_first_wrong_token_is_named() {
        let shape = Shape::new(2, 3).unwrap();
        let error = |text: &str| Board::parse(text, shape).unwrap_err().to_string();
        assert_eq!(error("1 2 3"), "a 2x3 board has 2 rows with '/' between them, this has 1");
        assert_eq!(
            error("1 2 3 / 4 5 _ / 6"),
            "a 2x3 board has 2 rows with '/' between them, this has 3"
        );
        assert_eq!(error("1 2 / 3 4 5"), "row 1 ends after '2': it has 2 of 3 squares");
        assert_eq!(error("/ 3 4 5"), "row 1 ends after '/': it has 0 of 3 squares");
        assert_eq!(error("1 2 3 4 / 5 _"), "row 1 has 3 squares: '4' is one too many");
        assert_eq!(
            error("1 2 3 / 4 6 _"),
            "row 2, column 2: '6' is not one of 1 to 5, or _ for the blank"
        );
        assert_eq!(
            error("1 2 3 / x 6 _"),
            "row 2, column 1: 'x' is not one of 1 to 5, or _ for the blank"
        );
        assert_eq!(
            error("1 +2 3 / 4 5 _"),
            "row 1, column 2: '+2' is not one of 1 to 5, or _ for the blank"
        );
        assert_eq!(error("1 2 2 / 4 5 _"), "row 1, column 3: '2' is there twice, and 3 is missing");
        assert_eq!(error("1 2 3 / 4 _ _"), "row 2, column 3: '_' is there twice, and 5 is missing");
        assert_eq!(
            error("1 2 3 / 4 5 1"),
            "row 2, column 3: '1' is there twice, and the blank is missing"
        );
        assert_eq!(error("1 2 2 3 / 4 5 _"), "row 1, column 3: '2' is there twice");
        let error = "1 2 / 3".parse::<Board>().unwrap_err().to_string();
        assert_eq!(error, "row 2 ends after '3': it has 1 of 2 squares");
        let error = "1 2".parse::<Board>().unwrap_err().to_string();
        assert_eq!(error, "a board has 2 to 15 rows and columns, this has 1 by 2");
    }
}

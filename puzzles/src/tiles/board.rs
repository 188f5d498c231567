//! Boards of the sliding-tile puzzle: text form, and the order in which their squares are read.

use std::fmt;

use strata_space::SpaceError;

/// Maximum number of squares: a region's key holds 23 tiles of five bits, and at least one tile is local.
pub const MAX_SQUARES: u8 = 25;

/// Tiles in reading order, 0 for the blank.
pub(super) type Reading = [u8; MAX_SQUARES as usize];

/// Why a text is not a board. Errors name the first wrong token; rows and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// Too many or too few rows.
    #[error("it has {found} rows, not {expected}")]
    Rows {
        /// The number of rows found.
        found: usize,
        /// The number of rows expected.
        expected: u8,
    },
    /// Too many or too few tokens in a row.
    #[error("row {row} has {found} tokens, not {expected}: {at}")]
    Row {
        /// The row.
        row: usize,
        /// The number of tokens found.
        found: usize,
        /// The number of tokens expected.
        expected: u8,
        /// The place where tokens are missing or in excess, in words.
        at: String,
    },
    /// A token that is not a tile, or a tile for the second time.
    #[error("row {row}, column {column}: '{token}' is {what}")]
    Token {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The token.
        token: String,
        /// What is wrong with it.
        what: String,
    },
}

/// Rows and columns of a board: at least two of each, together at most [`MAX_SQUARES`] squares.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    rows: u8,
    columns: u8,
}

impl Shape {
    /// Reads a shape such as `3x4`.
    ///
    /// # Errors
    /// [`SpaceError::Malformed`] if the text is not of this form, [`SpaceError::OutOfRange`] if a
    /// side or the number of squares is out of range.
    pub fn parse(text: &str) -> Result<Shape, SpaceError> {
        let sides = text.trim().split_once('x').map(|(rows, columns)| {
            let plain = |side: &str| side.bytes().all(|b| b.is_ascii_digit());
            let number = |side: &str| side.parse::<u32>().ok().filter(|_| plain(side));
            (number(rows), number(columns))
        });
        let Some((Some(rows), Some(columns))) = sides else {
            return Err(SpaceError::Malformed {
                name: "size".into(),
                value: text.into(),
                expected: "ROWSxCOLUMNS such as 3x4".into(),
            });
        };
        let most = u32::from(MAX_SQUARES) / 2;
        SpaceError::check("rows", rows, 2, most)?;
        SpaceError::check("columns", columns, 2, most)?;
        SpaceError::check("rows times columns", rows * columns, 4, MAX_SQUARES.into())?;
        Ok(Shape { rows: rows as u8, columns: columns as u8 })
    }

    /// Number of rows.
    pub(super) fn rows(self) -> u8 {
        self.rows
    }

    /// Number of columns.
    pub(super) fn columns(self) -> u8 {
        self.columns
    }

    /// Number of squares.
    pub fn squares(self) -> u8 {
        self.rows * self.columns
    }

    /// Length of the lines in which squares are read: the shorter side.
    pub(super) fn line(self) -> u8 {
        self.rows.min(self.columns)
    }

    /// The length of the sides of a square board.
    pub(super) fn side(self) -> Option<u8> {
        (self.rows == self.columns).then_some(self.rows)
    }

    /// The squares, numbered row by row from 0, in the order in which they are read: line by line,
    /// every second line backwards, so that neighbours in the order are neighbours on the board.
    pub(super) fn reading_order(self) -> Vec<u8> {
        let line = self.line();
        let square = |at: u8| {
            let (number, offset) = (at / line, at % line);
            let along = if number.is_multiple_of(2) { offset } else { line - 1 - offset };
            if line == self.columns {
                number * self.columns + along
            } else {
                along * self.columns + number
            }
        };
        (0..self.squares()).map(square).collect()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.columns)
    }
}

/// A board: the tile on every square row by row, 0 for the blank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Board {
    shape: Shape,
    tiles: Vec<u8>,
}

impl Board {
    /// The usual goal: the tiles in order, the blank last.
    pub fn goal(shape: Shape) -> Board {
        Board { shape, tiles: (1..shape.squares()).chain([0]).collect() }
    }

    /// Reads a board such as `1 2 3 / 4 5 _`.
    ///
    /// # Errors
    /// Names the first token that is wrong.
    pub fn parse(shape: Shape, text: &str) -> Result<Board, BoardError> {
        let mut tiles = Vec::new();
        let rows: Vec<&str> = text.split('/').collect();
        for (row, line) in rows.iter().take(shape.rows.into()).enumerate() {
            let tokens: Vec<&str> = line.split_whitespace().collect();
            for (column, token) in tokens.iter().take(shape.columns.into()).enumerate() {
                let tile = read(token, shape, &tiles).map_err(|what| BoardError::Token {
                    row: row + 1,
                    column: column + 1,
                    token: (*token).into(),
                    what,
                })?;
                tiles.push(tile);
            }
            if tokens.len() != usize::from(shape.columns) {
                let at = match (tokens.get(usize::from(shape.columns)), tokens.last()) {
                    (Some(first), _) => format!("'{first}' is one too many"),
                    (None, Some(last)) => format!("more must come after '{last}'"),
                    (None, None) => "it is empty".into(),
                };
                let (row, found, expected) = (row + 1, tokens.len(), shape.columns);
                return Err(BoardError::Row { row, found, expected, at });
            }
        }
        if rows.len() != usize::from(shape.rows) {
            return Err(BoardError::Rows { found: rows.len(), expected: shape.rows });
        }
        Ok(Board { shape, tiles })
    }

    /// The board's shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The tiles of each row, 0 for the blank.
    pub(super) fn rows(&self) -> Vec<&[u8]> {
        self.tiles.chunks(self.shape.columns.into()).collect()
    }

    /// The board after the blank has moved some rows down and columns to the right; None if it
    /// would leave the board.
    pub(super) fn moved(&self, down: i8, right: i8) -> Option<Board> {
        let blank = self.tiles.iter().position(|tile| *tile == 0)? as u8;
        let (row, column) = (blank / self.shape.columns, blank % self.shape.columns);
        let row = row.checked_add_signed(down).filter(|row| *row < self.shape.rows)?;
        let column = column.checked_add_signed(right).filter(|to| *to < self.shape.columns)?;
        let mut next = self.clone();
        next.tiles.swap(blank.into(), (row * self.shape.columns + column).into());
        Some(next)
    }

    /// The tiles in reading order.
    pub(super) fn reading(&self) -> Reading {
        let mut reading = [0; MAX_SQUARES as usize];
        for (tile, square) in reading.iter_mut().zip(self.shape.reading_order()) {
            *tile = self.tiles[usize::from(square)];
        }
        reading
    }

    /// The board with these tiles in reading order.
    pub(super) fn written(shape: Shape, reading: &Reading) -> Board {
        let mut tiles = vec![0; shape.squares().into()];
        for (tile, square) in reading.iter().zip(shape.reading_order()) {
            tiles[usize::from(square)] = *tile;
        }
        Board { shape, tiles }
    }
}

/// Reads a tile, 0 for the blank. The error says what is wrong: the token is not a tile, or it is one of
/// those before.
fn read(token: &str, shape: Shape, before: &[u8]) -> Result<u8, String> {
    let number = match token {
        "_" => Some(0),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse().ok().filter(|tile| (1..shape.squares()).contains(tile))
        }
        _ => None,
    };
    let wrong = || format!("not one of 1 to {}, or _ for the blank", shape.squares() - 1);
    let tile = number.ok_or_else(wrong)?;
    if before.contains(&tile) { Err("there twice".into()) } else { Ok(tile) }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |tile: &u8| if *tile == 0 { "_".into() } else { tile.to_string() };
        let rows = self.tiles.chunks(self.shape.columns.into());
        let rows = rows.map(|row| row.iter().map(word).collect::<Vec<_>>().join(" "));
        f.write_str(&rows.collect::<Vec<_>>().join(" / "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_the_order_are_neighbours_on_the_board() {
        let reading_order = |text: &str| Shape::parse(text).unwrap().reading_order();
        assert_eq!(reading_order("3x4"), [0, 4, 8, 9, 5, 1, 2, 6, 10, 11, 7, 3]);
        assert_eq!(reading_order("3x2"), [0, 1, 3, 2, 4, 5]);
        assert_eq!(reading_order("2x2"), [0, 1, 3, 2]);
    }

    #[test]
    fn the_first_wrong_token_is_named() {
        let shape = Shape::parse("2x3").unwrap();
        let error = |text: &str| Board::parse(shape, text).unwrap_err().to_string();
        assert_eq!(error("1 2 3"), "it has 1 rows, not 2");
        assert_eq!(error("1 2 / 3"), "row 1 has 2 tokens, not 3: more must come after '2'");
        assert_eq!(error("1 2 3 4 / 5 _"), "row 1 has 4 tokens, not 3: '4' is one too many");
        assert_eq!(error("1 2 3 / 4 2 _"), "row 2, column 2: '2' is there twice");
        assert_eq!(
            error("1 2 3 / 4 6 _"),
            "row 2, column 2: '6' is not one of 1 to 5, or _ for the blank"
        );
        let board = Board::parse(shape, " 1 _ 3/4 5 2").unwrap();
        assert_eq!(board.to_string(), "1 _ 3 / 4 5 2");
        let reading = board.reading();
        assert_eq!(reading[..6], [1, 4, 5, 0, 3, 2]);
        assert_eq!(Board::written(shape, &reading), board);
    }

    #[test]
    fn shapes_that_no_key_holds_are_refused() {
        let error = |text: &str| Shape::parse(text).unwrap_err().to_string();
        assert_eq!(error("1x4"), "rows must be between 2 and 12, not 1");
        assert_eq!(error("2x13"), "columns must be between 2 and 12, not 13");
        assert_eq!(error("5x6"), "rows times columns must be between 4 and 25, not 30");
        assert_eq!(error("4"), "size must be ROWSxCOLUMNS such as 3x4, not '4'");
        assert!(Shape::parse("5x5").is_ok() && Shape::parse("12x2").is_ok());
    }
}

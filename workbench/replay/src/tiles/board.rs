//! Boards: tiles and a blank on the squares of a rectangle, and the blank's moves.

use std::fmt;
use std::str::FromStr;

use crate::tiles::moves::Move;

/// The fewest rows and columns.
pub const MIN_SIDE: u8 = 2;

/// The most rows and columns, so that a tile's number fits a byte.
pub const MAX_SIDE: u8 = 15;

/// Rows and columns of a board, each from [`MIN_SIDE`] to [`MAX_SIDE`]. Text form: `3x4`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shape {
    rows: u8,
    columns: u8,
}

/// Why a shape is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Not two numbers.
    #[error("a board's shape is ROWSxCOLUMNS, such as 3x4, not '{text}'")]
    Malformed {
        /// What was given.
        text: String,
    },
    /// A number is out of range.
    #[error("a board has {MIN_SIDE} to {MAX_SIDE} {what}, not {value}")]
    OutOfRange {
        /// Rows or columns.
        what: &'static str,
        /// How many were given.
        value: u64,
    },
}

impl Shape {
    /// A shape with these rows and columns.
    ///
    /// # Errors
    /// If a side is out of range.
    pub fn new(rows: u8, columns: u8) -> Result<Shape, ShapeError> {
        for (what, value) in [("rows", rows), ("columns", columns)] {
            if !(MIN_SIDE..=MAX_SIDE).contains(&value) {
                return Err(ShapeError::OutOfRange { what, value: value.into() });
            }
        }
        Ok(Shape { rows, columns })
    }

    /// N, the number of rows.
    pub fn rows(self) -> usize {
        self.rows.into()
    }

    /// P, the number of columns.
    pub fn columns(self) -> usize {
        self.columns.into()
    }

    /// Number of squares.
    pub fn squares(self) -> usize {
        self.rows() * self.columns()
    }

    /// Rows and columns exchanged.
    #[must_use]
    pub fn turned(self) -> Shape {
        Shape { rows: self.columns, columns: self.rows }
    }

    /// The square next to `cell` in a direction; none beyond the edge. Squares are counted from 0.
    pub fn beside(self, cell: usize, towards: Move) -> Option<usize> {
        let (row, column) = (cell / self.columns(), cell % self.columns());
        match towards {
            Move::Up => (row > 0).then(|| cell - self.columns()),
            Move::Down => (row + 1 < self.rows()).then(|| cell + self.columns()),
            Move::Left => (column > 0).then(|| cell - 1),
            Move::Right => (column + 1 < self.columns()).then(|| cell + 1),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.columns)
    }
}

impl FromStr for Shape {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Shape, ShapeError> {
        let malformed = || ShapeError::Malformed { text: text.to_owned() };
        let (rows, columns) = text.trim().split_once('x').ok_or_else(malformed)?;
        let number = |digits: &str| -> Result<u64, ShapeError> {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if plain { Ok(digits.parse().unwrap_or(u64::MAX)) } else { Err(malformed()) }
        };
        let side = |what, value: u64| {
            u8::try_from(value).map_err(|_| ShapeError::OutOfRange { what, value })
        };
        let (rows, columns) = (number(rows)?, number(columns)?);
        Shape::new(side("rows", rows)?, side("columns", columns)?)
    }
}

/// Tiles 1, 2, … and one blank, each on a square of its own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Board {
    shape: Shape,
    /// By square, 0 for the blank.
    cells: Vec<u8>,
    blank: usize,
}

/// Error of numbers that do not make a board.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// Too many or too few.
    #[error("a {shape} board has {} squares, not {found}", shape.squares())]
    Count {
        /// The shape.
        shape: Shape,
        /// How many there are.
        found: usize,
    },
    /// No such tile.
    #[error("square {square}: there is no tile {tile} on a {shape} board")]
    NoSuchTile {
        /// The square, from 1.
        square: usize,
        /// The tile.
        tile: u8,
        /// The shape.
        shape: Shape,
    },
    /// A tile, or the blank, that occurs for the second time.
    #[error("square {square}: {tile} is on square {first} already")]
    Twice {
        /// The square, from 1.
        square: usize,
        /// The tile, 0 for the blank.
        tile: u8,
        /// Where it was seen first, from 1.
        first: usize,
    },
}

impl Board {
    /// A board from its tiles, row by row, with 0 for the blank.
    ///
    /// # Errors
    /// If the number of tiles is wrong, or a tile is out of range or occurs twice.
    pub fn new(shape: Shape, tiles: Vec<u8>) -> Result<Board, BoardError> {
        if tiles.len() != shape.squares() {
            return Err(BoardError::Count { shape, found: tiles.len() });
        }
        let mut seen = vec![None; shape.squares()];
        for (cell, tile) in tiles.iter().copied().enumerate() {
            let square = cell + 1;
            let place = seen.get_mut(usize::from(tile));
            let place = place.ok_or(BoardError::NoSuchTile { square, tile, shape })?;
            if let Some(first) = place.replace(cell) {
                return Err(BoardError::Twice { square, tile, first: first + 1 });
            }
        }
        let blank = seen[0].unwrap_or_default();
        Ok(Board { shape, cells: tiles, blank })
    }

    /// The usual goal: every tile on the square of its number, the blank on the last.
    pub fn goal(shape: Shape) -> Board {
        let blank = shape.squares() - 1;
        let cells = (1..shape.squares()).map(|tile| tile as u8).chain([0]).collect();
        Board { shape, cells, blank }
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The tiles row by row, 0 for the blank.
    pub fn tiles(&self) -> &[u8] {
        &self.cells
    }

    /// The blank's square, from 1.
    pub fn blank(&self) -> usize {
        self.blank + 1
    }

    /// The blank's row, from 1.
    pub fn blank_row(&self) -> usize {
        self.blank / self.shape.columns() + 1
    }

    /// Moves the blank. At the edge it changes nothing and returns false.
    pub fn step(&mut self, mv: Move) -> bool {
        let Some(next) = self.shape.beside(self.blank, mv) else { return false };
        self.cells.swap(self.blank, next);
        self.blank = next;
        true
    }

    /// The board turned by 90 degrees: its upper side becomes the right one or, counterclockwise,
    /// the left one. The clockwise turns of a walk stay clockwise on the turned board.
    #[must_use]
    pub fn rotated(&self, clockwise: bool) -> Board {
        let shape = self.shape.turned();
        let cells: Vec<u8> =
            (0..shape.squares()).map(|at| self.cells[unrotated(shape, at, clockwise)]).collect();
        let blank = cells.iter().position(|tile| *tile == 0).unwrap_or_default();
        Board { shape, cells, blank }
    }
}

/// The square, from 0, from which a square of a rotated board came.
fn unrotated(rotated: Shape, cell: usize, clockwise: bool) -> usize {
    let (row, column) = (cell / rotated.columns(), cell % rotated.columns());
    if clockwise {
        (rotated.columns() - 1 - column) * rotated.rows() + row
    } else {
        column * rotated.rows() + rotated.rows() - 1 - row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_and_checked() {
        let shape: Shape = "3x4".parse().unwrap();
        assert_eq!((shape.rows(), shape.columns(), shape.squares()), (3, 4, 12));
        assert_eq!(shape.to_string(), "3x4");
        let error = |text: &str| text.parse::<Shape>().unwrap_err().to_string();
        assert_eq!(error("3"), "a board's shape is ROWSxCOLUMNS, such as 3x4, not '3'");
        assert_eq!(error("3x-4"), "a board's shape is ROWSxCOLUMNS, such as 3x4, not '3x-4'");
        assert_eq!(error("1x4"), "a board has 2 to 15 rows, not 1");
        assert_eq!(error("4x300"), "a board has 2 to 15 columns, not 300");
    }

    #[test]
    fn a_rotated_board_turns_its_walks() {
        let board: Board = "1 2 3 / 4 5 _".parse().unwrap();
        assert_eq!(board.rotated(true).to_string(), "4 1 / 5 2 / _ 3");
        assert_eq!(board.rotated(false).to_string(), "3 _ / 2 5 / 1 4");
        assert_eq!(board.rotated(true).rotated(false), board);
        for clockwise in [true, false] {
            for mv in Move::ALL {
                let mut moved = board.clone();
                let mut turned = board.rotated(clockwise);
                let stepped = moved.step(mv);
                assert_eq!(turned.step(mv.rotated(clockwise)), stepped);
                assert_eq!(moved.rotated(clockwise), turned, "{mv:?}");
            }
        }
    }
}

//! Constructed solutions in which the blank never turns counterclockwise and has a choice on few
//! squares: theorems 3 (two rows) and 4 of the paper, with errors corrected.
//!
//! The blank goes straight while the next square lies in the working region, else it turns right.
//! On the bottom row it goes left until a column that the procedure chooses, and turns up there. So
//! a walk is a sequence of such columns, each with a condition that ends it.
//!
//! A board with more columns than rows is solved turned clockwise, one of two columns turned
//! counterclockwise: turning a board keeps clockwise turns, transposing it would reverse them.

use strata_replay::tiles::{Board, Move, Shape, Side, Word};

use crate::tiles::inversions::Solvability;

/// Error of a board without a walk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// Theorem 1 excludes it.
    #[error("{board} cannot be solved: half of all configurations cannot")]
    Unsolvable {
        /// The board.
        board: Board,
    },
    /// The construction failed, which is a bug.
    #[error("the construction is stuck at {board} after {moves} moves")]
    Stuck {
        /// The board at that moment, turned as it is solved.
        board: Board,
        /// Number of moves that led there.
        moves: usize,
    },
}

/// A walk of the blank that takes a board to the usual goal by the rules of theorems 3 and 4;
/// [`strata_replay::tiles::check`] returns its turns and choices.
///
/// # Errors
/// If the board cannot be solved.
pub fn walk(board: &Board) -> Result<Word, WalkError> {
    if !Solvability::of(board).is_solvable() {
        return Err(WalkError::Unsolvable { board: board.clone() });
    }
    let goal = Board::goal(board.shape());
    let moves = match Side::of(board.shape()) {
        _ if *board == goal => Vec::new(),
        Side::Bottom => Walker::new(board, &goal).solve()?,
        Side::Left => {
            let moves = Walker::new(&board.rotated(false), &goal.rotated(false)).solve()?;
            moves.into_iter().map(|mv| mv.rotated(true)).collect()
        }
        Side::Right => {
            // In the rotated goal the blank is at the left end of the bottom row. The walk leads to
            // the board with this row shifted and the blank at the right end, and from there
            // straight left.
            let mut aim = goal.rotated(true);
            while aim.step(Move::Right) {}
            let mut moves = Walker::new(&board.rotated(true), &aim).solve()?;
            moves.extend((1..aim.shape().columns()).map(|_| Move::Left));
            moves.into_iter().map(|mv| mv.rotated(false)).collect()
        }
    };
    Ok(Word::from(moves))
}

/// The blank's walk on a board of at least as many rows as columns, or of two rows.
struct Walker {
    board: Board,
    /// The goal. Its blank is in the last two rows and the last two columns.
    goal: Board,
    /// The working region: rows from `top`, columns from `left`, and of the top row only those
    /// columns that are not settled.
    top: usize,
    left: usize,
    settled: usize,
    heading: Move,
    moves: Vec<Move>,
}

impl Walker {
    fn new(board: &Board, goal: &Board) -> Walker {
        let (board, goal) = (board.clone(), goal.clone());
        let mut walker = Walker {
            board,
            goal,
            top: 0,
            left: 0,
            settled: 0,
            heading: Move::Up,
            moves: Vec::new(),
        };
        let (row, column) = walker.blank();
        // On the boundary the blank goes clockwise along it; inside it goes up to the boundary.
        walker.heading = match (row, column) {
            (_, 0) => Move::Up,
            (0, _) => Move::Right,
            (_, column) if column == walker.right() => Move::Down,
            (row, _) if row == walker.bottom() => Move::Left,
            _ => Move::Up,
        };
        walker
    }

    fn shape(&self) -> Shape {
        self.board.shape()
    }

    fn bottom(&self) -> usize {
        self.shape().rows() - 1
    }

    fn right(&self) -> usize {
        self.shape().columns() - 1
    }

    fn at(&self, cell: usize) -> (usize, usize) {
        (cell / self.shape().columns(), cell % self.shape().columns())
    }

    fn blank(&self) -> (usize, usize) {
        self.at(self.board.blank() - 1)
    }

    /// The tile that belongs on a square.
    fn wanted(&self, row: usize, column: usize) -> u8 {
        self.goal.tiles()[row * self.shape().columns() + column]
    }

    fn place(&self, tile: u8) -> (usize, usize) {
        let cell = self.board.tiles().iter().position(|other| *other == tile);
        self.at(cell.unwrap_or_default())
    }

    fn in_region(&self, (row, column): (usize, usize)) -> bool {
        row >= self.top && column >= self.left && (row > self.top || column >= self.settled)
    }

    /// One move by the rule; on the bottom row the blank turns up in column `turn`, if it is not a
    /// corner.
    fn step(&mut self, turn: usize) {
        let (row, column) = self.blank();
        let cell = self.board.blank() - 1;
        let ahead = self.shape().beside(cell, self.heading);
        let blocked = !ahead.is_some_and(|ahead| self.in_region(self.at(ahead)));
        let choice = self.heading == Move::Left
            && row == self.bottom()
            && (1..self.right()).contains(&column);
        if blocked || (choice && column == turn) {
            self.heading = self.heading.right_turn();
        }
        self.moves.push(self.heading);
        self.board.step(self.heading);
    }

    /// Walks until a condition holds, turning up in column `turn`.
    fn go(&mut self, turn: usize, until: impl Fn(&Walker) -> bool) -> Result<(), WalkError> {
        // Limit of moves: a ring has fewer squares than the board, and after that many rounds every
        // tile is back in its place. Reaching the limit is a bug.
        let most = self.moves.len() + 2 * self.shape().squares().pow(2);
        while !until(self) {
            if self.moves.len() == most {
                return Err(self.stuck());
            }
            self.step(turn);
        }
        Ok(())
    }

    fn stuck(&self) -> WalkError {
        WalkError::Stuck { board: self.board.clone(), moves: self.moves.len() }
    }

    /// Walks until a tile is on the square `to` and the blank on the square `blank`.
    fn bring(
        &mut self,
        turn: usize,
        tile: u8,
        to: (usize, usize),
        blank: (usize, usize),
    ) -> Result<(), WalkError> {
        self.go(turn, |walker| walker.place(tile) == to && walker.blank() == blank)
    }

    fn solve(mut self) -> Result<Vec<Move>, WalkError> {
        while self.top + 2 < self.shape().rows() {
            self.first_tile()?;
            (1..self.right() - 1).try_for_each(|column| self.next_tile(column))?;
            self.last_pair()?;
            self.top += 1;
            self.settled = 0;
        }
        let start = (self.top, self.right());
        self.go(0, |walker| walker.blank() == start)?;
        while self.left + 1 < self.right() {
            self.column()?;
            self.left += 1;
        }
        self.go(0, |walker| walker.board == walker.goal)?;
        Ok(self.moves)
    }

    /// Steps 1 and 2 of section 9: the first tile of the top row; the blank ends on the second
    /// square.
    fn first_tile(&mut self) -> Result<(), WalkError> {
        let (top, bottom) = (self.top, self.bottom());
        self.go(0, |walker| walker.blank() == (top, 0))?;
        let tile = self.wanted(top, 0);
        let (row, column) = self.place(tile);
        let inner = row > top && row < bottom && column > 0 && column < self.right();
        if inner {
            self.go(column, |walker| walker.place(tile) == (bottom, column))?;
        }
        self.bring(0, tile, (top, 0), (top, 1))?;
        self.settled = 1;
        Ok(())
    }

    /// Step 3 of section 9: the tile of a column that is neither the first nor one of the last two.
    /// The blank begins on its square and ends to the right of it.
    fn next_tile(&mut self, home: usize) -> Result<(), WalkError> {
        let (top, bottom) = (self.top, self.bottom());
        let tile = self.wanted(top, home);
        let (row, column) = self.place(tile);
        if column < home {
            // Case 2, by the ring through the tile's column.
            self.bring(column, tile, (bottom, home + 1), (bottom, home))?;
        } else if column > home && column < self.right() && row > top && row < bottom {
            self.go(column, |walker| walker.place(tile) == (bottom, column))?;
        }
        self.bring(home, tile, (top, home), (top, home + 1))?;
        self.settled = home + 1;
        Ok(())
    }

    /// Step 4 of section 9: the last two tiles of the top row; the blank ends below them.
    fn last_pair(&mut self) -> Result<(), WalkError> {
        let (top, bottom, right) = (self.top, self.bottom(), self.right());
        let (corner, below) = ((bottom, right), (top + 1, right));
        let (first, last) = (self.wanted(top, right - 1), self.wanted(top, right));
        let (_, column) = self.place(first);
        if column < right - 1 {
            self.go(column, |walker| {
                walker.place(first).1 == right - 1 && walker.blank() == corner
            })?;
        }
        self.bring(right - 1, first, (top, right - 1), below)?;
        if self.place(last) == (top, right) {
            return Ok(());
        }
        let (row, column) = self.place(last);
        let before = (bottom, right - 2);
        if column == right - 1 && row > top + 1 && row < bottom {
            self.bring(right - 1, last, (bottom, right - 1), corner)?;
            self.bring(0, last, before, corner)?;
        } else if column > 0 && column < right - 1 && row > top + 1 && row < bottom {
            self.bring(column, last, before, corner)?;
        } else {
            self.bring(0, last, before, corner)?;
        }
        self.bring(right - 1, first, (bottom, right - 1), corner)?;
        // The last tile follows the first: both are on the right, or, of three rows, the blank is
        // between them.
        self.bring(0, first, below, corner)?;
        self.go(right - 1, |walker| {
            walker.place(first) == (top, right - 1)
                && walker.place(last) == (top, right)
                && walker.blank() == below
        })
    }

    /// The procedure of section 8: the leftmost column of the last two rows. The blank begins and
    /// ends on the right of the upper row.
    fn column(&mut self) -> Result<(), WalkError> {
        let (top, bottom, left) = (self.top, self.bottom(), self.left);
        let start = (top, self.right());
        let (upper, lower) = (self.wanted(top, left), self.wanted(bottom, left));
        self.bring(left, lower, (bottom, left), start)?;
        if self.place(upper) == (top, left) {
            return Ok(());
        }
        self.bring(left + 1, upper, (top, left + 1), start)?;
        // One step back around the whole region, and there past the lower tile.
        self.bring(left, lower, (top, left), start)?;
        self.bring(left + 1, upper, (top, left + 1), start)?;
        self.go(left, |walker| {
            walker.place(upper) == (top, left)
                && walker.place(lower) == (bottom, left)
                && walker.blank() == start
        })
    }
}

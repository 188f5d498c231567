//! X(N) by choke points: a dynamic program that needs no search over whole positions.
//!
//! The idea is Derek Kisman's (2010, reported by Baxter): now and then the small tiles must stand
//! in order before a large one can move, and between two such moments little else can happen.
//!
//! # Definitions
//! Fix N. Tiles of levels up to N are *small*, the others *lower*. No tile may rest on the top
//! layer of the centre column. Rows are counted from the top, the track being row 0; a tile's row
//! is its level, or one less than the row of the tile below it if that is less.
//!
//! - The small tiles of a **useful** position stand in one of five **shapes**, colours ignored:
//!   towers on L and R; on C and R; the same, but with the tile 1 of C on top of R; and the
//!   mirror images of the last two. All lower tiles lie below the small ones, and in every
//!   column the topmost lower tile, or the ground, is at row N + 1 at least.
//! - A **segment** leads from a useful position to another, with none in between. At most three
//!   lower tiles move in it: the top two of C, and the top one of the column without a tower if
//!   that is L or R.
//! - A **signature** is all that a segment's possibilities depend on: the shape, those three
//!   tiles' levels and the rows of what lies below them, all relative to N.
//! - A **table** tells, for a signature, the least number of moves of a segment by how it ends:
//!   shape and arrangement of the three tiles (a *pattern*, one row of the table), and for which
//!   levels the two colours have exchanged their left-to-right order (a *swap vector*, N bits).
//!
//! # Recursion
//! For N = 2 a breadth-first search with explicit tiles makes the tables. A segment of level
//! N + 1 is a chain of segments of level N, in which the two tiles of level N + 1 are lower
//! tiles. What is between them is a node: a shape and the columns of the (at most five) lower
//! tiles that move, at most 82 nodes a signature, times a swap vector. The node's own signature
//! follows from exact rows, so nothing illegal is overlooked. Table entries are the edges; swap
//! vectors add by XOR. The nodes do not depend on N, and signatures with equal base tables and
//! equal graphs have equal tables on every level: 858 signatures can occur, in 38 classes. So
//! each level costs the same number of tables, with twice as long rows.
//!
//! X(N) is the distance between start and goal in a graph of 15 nodes times 2^N swap vectors. As
//! the way back is the way forth with the colours exchanged, half of it is searched.
//!
//! # Speed
//! A table is found by Dijkstra's algorithm, a bucket of distances at a time. Inside a bucket
//! the cheapest entries of the rows are followed one by one; what the bucket settled is then
//! spread along whole rows, `d[v ^ w] = min(d[v ^ w], d[v] + T[w])`, with vector instructions.
//! Tiles of 256 values and groups of 16 tiles are skipped where the least sum could not improve
//! the worst value, which on high levels is nearly everywhere.
//!
//! # Moves
//! For a move list the distances of all nodes of all levels are kept. A segment is walked back
//! from its end: for each step an entry of the lower level's tables is found that makes up the
//! difference, and is expanded in turn. Entries that come again are expanded once; there are
//! some thousands of different ones.

mod board;
mod classes;
mod graph;
mod kernel;
mod path;
mod run;
mod search;
mod shape;
mod signature;
mod stack;
mod tables;
#[cfg(test)]
mod tests;
mod top;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use thiserror::Error;

pub use kernel::Vectors;
pub use run::{OnProgress, Progress};

use crate::Move;
use board::{Board, moves_to};
use classes::{BASE, ClassId, Structure};
use kernel::Checked;
use run::Run;
use shape::Shape;
use tables::{Keep, Tables};
use top::Meeting;

/// More than any number of moves; two of them can be added.
const UNREACHED: u32 = u32::MAX / 2;

/// The greatest level. Beyond it sums of numbers of moves might not fit into 31 bits; every run
/// checks that they do.
pub const MAX_LEVEL: u8 = 21;

/// Why there is no result.
#[derive(Error, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChokeError {
    /// The puzzle has at least one tile of each colour.
    #[error("the level must be between 1 and {MAX_LEVEL}, not {level}")]
    Level {
        /// The level asked for.
        level: u8,
    },
    /// Sums of distances came too close to the greatest number.
    #[error("the numbers of moves of level {level} do not fit into 31 bits")]
    CostTooLarge {
        /// The level whose tables were to be made.
        level: u8,
    },
    /// The run's flag was set.
    #[error("cancelled")]
    Cancelled,
}

/// A search for the least number of moves that exchange the towers.
///
/// ```
/// use strata_panex::choke::Search;
///
/// let search = Search::new(5).threads(2);
/// assert_eq!(search.least_moves()?, 343);
/// assert_eq!(search.moves()?.len(), 343);
/// # Ok::<(), strata_panex::choke::ChokeError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Search<'a> {
    level: u8,
    threads: usize,
    vectors: Option<Vectors>,
    progress: Option<OnProgress<'a>>,
    cancel: Option<&'a AtomicBool>,
}

impl<'a> Search<'a> {
    /// A search for the puzzle with towers of `level` tiles, on one thread.
    pub fn new(level: u8) -> Self {
        Self { level, threads: 1, vectors: None, progress: None, cancel: None }
    }

    /// Uses this many threads. Each takes memory for one table.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Uses these vector instructions, if the processor has them, not the fastest ones.
    pub fn vectors(self, vectors: Vectors) -> Self {
        Self { vectors: Some(vectors), ..self }
    }

    /// Calls this when a level begins and when one of its tables is ready.
    pub fn on_progress(self, progress: OnProgress<'a>) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Gives up soon after the flag was set.
    pub fn cancel(self, cancel: &'a AtomicBool) -> Self {
        Self { cancel: Some(cancel), ..self }
    }

    /// X(level).
    ///
    /// # Errors
    /// If the level is out of range, the costs do not fit, or the search was cancelled.
    pub fn least_moves(&self) -> Result<u32, ChokeError> {
        if self.check_level()? {
            return Ok(solve_on_tiles(self.level).len() as u32);
        }
        let run = self.run();
        let structure = Structure::shared();
        let mut tables = Tables::base(structure);
        for wanted in self.wanted(structure) {
            tables = tables.next(structure, &wanted, Keep::Rows, &run)?;
        }
        Ok(top::meet(structure, &tables, &run)?.moves)
    }

    /// A shortest list of moves from the start (the two towers on L and R) to the goal (the
    /// towers exchanged). It is the same in every run. Keeps all distances in memory.
    ///
    /// # Errors
    /// As [`Search::least_moves`].
    pub fn moves(&self) -> Result<Vec<Move>, ChokeError> {
        if self.check_level()? {
            return Ok(solve_on_tiles(self.level));
        }
        let run = self.run();
        let structure = Structure::shared();
        let mut tables = vec![Tables::base(structure)];
        for wanted in self.wanted(structure) {
            let next = tables[tables.len() - 1].next(structure, &wanted, Keep::Everything, &run)?;
            tables.push(next);
        }
        let meeting: Meeting = top::meet(structure, &tables[tables.len() - 1], &run)?;
        Ok(path::trace(structure, &tables, &meeting))
    }

    /// Whether the level is so low that there are no tables for it.
    fn check_level(&self) -> Result<bool, ChokeError> {
        match self.level {
            1..=MAX_LEVEL => Ok(self.level <= BASE),
            level => Err(ChokeError::Level { level }),
        }
    }

    fn run(&self) -> Run<'a> {
        Run {
            threads: self.threads.max(1),
            vectors: Checked::new(self.vectors),
            cancel: self.cancel,
            progress: self.progress,
            started: Instant::now(),
        }
    }

    /// The classes whose tables are needed of the levels above the base and below the puzzle's.
    fn wanted(&self, structure: &Structure) -> Vec<Vec<ClassId>> {
        let mut levels = Vec::new();
        let mut needed = Structure::needed(&structure.top);
        for _ in BASE + 1..self.level {
            let nodes = needed.iter().flat_map(|&class| &structure.classes[class].nodes);
            let below = Structure::needed(nodes);
            levels.push(std::mem::replace(&mut needed, below));
        }
        levels.reverse();
        levels
    }
}

/// A shortest solution of a small puzzle, by breadth-first search.
fn solve_on_tiles(level: u8) -> Vec<Move> {
    let board = Board::new(level, &[], [level + 1; 3]);
    let start = board.position(Shape::Sides, &Default::default());
    let goal = [start[2], start[1], start[0]];
    let visits = board.search(start, |_| true);
    let found = visits.iter().position(|visit| visit.stacks == goal);
    moves_to(&visits, found.expect("the puzzle has a solution"))
}

//! The search for the least number of moves that exchange the towers.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use strata_replay::Move;

use super::board::{Board, moves_to};
use super::classes::{BASE, ClassId, Structure};
use super::error::{ChokeError, MAX_LEVEL};
use super::kernel::{AvailableVectors, Vectors};
use super::run::{OnProgress, Run};
use super::shape::Shape;
use super::tables::{Keep, Tables};
use super::top::Meeting;
use super::{path, top};

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

    /// Uses these vector instructions, if the processor has them, instead of the fastest ones.
    pub fn vectors(self, vectors: Vectors) -> Self {
        Self { vectors: Some(vectors), ..self }
    }

    /// Calls this when a level begins and when one of its tables is ready.
    pub fn on_progress(self, progress: OnProgress<'a>) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Sets a flag that cancels the search soon after it becomes true: it then returns
    /// [`ChokeError::Cancelled`].
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
        for needed in self.needed(structure) {
            tables = tables.next(structure, &needed, Keep::Rows, &run)?;
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
        for needed in self.needed(structure) {
            let next = tables[tables.len() - 1].next(structure, &needed, Keep::Everything, &run)?;
            tables.push(next);
        }
        let meeting: Meeting = top::meet(structure, &tables[tables.len() - 1], &run)?;
        Ok(path::trace(structure, &tables, &meeting))
    }

    /// Whether the puzzle is solved by a search over positions: tables begin at the base level, so
    /// there are none of the level below. Fails if the level is out of range.
    fn check_level(&self) -> Result<bool, ChokeError> {
        match self.level {
            1..=MAX_LEVEL => Ok(self.level <= BASE),
            level => Err(ChokeError::Level { level }),
        }
    }

    fn run(&self) -> Run<'a> {
        Run {
            threads: self.threads.max(1),
            vectors: AvailableVectors::new(self.vectors),
            cancel: self.cancel,
            progress: self.progress,
            started: Instant::now(),
        }
    }

    /// For each level above the base and below the puzzle's: the classes whose tables are needed.
    fn needed(&self, structure: &Structure) -> Vec<Vec<ClassId>> {
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

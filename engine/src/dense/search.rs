//! Dense search of the whole space in memory: layer loop, queries, shortest paths.

use std::fmt;
use std::sync::Arc;

use strata_space::LayerStats;
use strata_space::dense::{DenseSpace, DenseState};

use crate::dense::error::SearchError;
use crate::dense::kernel::{Kernel, LayerCode};
use crate::dense::options::{Direction, Options};
use crate::dense::pass::{Context, Part, PartStats, Pass, Source};
use crate::dense::plane::{Plane, read_reached};
use crate::dense::tasks;

/// Number of word moves for which one more thread is worth its cost.
const WORK_PER_THREAD: u64 = 1 << 13;

/// Number of parts per thread in a pull, so that threads end at about the same time.
const PULL_PARTS: usize = 16;

/// The cost of a word move in a pull, relative to one in a push.
const PULL_COST: f64 = 1.0;

/// A search of all states of a space, layer by layer.
pub struct Search {
    context: Context,
    threads: usize,
    direction: Option<Direction>,
    depths: [Plane; 2],
    current: Plane,
    next: Plane,
    /// Number of states of the current layer, by block.
    counts: Vec<u32>,
    next_counts: Vec<u32>,
    /// Number of words with states that were not reached, by block; then their sum.
    open: Vec<u32>,
    open_words: u64,
    /// For each block, whether the next plane has its candidates. All false between two passes.
    is_touched: Vec<bool>,
    depth: u32,
    stats: LayerStats,
    /// Number of words with states of the current layer.
    words: u64,
    is_complete: bool,
}

/// A move of a path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The move's index.
    pub index: usize,
    /// The state after the move.
    pub state: DenseState,
}

impl Search {
    /// A search at depth 0.
    ///
    /// # Errors
    /// If the planes exceed the memory budget or the system's memory, the processor lacks the chosen
    /// kernel, or folded blocks are to be pushed.
    pub fn new(space: Arc<dyn DenseSpace>, options: &Options) -> Result<Search, SearchError> {
        let start = space.tables().start();
        let mut search = Search::empty(space, options)?;
        search.begin(start);
        Ok(search)
    }

    /// A search that continues from the layer at `depth`. `load` must add this layer with [`Self::add`],
    /// and the earlier layers: the layer before if edges are undirected, otherwise all. More layers than
    /// needed only complete the depths modulo 3, for [`Self::residue`].
    ///
    /// # Errors
    /// Those of [`Self::new`] and of `load`.
    pub fn resumed<E: From<SearchError>>(
        space: Arc<dyn DenseSpace>,
        options: &Options,
        depth: u32,
        load: impl FnOnce(&mut Search) -> Result<(), E>,
    ) -> Result<Search, E> {
        let mut search = Search::empty(space, options)?;
        search.depth = depth;
        load(&mut search)?;
        search.count();
        Ok(search)
    }

    /// Adds states of the layer at `depth` in blocks from `first` on: a word for each row. No layer may
    /// have one of these states yet.
    ///
    /// # Errors
    /// [`SearchError::Repeated`] if a layer has one of them already.
    ///
    /// # Panics
    /// If the blocks are out of range.
    pub fn add(&mut self, depth: u32, first: u32, words: &[u64]) -> Result<(), SearchError> {
        let rows = self.context.space.tables().shape().rows as usize;
        let start = first as usize * rows;
        let range = start..start + words.len();
        let code = depth % 3 + 1;
        let [low, high] = &mut self.depths;
        let planes =
            low.words_mut()[range.clone()].iter_mut().zip(&mut high.words_mut()[range.clone()]);
        for ((low, high), word) in planes.zip(words) {
            if (*low | *high) & word != 0 {
                return Err(SearchError::Repeated { depth });
            }
            *low |= if code & 1 != 0 { *word } else { 0 };
            *high |= if code & 2 != 0 { *word } else { 0 };
        }
        if depth == self.depth {
            self.current.words_mut()[range].copy_from_slice(words);
        }
        Ok(())
    }

    /// Counts the states that were added.
    fn count(&mut self) {
        let shape = self.context.space.tables().shape();
        let (rows, lanes) = (shape.rows as usize, shape.lane_mask());
        (self.stats, self.words, self.open_words) = (LayerStats::default(), 0, 0);
        for block in 0..shape.blocks as usize {
            let range = block * rows..(block + 1) * rows;
            let [low, high] = [0, 1].map(|plane: usize| &self.depths[plane].words()[range.clone()]);
            let open = low.iter().zip(high).filter(|(low, high)| **low | **high != lanes).count();
            self.open[block] = open as u32;
            self.open_words += open as u64;
            let words = &self.current.words()[range];
            let stats = self.context.stats(block, words);
            self.counts[block] = stats.layer.states as u32;
            self.words += stats.words;
            self.stats.add(&stats.layer);
        }
    }

    /// Reads the states of the current layer in blocks from `first` on: a word for each row.
    ///
    /// # Panics
    /// If the blocks are out of range.
    pub fn read_current(&self, first: u32, words: &mut [u64]) {
        self.read(&self.current, &self.counts, first, words);
    }

    /// As [`Self::read_current`], for the layer before. It is not available directly after
    /// [`Self::resumed`], nor after [`Self::advance`] has returned None.
    ///
    /// # Panics
    /// If the blocks are out of range.
    pub fn read_previous(&self, first: u32, words: &mut [u64]) {
        self.read(&self.next, &self.next_counts, first, words);
    }

    /// As [`Self::read_current`], for the states that were reached: those of all layers.
    ///
    /// # Panics
    /// If the blocks are out of range.
    pub fn read_reached(&self, first: u32, words: &mut [u64]) {
        let start = first as usize * self.context.space.tables().shape().rows as usize;
        read_reached(&self.depths, start, words);
    }

    fn read(&self, plane: &Plane, counts: &[u32], first: u32, words: &mut [u64]) {
        let rows = self.context.space.tables().shape().rows as usize;
        let start = first as usize * rows;
        words.copy_from_slice(&plane.words()[start..start + words.len()]);
        let counts = words.chunks_mut(rows).zip(&counts[first as usize..]);
        // The words of blocks without states are undefined.
        counts.filter(|(_, count)| **count == 0).for_each(|(words, _)| words.fill(0));
    }

    /// Bytes of planes, counters, tables and scratch memory of a search.
    ///
    /// # Errors
    /// If the processor lacks the chosen kernel.
    pub fn needed_bytes(space: &dyn DenseSpace, options: &Options) -> Result<u64, SearchError> {
        let kernel = Kernel::choose(options.kernel)?;
        let shape = space.tables().shape();
        let planes = shape.words().saturating_mul(4 * 8);
        let counters = u64::from(shape.blocks) * 12;
        let fixed = Context::bytes(space, kernel, options.digest);
        // A list of words for each thread, and a flag for each block.
        let scratch = options.threads.max(1) as u64 * u64::from(shape.rows) * 16;
        let scratch = scratch + u64::from(shape.blocks);
        Ok(planes.saturating_add(counters + fixed as u64 + scratch))
    }

    /// A search without states.
    fn empty(space: Arc<dyn DenseSpace>, options: &Options) -> Result<Search, SearchError> {
        let kernel = Kernel::choose(options.kernel)?;
        let needed = Search::needed_bytes(space.as_ref(), options)?;
        let (tables, budget) = (space.tables(), options.memory);
        let shape = tables.shape();
        if needed > budget {
            return Err(SearchError::Budget { states: shape.states(), needed, budget });
        }
        let (blocks, words) = (shape.blocks as usize, shape.words() as usize);
        let direction = options.direction_of(tables)?;
        let context = Context::new(&space, kernel, options.digest);
        Ok(Search {
            context,
            threads: options.threads.max(1),
            direction,
            depths: [Plane::new(words)?, Plane::new(words)?],
            current: Plane::new(words)?,
            next: Plane::new(words)?,
            counts: vec![0; blocks],
            next_counts: vec![0; blocks],
            open: vec![shape.rows; blocks],
            open_words: shape.words(),
            is_touched: vec![false; blocks],
            depth: 0,
            stats: LayerStats::default(),
            words: 0,
            is_complete: false,
        })
    }

    /// Makes the layer of depth 0.
    fn begin(&mut self, start: DenseState) {
        let shape = self.context.space.tables().shape();
        let (block, rows) = (start.block as usize, shape.rows as usize);
        let word = block * rows + usize::from(start.row);
        self.current.words_mut()[word] = 1 << start.lane;
        self.counts[block] = 1;
        // Depth 0 is marked by the low bit alone.
        self.depths[0].words_mut()[word] = 1 << start.lane;
        if shape.lanes == 1 {
            self.open[block] -= 1;
            self.open_words -= 1;
        }
        self.words = 1;
        self.stats = self.context.first_layer();
    }

    /// The depth of the current layer.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Figures of the current layer; regions are blocks.
    pub fn stats(&self) -> LayerStats {
        self.stats
    }

    /// The space.
    pub fn space(&self) -> &Arc<dyn DenseSpace> {
        &self.context.space
    }

    /// Makes the next layer, which becomes the current one, and returns its figures. None if it is empty;
    /// the current layer then stays the same.
    pub fn advance(&mut self) -> Option<LayerStats> {
        if self.is_complete {
            return None;
        }
        let direction = self.direction.unwrap_or_else(|| self.cheaper_direction());
        let made = self.make_layer(direction);
        if made.layer.states == 0 {
            self.is_complete = true;
            return None;
        }
        std::mem::swap(&mut self.current, &mut self.next);
        std::mem::swap(&mut self.counts, &mut self.next_counts);
        self.open_words -= made.closed;
        (self.words, self.stats) = (made.words, made.layer);
        self.depth += 1;
        Some(made.layer)
    }

    /// The direction with fewer word moves. A push has one for each word of the current layer and each
    /// move. A pull has one for each word with states that were not reached and each move from a block
    /// with states of the current layer.
    fn cheaper_direction(&self) -> Direction {
        let blocks = f64::from(self.context.space.tables().shape().blocks);
        let active = self.stats.regions as f64 / blocks;
        let pulled = self.open_words as f64 * active * PULL_COST;
        if self.words as f64 <= pulled { Direction::Push } else { Direction::Pull }
    }

    fn make_layer(&mut self, direction: Direction) -> PartStats {
        let shape = self.context.space.tables().shape();
        let moves = self.context.space.tables().moves().moves as u64;
        let words = match direction {
            Direction::Push => self.words,
            Direction::Pull => self.open_words,
        };
        let worth = (words.saturating_mul(moves) / WORK_PER_THREAD).max(1);
        let threads = self.threads.min(usize::try_from(worth).unwrap_or(usize::MAX));
        let parts = match direction {
            _ if threads == 1 => 1,
            Direction::Push => threads,
            Direction::Pull => threads * PULL_PARTS,
        };
        let pass = Pass {
            context: &self.context,
            source: Source { first: 0, words: self.current.words(), counts: &self.counts },
            code: LayerCode::new(self.depth + 1, shape.lane_mask()),
            direction,
        };
        let [low, high] = &mut self.depths;
        let whole = Part {
            first: 0,
            depths: [low.words_mut(), high.words_mut()],
            next: self.next.words_mut(),
            counts: &mut self.next_counts,
            open: &mut self.open,
            is_touched: &mut self.is_touched,
        };
        let parts = whole.split(parts, shape.rows as usize);
        let mut stats = PartStats::default();
        tasks::run(threads, parts, |part| pass.run(part)).iter().for_each(|part| stats.add(part));
        stats
    }

    /// The states of the current layer, ascending.
    pub fn layer(&self) -> impl Iterator<Item = DenseState> + '_ {
        let rows = self.context.space.tables().shape().rows as usize;
        let blocks = (0_u32..).zip(&self.counts).filter(|(_, count)| **count > 0);
        blocks.flat_map(move |(block, _)| {
            let at = block as usize * rows;
            let words = (0_u16..=u16::MAX).zip(&self.current.words()[at..at + rows]);
            words.flat_map(move |(row, word)| {
                let lanes = (0..64).filter(move |lane| word >> lane & 1 == 1);
                lanes.map(move |lane| DenseState { block, row, lane })
            })
        })
    }

    /// The depth of a state modulo 3; None if it was not reached, or is not a state of the space.
    pub fn residue(&self, state: DenseState) -> Option<u8> {
        let shape = self.context.space.tables().shape();
        if !shape.has(state) {
            return None;
        }
        let word = state.block as usize * shape.rows as usize + usize::from(state.row);
        let [low, high] =
            [0, 1].map(|plane: usize| self.depths[plane].words()[word] >> state.lane & 1);
        (low + 2 * high).checked_sub(1).map(|residue| residue as u8)
    }

    /// A shortest path from a state to the start; None if the state was not reached.
    ///
    /// # Errors
    /// [`SearchError::Directed`] if the moves are not closed under inversion: a neighbour whose depth
    /// modulo 3 is one less is then not always nearer to the start.
    pub fn path_to_start(&self, from: DenseState) -> Result<Option<Vec<Step>>, SearchError> {
        let tables = self.context.space.tables();
        if !tables.is_undirected() {
            return Err(SearchError::Directed);
        }
        let Some(mut residue) = self.residue(from) else { return Ok(None) };
        let (mut state, mut path) = (from, Vec::new());
        while state != tables.start() {
            residue = (residue + 2) % 3;
            let nearer =
                tables.successors(state).find(|(_, next)| self.residue(*next) == Some(residue));
            let Some((index, next)) = nearer else { return Ok(None) };
            path.push(Step { index, state: next });
            state = next;
        }
        Ok(Some(path))
    }
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search").field("depth", &self.depth).field("stats", &self.stats).finish()
    }
}

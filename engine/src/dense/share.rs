//! Search of some of the blocks in memory: the share of one worker among several.
//!
//! The depths of the share's own blocks stay in memory. Of other blocks, the search needs the current layer
//! only, and only of the *sources*: the blocks from which moves lead to own ones. They are loaded before
//! each layer, and are in memory together.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use strata_space::LayerStats;
use strata_space::dense::DenseSpace;

use crate::dense::error::SearchError;
use crate::dense::kernel::{Kernel, LayerCode};
use crate::dense::options::{Direction, Options};
use crate::dense::pass::{Context, Part, PartStats, Pass, Source};
use crate::dense::plane::{Plane, read_reached};
use crate::dense::tasks;

/// Number of tasks per thread, so that threads end at about the same time.
const TASKS_PER_THREAD: usize = 4;

/// A search that makes the layers of its own blocks.
pub struct ShareSearch {
    context: Context,
    threads: usize,
    direction: Option<Direction>,
    /// Own blocks, ascending.
    own: Vec<Range<u32>>,
    /// Blocks of others from which moves lead to own ones, ascending.
    sources: Vec<Range<u32>>,
    /// Depths of own blocks modulo 3, and the states of the next layer in them.
    depths: [Plane; 2],
    next: Plane,
    next_counts: Vec<u32>,
    /// Number of words with states that were not reached, by own block; then their sum.
    open: Vec<u32>,
    open_words: u64,
    is_touched: Vec<bool>,
    /// The current layer, with a word for each row of the whole space. Pages are used only where own blocks
    /// and sources are.
    current: Plane,
    /// For each block of the space, a number that is 0 if the current layer has no states there. The words of
    /// such a block are then undefined, unless it is an own one.
    counts: Vec<u32>,
    depth: u32,
    /// Number of words with states of the current layer in own blocks.
    own_words: u64,
}

/// What was loaded of the current layer.
#[derive(Copy, Clone, Default)]
struct Loaded {
    /// Blocks with states.
    blocks: u64,
    /// Words with states.
    words: u64,
}

impl ShareSearch {
    /// A search before layer 0. `own` and `sources` are ascending; `sources` must cover the blocks of others
    /// from which moves lead to own ones (see [`sources`]), and are loaded range by range.
    ///
    /// # Errors
    /// If the planes exceed the memory budget or the system's memory, the processor lacks the chosen
    /// kernel, or folded blocks are to be pushed.
    pub fn new(
        space: &Arc<dyn DenseSpace>,
        options: &Options,
        own: Vec<Range<u32>>,
        sources: Vec<Range<u32>>,
    ) -> Result<ShareSearch, SearchError> {
        let kernel = Kernel::choose(options.kernel)?;
        let needed = ShareSearch::needed_bytes(&**space, options, (&own, &sources))?;
        let shape = space.tables().shape();
        if needed > options.memory {
            let (states, budget) = (shape.states(), options.memory);
            return Err(SearchError::Budget { states, needed, budget });
        }
        let blocks = count(&own) as usize;
        let plane = || Plane::new(blocks * shape.rows as usize);
        Ok(ShareSearch {
            context: Context::new(space, kernel, options.digest),
            threads: options.threads.max(1),
            direction: options.direction_of(space.tables())?,
            own,
            sources,
            depths: [plane()?, plane()?],
            next: plane()?,
            next_counts: vec![0; blocks],
            open: vec![shape.rows; blocks],
            open_words: blocks as u64 * u64::from(shape.rows),
            is_touched: vec![false; blocks],
            current: Plane::new(shape.words() as usize)?,
            counts: vec![0; shape.blocks as usize],
            depth: 0,
            own_words: 0,
        })
    }

    /// Bytes of planes, counters, tables and scratch memory of a search, and of the sources once more: what
    /// is loaded may be in memory together.
    ///
    /// # Errors
    /// If the processor lacks the chosen kernel.
    pub fn needed_bytes(
        space: &dyn DenseSpace,
        options: &Options,
        (own, sources): (&[Range<u32>], &[Range<u32>]),
    ) -> Result<u64, SearchError> {
        let kernel = Kernel::choose(options.kernel)?;
        let shape = space.tables().shape();
        let words = 4 * count(own) + 2 * count(sources);
        let planes = words.saturating_mul(u64::from(shape.rows) * 8);
        let counters = u64::from(shape.blocks) * 4 + count(own) * 9;
        let fixed = Context::bytes(space, kernel, options.digest) as u64;
        let scratch = options.threads.max(1) as u64 * u64::from(shape.rows) * 16;
        Ok(planes.saturating_add(counters + fixed + scratch))
    }

    /// The depth of the current layer.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The own blocks.
    pub fn own(&self) -> &[Range<u32>] {
        &self.own
    }

    /// Makes the own part of the layer of depth 0, and returns its figures.
    pub fn begin(&mut self) -> LayerStats {
        let start = self.context.space.tables().start();
        let mut words = vec![0; self.rows()];
        words[usize::from(start.row)] = 1 << start.lane;
        match self.index(start.block) {
            // The planes are empty, so the state is new.
            Some(_) if self.add(0, start.block, &words).is_ok() => self.context.first_layer(),
            _ => LayerStats::default(),
        }
    }

    /// Makes the layer at `depth` the current one, without states until they are added.
    pub fn resume(&mut self, depth: u32) {
        self.depth = depth;
        self.own_words = 0;
        let rows = self.rows();
        for blocks in &self.own {
            let words = blocks.start as usize * rows..blocks.end as usize * rows;
            self.current.words_mut()[words].fill(0);
        }
        self.counts.fill(0);
    }

    /// Adds states of the layer at `depth` in own blocks from `first` on: a word for each row. Those of the
    /// current layer are searched further; the layer before is needed if edges are undirected, otherwise
    /// all earlier ones are.
    ///
    /// # Errors
    /// [`SearchError::Repeated`] if a layer has one of them already, [`SearchError::NotOwn`] if a block with
    /// states is not an own one.
    pub fn add(&mut self, depth: u32, first: u32, words: &[u64]) -> Result<(), SearchError> {
        let (rows, lanes) = (self.rows(), self.lanes());
        let code = depth % 3 + 1;
        for (block, words) in (first..).zip(words.chunks_exact(rows)) {
            let filled = words.iter().filter(|word| **word != 0).count();
            if filled == 0 {
                continue;
            }
            let index = self.index(block).ok_or(SearchError::NotOwn { block })?;
            let range = index * rows..(index + 1) * rows;
            let [low, high] = &mut self.depths;
            let planes =
                low.words_mut()[range.clone()].iter_mut().zip(&mut high.words_mut()[range]);
            let mut open = 0;
            for ((low, high), word) in planes.zip(words) {
                if (*low | *high) & word != 0 {
                    return Err(SearchError::Repeated { depth });
                }
                *low |= if code & 1 != 0 { *word } else { 0 };
                *high |= if code & 2 != 0 { *word } else { 0 };
                open += u32::from(*low | *high != lanes);
            }
            self.open_words -= u64::from(std::mem::replace(&mut self.open[index], open) - open);
            if depth == self.depth {
                let at = block as usize * rows;
                self.current.words_mut()[at..at + rows].copy_from_slice(words);
                self.counts[block as usize] = filled as u32;
                self.own_words += filled as u64;
            }
        }
        Ok(())
    }

    /// The states of the current layer in a range of own blocks: a word for each row.
    ///
    /// # Panics
    /// If the blocks are out of range.
    pub fn current(&self, own: &Range<u32>) -> &[u64] {
        let rows = self.rows();
        &self.current.words()[own.start as usize * rows..own.end as usize * rows]
    }

    /// Reads the states that were reached, those of all layers, in own blocks from `first` on: a word for each
    /// row.
    ///
    /// # Errors
    /// [`SearchError::NotOwn`] if `first` is not an own block.
    ///
    /// # Panics
    /// If the blocks are not of one range of own blocks.
    pub fn read_reached(&self, first: u32, words: &mut [u64]) -> Result<(), SearchError> {
        let index = self.index(first).ok_or(SearchError::NotOwn { block: first })?;
        read_reached(&self.depths, index * self.rows(), words);
        Ok(())
    }

    /// Makes the own part of the next layer, which becomes the current one, and returns its figures.
    ///
    /// First calls `load` for the blocks of all sources, on several threads, with a word for each row and a
    /// count for each block, which is 0. It must set the words and the count of each block in which the
    /// current layer has states; the count is the number of words with states.
    ///
    /// # Errors
    /// The first error of `load`. The search is then unchanged.
    pub fn advance<E: Send>(
        &mut self,
        load: impl Fn(Range<u32>, &mut [u64], &mut [u32]) -> Result<(), E> + Sync,
    ) -> Result<LayerStats, E> {
        let loaded = self.load(load)?;
        let direction = self.direction.unwrap_or_else(|| self.cheaper_direction(loaded));
        let made = self.make_layer(direction);
        self.take_next();
        self.open_words -= made.closed;
        self.own_words = made.words;
        self.depth += 1;
        Ok(made.layer)
    }

    /// Loads the current layer of the sources.
    fn load<E: Send>(
        &mut self,
        load: impl Fn(Range<u32>, &mut [u64], &mut [u32]) -> Result<(), E> + Sync,
    ) -> Result<Loaded, E> {
        let rows = self.rows();
        let step = count(&self.sources).div_ceil(self.tasks() as u64).max(1);
        let mut tasks = Vec::new();
        let (mut words, mut counts) = (self.current.words_mut(), &mut *self.counts);
        let mut at = 0;
        for source in &self.sources {
            for first in (source.start..source.end).step_by(step as usize) {
                let blocks = first..source.end.min(first.saturating_add(step as u32));
                let (skipped, len) = ((blocks.start - at) as usize, blocks.len());
                let rest = std::mem::take(&mut words).split_at_mut(skipped * rows).1;
                let (task_words, rest) = rest.split_at_mut(len * rows);
                words = rest;
                let rest = std::mem::take(&mut counts).split_at_mut(skipped).1;
                let (task_counts, rest) = rest.split_at_mut(len);
                counts = rest;
                at = blocks.end;
                tasks.push((blocks, task_words, task_counts));
            }
        }
        let loaded = tasks::run(self.threads, tasks, |(blocks, words, counts)| {
            counts.fill(0);
            load(blocks, words, counts)?;
            let filled = counts.iter().filter(|count| **count > 0);
            let sum = |sum: Loaded, count: &u32| Loaded {
                blocks: sum.blocks + 1,
                words: sum.words + u64::from(*count),
            };
            Ok(filled.fold(Loaded::default(), sum))
        });
        let mut sum = Loaded::default();
        for loaded in loaded {
            let Loaded { blocks, words } = loaded?;
            (sum.blocks, sum.words) = (sum.blocks + blocks, sum.words + words);
        }
        Ok(sum)
    }

    /// The direction with fewer word moves. Each word of the current layer is pushed by each move, but only to
    /// own blocks; a word with states that were not reached is pulled by each move from a block with states.
    fn cheaper_direction(&self, loaded: Loaded) -> Direction {
        let own = count(&self.own) as f64;
        let own_filled = self.own_filled() as f64;
        let all = own + count(&self.sources) as f64;
        let pushed = (self.own_words + loaded.words) as f64 * own / all;
        let pulled = self.open_words as f64 * (own_filled + loaded.blocks as f64) / all;
        if pushed <= pulled { Direction::Push } else { Direction::Pull }
    }

    /// Number of own blocks with states of the current layer.
    fn own_filled(&self) -> u64 {
        let counts = |blocks: &Range<u32>| &self.counts[blocks.start as usize..blocks.end as usize];
        let filled = |count: &&u32| **count > 0;
        self.own.iter().map(|blocks| counts(blocks).iter().filter(filled).count() as u64).sum()
    }

    fn make_layer(&mut self, direction: Direction) -> PartStats {
        let (rows, lanes) = (self.rows(), self.lanes());
        let tasks = match direction {
            // Each task of a push reads all words of the current layer.
            Direction::Push => self.threads,
            Direction::Pull => self.tasks(),
        };
        let step = count(&self.own).div_ceil(tasks as u64).max(1) as usize;
        let source = Source { first: 0, words: self.current.words(), counts: &self.counts };
        let code = LayerCode::new(self.depth + 1, lanes);
        let pass = Pass { context: &self.context, source, code, direction };
        let [low, high] = &mut self.depths;
        let mut rest = Part {
            first: 0,
            depths: [low.words_mut(), high.words_mut()],
            next: self.next.words_mut(),
            counts: &mut self.next_counts,
            open: &mut self.open,
            is_touched: &mut self.is_touched,
        };
        let mut parts = Vec::new();
        for blocks in &self.own {
            rest.first = blocks.start as usize;
            let part = rest.split_off(blocks.end as usize, rows);
            parts.extend(part.split(blocks.len().div_ceil(step), rows));
        }
        let mut stats = PartStats::default();
        let made = tasks::run(self.threads, parts, |part| pass.run(part));
        made.iter().for_each(|part| stats.add(part));
        stats
    }

    /// Copies the own part of the next layer to the plane of the current one.
    fn take_next(&mut self) {
        let rows = self.rows();
        let all = self.own.iter().flat_map(|blocks| blocks.start as usize..blocks.end as usize);
        let next = self.next.words().chunks_exact(rows).zip(&self.next_counts);
        let current = self.current.words_mut();
        for (block, (words, count)) in all.zip(next) {
            let before = std::mem::replace(&mut self.counts[block], *count);
            let current = &mut current[block * rows..(block + 1) * rows];
            if *count > 0 {
                current.copy_from_slice(words);
            } else if before > 0 {
                current.fill(0);
            }
        }
    }

    /// The index of a block among the own ones.
    fn index(&self, block: u32) -> Option<usize> {
        let mut before = 0;
        for blocks in &self.own {
            if blocks.contains(&block) {
                return Some(before + (block - blocks.start) as usize);
            }
            before += blocks.len();
        }
        None
    }

    fn tasks(&self) -> usize {
        if self.threads == 1 { 1 } else { self.threads * TASKS_PER_THREAD }
    }

    fn rows(&self) -> usize {
        self.context.space.tables().shape().rows as usize
    }

    fn lanes(&self) -> u64 {
        self.context.space.tables().shape().lane_mask()
    }
}

impl fmt::Debug for ShareSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShareSearch { own, sources, depth, .. } = self;
        let mut shown = f.debug_struct("ShareSearch");
        shown.field("own", own).field("sources", sources).field("depth", depth);
        shown.finish_non_exhaustive()
    }
}

/// Number of blocks of ranges.
fn count(ranges: &[Range<u32>]) -> u64 {
    ranges.iter().map(|range| range.len() as u64).sum()
}

/// The blocks from which moves lead to `own`, as ascending ranges with gaps between them; own blocks may be
/// among them. Ranges begin and end at multiples of `unit` blocks, or at the last block.
pub fn sources(space: &dyn DenseSpace, own: &[Range<u32>], unit: u32) -> Vec<Range<u32>> {
    let (converses, blocks) = (space.tables().converses(), space.tables().shape().blocks);
    let unit = unit.max(1);
    let mut leads = vec![false; blocks.div_ceil(unit) as usize];
    for targets in own.iter().flat_map(|own| converses.targets(own.clone())) {
        let (first, last) = (targets.start / unit, (targets.end - 1) / unit);
        leads[first as usize..=last as usize].fill(true);
    }
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for (index, _) in (0..).zip(leads).filter(|(_, leads)| *leads) {
        let range = index * unit..blocks.min((index + 1).saturating_mul(unit));
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    ranges
}

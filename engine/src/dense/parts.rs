//! Search by parts: it makes a layer of ranges of blocks from layers that are stored elsewhere.
//!
//! Only one part of the space is in memory at a time, with four planes: its states of the current layer,
//! its states of earlier layers, its candidates, and the current layer of one part that leads to it, the
//! *source*.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use strata_space::LayerStats;
use strata_space::dense::DenseSpace;

use crate::dense::error::SearchError;
use crate::dense::kernel::{Kernel, LayerCode};
use crate::dense::layers::PartLayers;
use crate::dense::options::{Direction, Options};
use crate::dense::pass::{Context, Part, PartStats, Pass, Source};
use crate::dense::plane::Plane;
use crate::dense::{tasks, thin};

/// Number of tasks per thread, so that threads end at about the same time.
const TASKS_PER_THREAD: usize = 4;

/// The list of successors of a thin layer may take 1/`THIN_SHARE` of the spare memory.
const THIN_SHARE: u64 = 16;

/// Number of planes of a part: current, earlier and next layer, and the current layer of a source.
const PLANES: usize = 4;

/// A search that holds one part of the space in memory.
pub struct PartSearch {
    context: Context,
    threads: usize,
    direction: Option<Direction>,
    /// Number of blocks of a part; the last part may have fewer.
    part_blocks: usize,
    /// Limit of the list of successors of a thin layer, in bytes.
    thin_memory: u64,
    /// For each part, the parts from which moves may lead to it, ascending.
    sources: Vec<Vec<u32>>,
    buffers: Buffers,
}

/// Planes and counters of a part.
struct Buffers {
    earlier: Plane,
    current: Plane,
    next: Plane,
    source: Plane,
    source_counts: Vec<u32>,
    counts: Vec<u32>,
    open: Vec<u32>,
    is_touched: Vec<bool>,
}

impl Buffers {
    fn new(blocks: usize, rows: usize) -> Result<Buffers, SearchError> {
        let plane = || Plane::new(blocks * rows);
        Ok(Buffers {
            earlier: plane()?,
            current: plane()?,
            next: plane()?,
            source: plane()?,
            source_counts: vec![0; blocks],
            counts: vec![0; blocks],
            open: vec![0; blocks],
            is_touched: vec![false; blocks],
        })
    }

    /// Bytes for each block.
    fn bytes_per_block(rows: usize) -> u64 {
        (PLANES * rows * size_of::<u64>() + 3 * size_of::<u32>() + size_of::<bool>()) as u64
    }
}

impl PartSearch {
    /// A search whose parts are as large as the memory budget permits.
    ///
    /// # Errors
    /// [`SearchError`] if one block exceeds the budget, the system refuses the memory, the processor lacks
    /// the chosen kernel, or folded blocks are to be pushed.
    pub fn new(space: &Arc<dyn DenseSpace>, options: &Options) -> Result<PartSearch, SearchError> {
        let kernel = Kernel::choose(options.kernel)?;
        let shape = space.tables().shape();
        let rows = shape.rows as usize;
        let tables = Context::bytes(space.as_ref(), kernel, options.digest) as u64;
        let per_block = Buffers::bytes_per_block(rows);
        let budget = options.memory;
        let needed = tables.saturating_add(per_block);
        let Some(spare) = budget.checked_sub(needed) else {
            return Err(SearchError::Budget { states: shape.states(), needed, budget });
        };
        let thin_memory = spare / THIN_SHARE;
        let fitting = 1 + (spare - thin_memory) / per_block;
        let part_blocks = fitting.min(shape.blocks.into()) as usize;
        // Parts of nearly equal size.
        let parts = (shape.blocks as usize).div_ceil(part_blocks);
        let part_blocks = (shape.blocks as usize).div_ceil(parts);
        Ok(PartSearch {
            context: Context::new(space, kernel, options.digest),
            threads: options.threads.max(1),
            direction: options.direction_of(space.tables())?,
            part_blocks,
            thin_memory,
            sources: sources(space.as_ref(), part_blocks),
            buffers: Buffers::new(part_blocks, rows)?,
        })
    }

    /// The number of parts of the whole space.
    pub fn parts(&self) -> usize {
        self.sources.len()
    }

    /// Whether moves may lead from blocks of one range to blocks of another.
    pub fn leads(&self, from: &Range<u32>, to: &Range<u32>) -> bool {
        let parts = |blocks: &Range<u32>| {
            let part = |block: u32| block as usize / self.part_blocks;
            if blocks.is_empty() { 0..0 } else { part(blocks.start)..part(blocks.end - 1) + 1 }
        };
        let from = parts(from);
        let mut sources = self.sources[parts(to)].iter().flatten();
        sources.any(|source| from.contains(&(*source as usize)))
    }

    /// Figures of the layer of depth 0: the start.
    pub fn first_layer(&self) -> LayerStats {
        self.context.first_layer()
    }

    /// Makes the next layer of a range of blocks, and returns its figures.
    ///
    /// # Errors
    /// The first failure of a read or a write.
    pub fn advance<L: PartLayers>(
        &mut self,
        blocks: Range<u32>,
        layers: &L,
    ) -> Result<LayerStats, L::Error> {
        if self.is_thin(&blocks, layers) {
            return thin::advance(&self.context, (self.threads, self.tasks()), &blocks, layers);
        }
        let mut stats = PartStats::default();
        for part in 0..self.sources.len() {
            let whole = self.blocks_of(part);
            let own = whole.start.max(blocks.start)..whole.end.min(blocks.end);
            if !own.is_empty() {
                stats.add(&self.advance_part(part, own, layers)?);
            }
        }
        Ok(stats.layer)
    }

    /// Whether the current layer has so few successors that listing them is cheaper than passes over
    /// planes.
    fn is_thin<L: PartLayers>(&self, blocks: &Range<u32>, layers: &L) -> bool {
        let tables = self.context.space.tables();
        let states = layers.current_states(0..tables.shape().blocks);
        let successors = states.saturating_mul(tables.moves().moves as u64);
        let words = (blocks.len() * self.rows()) as u64;
        // A list of successors is a push.
        self.direction.is_none() && successors <= thin::most_successors(self.thin_memory, words)
    }

    fn blocks_of(&self, part: usize) -> Range<u32> {
        let all = self.context.space.tables().shape().blocks;
        let start = (part * self.part_blocks) as u32;
        start..all.min(start + self.part_blocks as u32)
    }

    /// Makes the next layer of blocks of a part.
    fn advance_part<L: PartLayers>(
        &mut self,
        part: usize,
        blocks: Range<u32>,
        layers: &L,
    ) -> Result<PartStats, L::Error> {
        let sources = self.sources[part].iter().map(|source| self.blocks_of(*source as usize));
        let sources: Vec<Range<u32>> =
            sources.filter(|source| layers.current_states(source.clone()) > 0).collect();
        if sources.is_empty() {
            return Ok(PartStats::default());
        }
        let mut open_words = self.load(&blocks, layers)?;
        for source in sources {
            let words = self.load_source(&source, layers)?;
            self.collect(&blocks, &source, (words, &mut open_words));
        }
        self.settle(&blocks, layers)
    }

    /// Reads the current and the earlier layers of a part. Returns the number of its words with states
    /// that are in none of them.
    fn load<L: PartLayers>(&mut self, blocks: &Range<u32>, layers: &L) -> Result<u64, L::Error> {
        let lanes = self.context.space.tables().shape().lane_mask();
        let rows = self.rows();
        let (threads, tasks) = (self.threads, self.tasks());
        let (part, _, _) = self.buffers.split(blocks, rows);
        let parts = part.split(tasks, rows);
        let open = tasks::run(threads, parts, |part| {
            let Part { first, depths: [earlier, current], open, .. } = part;
            layers.read_earlier(first as u32, earlier)?;
            layers.read_current(first as u32, current)?;
            let planes = earlier.chunks(rows).zip(current.chunks(rows));
            for (open, (earlier, current)) in open.iter_mut().zip(planes) {
                let words = earlier.iter().zip(current);
                *open = words.map(|(a, b)| u32::from(*a | *b != lanes)).sum();
            }
            Ok(open.iter().map(|open| u64::from(*open)).sum::<u64>())
        });
        open.into_iter().sum()
    }

    /// Reads the current layer of a source. Returns the number of its words with states.
    fn load_source<L: PartLayers>(
        &mut self,
        blocks: &Range<u32>,
        layers: &L,
    ) -> Result<u64, L::Error> {
        let rows = self.rows();
        let count = blocks.len();
        let step = count.div_ceil(self.tasks()).max(1);
        let words = &mut self.buffers.source.words_mut()[..count * rows];
        let counts = &mut self.buffers.source_counts[..count];
        let ranges = words.chunks_mut(step * rows).zip(counts.chunks_mut(step)).enumerate();
        let read = tasks::run(self.threads, ranges.collect(), |(index, (words, counts))| {
            layers.read_current(blocks.start + (index * step) as u32, words)?;
            for (count, words) in counts.iter_mut().zip(words.chunks(rows)) {
                *count = words.iter().map(|word| u32::from(*word != 0)).sum();
            }
            Ok(counts.iter().map(|count| u64::from(*count)).sum::<u64>())
        });
        read.into_iter().sum()
    }

    /// Adds the successors of a source to the candidates of a part.
    fn collect(
        &mut self,
        blocks: &Range<u32>,
        source: &Range<u32>,
        (words, open): (u64, &mut u64),
    ) {
        let rows = self.rows();
        let counts = &self.buffers.source_counts[..source.len()];
        let active = counts.iter().filter(|count| **count > 0).count();
        // Compares the words to push with the words to pull, in proportion to the blocks with states.
        let pulled = *open as f64 * active as f64 / source.len() as f64;
        let cheaper = if words as f64 <= pulled { Direction::Push } else { Direction::Pull };
        let direction = self.direction.unwrap_or(cheaper);
        let (threads, tasks) = (self.threads, self.tasks());
        let (buffers, context) = (&mut self.buffers, &self.context);
        let (part, source_words, counts) = buffers.split(blocks, rows);
        let source = Source {
            first: source.start as usize,
            words: &source_words[..source.len() * rows],
            counts: &counts[..source.len()],
        };
        let code = LayerCode::unmarked(context.space.tables().shape().lane_mask());
        let pass = Pass { context, source, code, direction };
        // Each task of a push reads all words of the source.
        let count = if direction == Direction::Push { threads } else { tasks };
        tasks::run(threads, part.split(count, rows), |mut part| pass.collect(&mut part));
    }

    /// Keeps the new states among the candidates of a part, and writes them.
    fn settle<L: PartLayers>(
        &mut self,
        blocks: &Range<u32>,
        layers: &L,
    ) -> Result<PartStats, L::Error> {
        let rows = self.rows();
        let (threads, tasks) = (self.threads, self.tasks());
        let (buffers, context) = (&mut self.buffers, &self.context);
        let (part, _, _) = buffers.split(blocks, rows);
        let source = Source { first: 0, words: &[], counts: &[] };
        let code = LayerCode::unmarked(context.space.tables().shape().lane_mask());
        let pass = Pass { context, source, code, direction: Direction::Pull };
        let parts = part.split(tasks, rows);
        let done = tasks::run(threads, parts, |mut part| {
            let stats = pass.settle(&mut part);
            if stats.layer.states > 0 {
                // The words of blocks without new states are undefined.
                let words = part.next.chunks_mut(rows).zip(part.counts.iter());
                words.filter(|(_, count)| **count == 0).for_each(|(words, _)| words.fill(0));
                layers.write(part.first as u32, part.next)?;
            }
            Ok(stats)
        });
        let mut sum = PartStats::default();
        for stats in done {
            sum.add(&stats?);
        }
        Ok(sum)
    }

    /// The number of tasks of equal size into which work is divided.
    fn tasks(&self) -> usize {
        if self.threads == 1 { 1 } else { self.threads * TASKS_PER_THREAD }
    }

    fn rows(&self) -> usize {
        self.context.space.tables().shape().rows as usize
    }
}

impl Buffers {
    /// The buffers of a part with these blocks, and the words and counters of the source.
    fn split(&mut self, blocks: &Range<u32>, rows: usize) -> (Part<'_>, &[u64], &[u32]) {
        let (count, words) = (blocks.len(), blocks.len() * rows);
        let part = Part {
            first: blocks.start as usize,
            depths: [
                &mut self.earlier.words_mut()[..words],
                &mut self.current.words_mut()[..words],
            ],
            next: &mut self.next.words_mut()[..words],
            counts: &mut self.counts[..count],
            open: &mut self.open[..count],
            is_touched: &mut self.is_touched[..count],
        };
        (part, self.source.words(), &self.source_counts)
    }
}

/// For each part, the parts from which moves may lead to it.
fn sources(space: &dyn DenseSpace, part_blocks: usize) -> Vec<Vec<u32>> {
    let (tables, shape) = (space.tables(), space.tables().shape());
    let parts = (shape.blocks as usize).div_ceil(part_blocks);
    let mut leads = vec![false; parts];
    let of_part = |part: usize| {
        leads.fill(false);
        let first = part * part_blocks;
        let end = (first + part_blocks).min(shape.blocks as usize);
        for targets in tables.converses().targets(first as u32..end as u32) {
            let (first, last) = (targets.start as usize, targets.end as usize - 1);
            leads[first / part_blocks..=last / part_blocks].fill(true);
        }
        (0..).zip(&leads).filter(|(_, leads)| **leads).map(|(part, _)| part).collect()
    };
    (0..parts).map(of_part).collect()
}

impl fmt::Debug for PartSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.parts();
        f.debug_struct("PartSearch").field("parts", &parts).finish_non_exhaustive()
    }
}

//! One layer of a range of blocks, by push or by pull.

use std::ops::Range;
use std::sync::Arc;

use crate::memory::prefetch_all;
use strata_space::LayerStats;
use strata_space::dense::{DenseSpace, DenseTables, RowStep};

use crate::dense::digest::DigestTables;
use crate::dense::kernel::{Kernel, LaneKernel, LayerCode};
use crate::dense::options::Direction;

/// The read-only data of a search.
pub(crate) struct Context {
    pub(crate) space: Arc<dyn DenseSpace>,
    pub(crate) kernel: LaneKernel,
    /// None if layers have no digests.
    pub(crate) digest: Option<DigestTables>,
    /// For each lane map, the lanes that have its move; None if every state has every move.
    pub(crate) domains: Option<Vec<u64>>,
}

/// A pass that makes the next layer from a source. All threads share it.
pub(crate) struct Pass<'a> {
    pub(crate) context: &'a Context,
    pub(crate) source: Source<'a>,
    pub(crate) code: LayerCode,
    pub(crate) direction: Direction,
}

/// The current layer in a range of blocks.
#[derive(Copy, Clone)]
pub(crate) struct Source<'a> {
    /// The first block.
    pub(crate) first: usize,
    /// The states, by word. The words of a block without states are undefined.
    pub(crate) words: &'a [u64],
    /// For each block, a number that is 0 if the block has no states.
    pub(crate) counts: &'a [u32],
}

/// A range of blocks that one thread writes.
pub(crate) struct Part<'a> {
    /// The first block.
    pub(crate) first: usize,
    /// Two planes of reached states, by word: a state was reached if its bit is set in either. A search
    /// in memory marks depths modulo 3 in them; a search by parts reads earlier layers into the first and
    /// the current layer into the second.
    pub(crate) depths: [&'a mut [u64]; 2],
    /// The states of the next layer, by word.
    pub(crate) next: &'a mut [u64],
    /// Number of states of the next layer, by block.
    pub(crate) counts: &'a mut [u32],
    /// Number of words with states that were not reached, by block.
    pub(crate) open: &'a mut [u32],
    /// For each block, whether `next` has its candidates. If not, the words of the block are undefined.
    pub(crate) is_touched: &'a mut [bool],
}

/// Figures of a part's new states.
#[derive(Copy, Clone, Default)]
pub(crate) struct PartStats {
    pub(crate) layer: LayerStats,
    /// Number of words with new states.
    pub(crate) words: u64,
    /// Number of words whose last states were reached.
    pub(crate) closed: u64,
}

impl PartStats {
    pub(crate) fn add(&mut self, other: &PartStats) {
        self.layer.add(&other.layer);
        self.words += other.words;
        self.closed += other.closed;
    }
}

impl<'a> Part<'a> {
    /// Clears the candidates of a block unless this has been done in this pass.
    #[inline]
    fn touch(&mut self, block: usize, rows: usize) {
        if !std::mem::replace(&mut self.is_touched[block], true) {
            self.next[words_of(block, rows)].fill(0);
        }
    }

    /// Splits the range into at most `count` parts with about equal numbers of blocks, ascending.
    pub(crate) fn split(mut self, count: usize, rows: usize) -> Vec<Part<'a>> {
        let (first, blocks) = (self.first, self.counts.len());
        let count = count.clamp(1, blocks.max(1));
        let ends = (1..count).map(|index| first + blocks * index / count);
        let mut parts: Vec<Part<'a>> = ends.map(|end| self.split_off(end, rows)).collect();
        parts.push(self);
        parts
    }

    /// Splits off the blocks before the block `end`.
    pub(crate) fn split_off(&mut self, end: usize, rows: usize) -> Part<'a> {
        fn take<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
            let (taken, rest) = std::mem::take(slice).split_at_mut(count);
            *slice = rest;
            taken
        }
        let (first, blocks) = (self.first, end - self.first);
        self.first = end;
        let [low, high] = &mut self.depths;
        Part {
            first,
            depths: [take(low, blocks * rows), take(high, blocks * rows)],
            next: take(&mut self.next, blocks * rows),
            counts: take(&mut self.counts, blocks),
            open: take(&mut self.open, blocks),
            is_touched: take(&mut self.is_touched, blocks),
        }
    }
}

/// The words of a block, counted from the start of a range.
fn words_of(block: usize, rows: usize) -> Range<usize> {
    block * rows..(block + 1) * rows
}

/// Buffers of a pull.
struct Scratch<'a> {
    /// Rows with states that were not reached.
    open: Vec<u16>,
    /// Source words with their steps.
    edges: Vec<(&'a [u64], &'a [RowStep])>,
}

impl Scratch<'_> {
    fn new(rows: usize) -> Self {
        Scratch { open: Vec::with_capacity(rows), edges: Vec::new() }
    }
}

impl Context {
    /// The data of a search of a space with a kernel, which the processor must support.
    pub(crate) fn new(space: &Arc<dyn DenseSpace>, kernel: Kernel, digest: bool) -> Context {
        let tables = space.tables();
        let domains = || tables.maps().iter().map(|map| map.domain()).collect();
        Context {
            kernel: LaneKernel::new(kernel, tables.maps()),
            digest: digest.then(|| DigestTables::new(space.as_ref())),
            domains: (!tables.is_total()).then(domains),
            space: Arc::clone(space),
        }
    }

    /// Bytes of all tables, those of the space included.
    pub(crate) fn bytes(space: &dyn DenseSpace, kernel: Kernel, digest: bool) -> usize {
        let tables = space.tables();
        let digest = if digest { DigestTables::bytes(tables.shape().rows) } else { 0 };
        LaneKernel::bytes(kernel, tables.maps().len()) + tables.bytes() + digest
    }

    /// Figures of the layer of depth 0.
    pub(crate) fn first_layer(&self) -> LayerStats {
        let tables = self.space.tables();
        let start = tables.start();
        let mut stats = LayerStats { regions: 1, states: 1, positions: 1, ..LayerStats::default() };
        stats.generated = tables.successors(start).count() as u64;
        stats.found = tables.goals().contains(&start);
        // The start is fixed by all symmetries.
        stats.fixed = tables.symmetries().map_or(0, |symmetries| u64::from(symmetries.get()) - 1);
        if self.digest.is_some() {
            stats.digest = self.space.weight(start);
        }
        stats
    }

    /// Figures of the states of a block, given as words. `closed` is left 0.
    pub(crate) fn stats(&self, block: usize, words: &[u64]) -> PartStats {
        let states = words.iter().map(|word| u64::from(word.count_ones())).sum();
        if states == 0 {
            return PartStats::default();
        }
        let filled = words.iter().filter(|word| **word != 0).count() as u64;
        PartStats { words: filled, ..self.stats_of(block, words, states) }
    }

    /// The figures of the states of a block, given as words; those of words are left 0.
    fn stats_of(&self, block: usize, words: &[u64], states: u64) -> PartStats {
        let mut layer = LayerStats { regions: 1, states, ..LayerStats::default() };
        let multiplicity = self.space.tables().multiplicity(block as u32);
        layer.positions = states * multiplicity;
        layer.fixed = self.space.tables().count_fixed(block as u32, words);
        layer.generated = self.legal_moves(block, words, states) * multiplicity;
        if let Some(digest) = &self.digest {
            layer.digest = digest.of_rows(words) * self.space.block_weight(block as u32);
        }
        let goals = self.space.tables().goals().iter();
        layer.found = goals
            .filter(|goal| goal.block as usize == block)
            .any(|goal| words[usize::from(goal.row)] >> goal.lane & 1 == 1);
        PartStats { layer, ..PartStats::default() }
    }

    /// The number of legal moves of the states of a block, given as words.
    fn legal_moves(&self, block: usize, words: &[u64], states: u64) -> u64 {
        let moves = self.space.tables().moves();
        let Some(domains) = &self.domains else { return states * moves.moves as u64 };
        let steps = moves.of_block(block as u32);
        let classes = steps.filter_map(|step| moves.of_class(step.class, words.len()));
        let each = classes.map(|steps| {
            let legal = steps.iter().zip(words).filter(|(_, word)| **word != 0);
            let legal = legal.map(|(step, word)| word & domains[usize::from(step.map)]);
            legal.map(|legal| u64::from(legal.count_ones())).sum::<u64>()
        });
        each.sum()
    }
}

impl Pass<'_> {
    /// Makes the next layer of a part. The source of this pass must be the only one.
    pub(crate) fn run(&self, mut part: Part<'_>) -> PartStats {
        match self.direction {
            Direction::Push => {
                self.collect(&mut part);
                self.settle(&mut part)
            }
            Direction::Pull => {
                // Candidates of a block are settled while they are in the cache.
                let mut stats = PartStats::default();
                let mut scratch = Scratch::new(self.rows());
                for block in 0..part.counts.len() {
                    self.pull(&mut part, block, &mut scratch);
                    stats.add(&self.settle_block(&mut part, block));
                }
                stats
            }
        }
    }

    /// Adds the successors of this pass's source to the candidates of a part.
    pub(crate) fn collect(&self, part: &mut Part<'_>) {
        match self.direction {
            Direction::Push => self.push(part),
            Direction::Pull => {
                let mut scratch = Scratch::new(self.rows());
                (0..part.counts.len()).for_each(|block| self.pull(part, block, &mut scratch));
            }
        }
    }

    /// Keeps the new states among the candidates of a part. All sources must have been collected.
    pub(crate) fn settle(&self, part: &mut Part<'_>) -> PartStats {
        let mut stats = PartStats::default();
        (0..part.counts.len()).for_each(|block| stats.add(&self.settle_block(part, block)));
        stats
    }

    fn tables(&self) -> &DenseTables {
        self.context.space.tables()
    }

    fn rows(&self) -> usize {
        self.tables().shape().rows as usize
    }

    fn push(&self, part: &mut Part<'_>) {
        let (rows, moves) = (self.rows(), self.tables().moves());
        let blocks = part.first..part.first + part.counts.len();
        let mut words: Vec<(u16, u64)> = Vec::with_capacity(rows);
        let mut edges = Vec::with_capacity(moves.moves);
        let counts = self.source.counts.iter().enumerate();
        for (index, _) in counts.filter(|(_, count)| **count > 0) {
            edges.clear();
            let steps = moves.of_block((self.source.first + index) as u32);
            edges.extend(steps.filter_map(|step| {
                let target = step.block as usize;
                let steps = moves.of_class(step.class, rows).filter(|_| blocks.contains(&target));
                steps.map(|steps| (target - part.first, steps))
            }));
            if edges.is_empty() {
                continue;
            }
            words.clear();
            let sources = (0..).zip(&self.source.words[words_of(index, rows)]);
            words.extend(sources.filter(|(_, word)| **word != 0).map(|(row, word)| (row, *word)));
            for (index, (target, steps)) in edges.iter().enumerate() {
                if let Some((ahead, steps)) = edges.get(index + 1) {
                    prefetch_all(steps);
                    if words.len() * 4 > rows {
                        prefetch_all(&part.next[words_of(*ahead, rows)]);
                    }
                }
                part.touch(*target, rows);
                let target_words = &mut part.next[words_of(*target, rows)];
                self.context.kernel.push(&words, steps, target_words);
            }
        }
    }

    /// Adds to the candidates of a block the states that have a predecessor in the source. Does nothing if
    /// all states of the block were reached.
    fn pull<'a>(&'a self, part: &mut Part<'_>, block: usize, scratch: &mut Scratch<'a>) {
        let Scratch { open, edges } = scratch;
        edges.clear();
        if part.open[block] > 0 {
            edges.extend(self.sources((part.first + block) as u32));
        }
        if edges.is_empty() {
            return;
        }
        let rows = self.rows();
        let lanes = self.tables().shape().lane_mask();
        part.touch(block, rows);
        let words = words_of(block, rows);
        open.clear();
        let [low, high] = &part.depths;
        let depths = (0..).zip(low[words.clone()].iter().zip(&high[words.clone()]));
        open.extend(depths.filter(|(_, (low, high))| **low | **high != lanes).map(|(row, _)| row));
        let target = &mut part.next[words];
        for (index, (source, steps)) in edges.iter().enumerate() {
            if let Some((ahead, steps)) = edges.get(index + 1) {
                prefetch_all(steps);
                if open.len() * 4 > rows {
                    prefetch_all(ahead);
                }
            }
            self.context.kernel.pull(open, steps, source, target);
        }
    }

    /// The words of the source blocks that have states and lead to a block, each with the effect of the
    /// converse on rows.
    fn sources(&self, block: u32) -> impl Iterator<Item = (&[u64], &[RowStep])> {
        let (rows, converses) = (self.rows(), self.tables().converses());
        let Source { first, words, counts } = self.source;
        converses.of_block(block).filter_map(move |step| {
            let index = (step.block as usize).checked_sub(first)?;
            let has_states = counts.get(index).is_some_and(|count| *count > 0);
            let steps = converses.of_class(step.class, rows).filter(|_| has_states)?;
            Some((&words[words_of(index, rows)], steps))
        })
    }

    /// Keeps the new states among a block's candidates.
    fn settle_block(&self, part: &mut Part<'_>, block: usize) -> PartStats {
        if !std::mem::take(&mut part.is_touched[block]) {
            part.counts[block] = 0;
            return PartStats::default();
        }
        let words = words_of(block, self.rows());
        let [low, high] = &mut part.depths;
        let depths = [&mut low[words.clone()], &mut high[words.clone()]];
        let candidates = &mut part.next[words];
        let settled = self.context.kernel.settle(self.code, depths, candidates);
        part.counts[block] = settled.states;
        if settled.states == 0 {
            return PartStats::default();
        }
        let closed = std::mem::replace(&mut part.open[block], settled.open) - settled.open;
        let mut stats =
            self.context.stats_of(part.first + block, candidates, settled.states.into());
        (stats.words, stats.closed) = (settled.words.into(), closed.into());
        stats
    }
}

//! One layer of a range of blocks, by push or by pull.

use std::ops::Range;
use std::sync::Arc;

use strata_space::LayerStats;
use strata_space::dense::{DenseSpace, DenseTables, MoveTable, RowStep};

use crate::digest::DigestTables;
use crate::kernel::{LaneKernel, LayerCode, prefetch};
use crate::options::Direction;

/// What a search reads and never changes.
pub(crate) struct Context {
    pub(crate) space: Arc<dyn DenseSpace>,
    pub(crate) kernel: LaneKernel,
    /// None if layers have no digests.
    pub(crate) digest: Option<DigestTables>,
    /// Lanes that have a move, by lane map; None if every state has every move.
    pub(crate) domains: Option<Vec<u64>>,
}

/// How the next layer is made, and from what. All threads share it.
pub(crate) struct Pass<'a> {
    pub(crate) context: &'a Context,
    /// The states of the current layer. Blocks without any have old content.
    pub(crate) current: &'a [u64],
    /// States of the current layer, by block.
    pub(crate) counts: &'a [u32],
    pub(crate) code: LayerCode,
    pub(crate) direction: Direction,
}

/// A range of blocks: what one thread writes.
pub(crate) struct Part<'a> {
    /// The first block.
    pub(crate) first: usize,
    /// Depths modulo 3, by word.
    pub(crate) depths: [&'a mut [u64]; 2],
    /// The states of the next layer, by word.
    pub(crate) next: &'a mut [u64],
    /// States of the next layer, by block.
    pub(crate) counts: &'a mut [u32],
    /// Words with states that were not reached, by block.
    pub(crate) open: &'a mut [u32],
}

/// Figures of a part's new states.
#[derive(Copy, Clone, Default)]
pub(crate) struct PartStats {
    pub(crate) layer: LayerStats,
    /// Words with new states.
    pub(crate) words: u64,
    /// Words whose last states were reached.
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
        }
    }
}

impl Context {
    /// The legal moves of a block's states, which are these words.
    pub(crate) fn legal_moves(&self, block: usize, words: &[u64], states: u64) -> u64 {
        let moves = self.space.tables().moves();
        let Some(domains) = &self.domains else { return states * moves.moves as u64 };
        let steps = moves.of_block(block as u32).iter();
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
    /// Makes the next layer of a part.
    pub(crate) fn run(&self, mut part: Part<'_>) -> PartStats {
        match self.direction {
            Direction::Push => self.push(&mut part),
            Direction::Pull => self.pull(&mut part),
        }
    }

    fn tables(&self) -> &DenseTables {
        self.context.space.tables()
    }

    fn rows(&self) -> usize {
        self.tables().shape().rows as usize
    }

    /// The words of a block.
    fn words_of(&self, block: usize) -> Range<usize> {
        block * self.rows()..(block + 1) * self.rows()
    }

    fn push(&self, part: &mut Part<'_>) -> PartStats {
        let (rows, moves) = (self.rows(), self.tables().moves());
        let blocks = part.first..part.first + part.counts.len();
        let mut words: Vec<(u16, u64)> = Vec::with_capacity(rows);
        let mut is_touched = vec![false; blocks.len()];
        let mut edges = Vec::with_capacity(moves.moves);
        for (block, _) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            edges.clear();
            let steps = moves.of_block(block as u32).iter();
            edges.extend(steps.filter_map(|step| {
                let target = step.block as usize;
                let steps = moves.of_class(step.class, rows).filter(|_| blocks.contains(&target));
                steps.map(|steps| (target - part.first, steps))
            }));
            if edges.is_empty() {
                continue;
            }
            words.clear();
            let sources = (0..).zip(&self.current[self.words_of(block)]);
            words.extend(sources.filter(|(_, word)| **word != 0).map(|(row, word)| (row, *word)));
            for (index, (target, steps)) in edges.iter().enumerate() {
                if let Some((ahead, steps)) = edges.get(index + 1) {
                    prefetch(steps);
                    if words.len() * 4 > rows {
                        prefetch(&part.next[ahead * rows..(ahead + 1) * rows]);
                    }
                }
                let target_words = &mut part.next[target * rows..(target + 1) * rows];
                if !is_touched[*target] {
                    is_touched[*target] = true;
                    target_words.fill(0);
                }
                self.context.kernel.push(&words, steps, target_words);
            }
        }
        let mut stats = PartStats::default();
        for (block, is_touched) in is_touched.into_iter().enumerate() {
            if is_touched {
                stats.add(&self.settle(part, block));
            } else {
                part.counts[block] = 0;
            }
        }
        stats
    }

    fn pull(&self, part: &mut Part<'_>) -> PartStats {
        let (rows, moves) = (self.rows(), self.tables().converses());
        let lanes = self.tables().shape().lane_mask();
        let mut open: Vec<u16> = Vec::with_capacity(rows);
        let mut edges = Vec::with_capacity(moves.moves);
        let mut stats = PartStats::default();
        for block in 0..part.counts.len() {
            edges.clear();
            if part.open[block] > 0 {
                edges.extend(self.sources(moves, part.first + block));
            }
            if edges.is_empty() {
                part.counts[block] = 0;
                continue;
            }
            let words = block * rows..(block + 1) * rows;
            open.clear();
            let [low, high] = &part.depths;
            let depths = (0..).zip(low[words.clone()].iter().zip(&high[words.clone()]));
            open.extend(
                depths.filter(|(_, (low, high))| **low | **high != lanes).map(|(row, _)| row),
            );
            let target = &mut part.next[words];
            target.fill(0);
            for (index, (source, steps)) in edges.iter().enumerate() {
                if let Some((ahead, steps)) = edges.get(index + 1) {
                    prefetch(steps);
                    if open.len() * 4 > rows {
                        prefetch(&self.current[ahead.clone()]);
                    }
                }
                self.context.kernel.pull(&open, steps, &self.current[source.clone()], target);
            }
            stats.add(&self.settle(part, block));
        }
        stats
    }

    /// The words of blocks that have states of the current layer and lead to a block, with the
    /// effect of the way back on rows.
    fn sources<'b>(
        &'b self,
        converses: &'b MoveTable,
        block: usize,
    ) -> impl Iterator<Item = (Range<usize>, &'b [RowStep])> + 'b {
        let rows = self.rows();
        converses.of_block(block as u32).iter().filter_map(move |step| {
            let source = step.block as usize;
            let steps = converses.of_class(step.class, rows).filter(|_| self.counts[source] > 0)?;
            Some((self.words_of(source), steps))
        })
    }

    /// Keeps the new states among a block's candidates.
    fn settle(&self, part: &mut Part<'_>, block: usize) -> PartStats {
        let rows = self.rows();
        let words = block * rows..(block + 1) * rows;
        let [low, high] = &mut part.depths;
        let depths = [&mut low[words.clone()], &mut high[words.clone()]];
        let candidates = &mut part.next[words];
        let settled = self.context.kernel.settle(self.code, depths, candidates);
        part.counts[block] = settled.states;
        if settled.states == 0 {
            return PartStats::default();
        }
        let closed = std::mem::replace(&mut part.open[block], settled.open) - settled.open;
        let number = part.first + block;
        let states = settled.states.into();
        let mut layer = LayerStats { regions: 1, states, ..LayerStats::default() };
        layer.generated = self.context.legal_moves(number, candidates, states);
        if let Some(digest) = &self.context.digest {
            let factor = self.context.space.block_weight(number as u32);
            layer.digest = digest.of_rows(candidates) * factor;
        }
        let goals = self.tables().goals().iter();
        layer.found = goals
            .filter(|goal| goal.block as usize == number)
            .any(|goal| candidates[usize::from(goal.row)] >> goal.lane & 1 == 1);
        PartStats { layer, words: settled.words.into(), closed: closed.into() }
    }
}

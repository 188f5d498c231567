//! Thin layers: they have few states, whose successors are listed instead of added to a plane.
//!
//! A pass over the planes of a space takes the same time however few states a layer has. So the numbers
//! of a thin layer's successors are sorted, and only the ranges of blocks that have one are read.

use std::ops::Range;

use strata_space::LayerStats;
use strata_space::dense::DenseShape;

use crate::dense::layers::PartLayers;
use crate::dense::pass::Context;
use crate::dense::tasks;

/// Number of words of a range of blocks that a thread reads at a time: they fit into its cache.
const RANGE_WORDS: u32 = 1 << 15;

/// Number of words of planes that take as much time as one successor in a list.
const WORDS_PER_SUCCESSOR: u64 = 8;

/// Numbers of the successors of a part of the current layer, strictly ascending. The lists of several
/// parts may have common numbers.
type Successors = Vec<u64>;

/// The most successors for which a list is cheaper than a pass over `words` words of planes, and fits
/// into `memory` bytes.
pub(crate) fn most_successors(memory: u64, words: u64) -> u64 {
    (memory / size_of::<u64>() as u64).min(words / WORDS_PER_SUCCESSOR)
}

/// Makes the next layer of a range of blocks, from a list of all successors of the current layer. Returns
/// its figures. `threads` and `tasks` are the numbers of threads and of tasks.
///
/// # Errors
/// The first failure of a read or a write.
pub(crate) fn advance<L: PartLayers>(
    context: &Context,
    (threads, tasks): (usize, usize),
    blocks: &Range<u32>,
    layers: &L,
) -> Result<LayerStats, L::Error> {
    let grid = Grid::new(context.space.tables().shape());
    let sources: Vec<u64> =
        (0..grid.ranges()).filter(|range| layers.current_states(grid.blocks(*range)) > 0).collect();
    let lists = run(threads, tasks, &sources, |sources| {
        let sources = sources.iter().map(|range| grid.blocks(*range));
        successors(context, sources, blocks, layers)
    });
    let lists = lists.into_iter().collect::<Result<Vec<Successors>, _>>()?;
    let targets = grid.ranges_of(&lists);
    let sums = run(threads, tasks, &targets, |targets| {
        let mut sum = LayerStats::default();
        let mut planes = Planes::default();
        for range in targets {
            sum.add(&planes.settle(context, grid.pieces(*range, &lists), layers)?);
        }
        Ok(sum)
    });
    let mut sum = LayerStats::default();
    for stats in sums {
        sum.add(&stats?);
    }
    Ok(sum)
}

/// Divides ranges among tasks, and runs them.
fn run<R: Send>(
    threads: usize,
    tasks: usize,
    ranges: &[u64],
    work: impl Fn(&[u64]) -> R + Sync,
) -> Vec<R> {
    let of_task = ranges.len().div_ceil(tasks).max(1);
    tasks::run(threads, ranges.chunks(of_task).collect(), work)
}

/// A division of a space into ranges of equal numbers of blocks.
#[derive(Copy, Clone)]
struct Grid {
    shape: DenseShape,
    /// Number of blocks of a range; the last range may have fewer.
    step: u32,
}

impl Grid {
    fn new(shape: DenseShape) -> Grid {
        Grid { shape, step: (RANGE_WORDS / shape.rows).max(1) }
    }

    fn ranges(self) -> u64 {
        self.shape.blocks.div_ceil(self.step).into()
    }

    fn blocks(self, range: u64) -> Range<u32> {
        let at = |range: u64| (range * u64::from(self.step)).min(self.shape.blocks.into()) as u32;
        at(range)..at(range + 1)
    }

    /// Number of states of a block.
    fn states(self) -> u64 {
        u64::from(self.shape.rows) * u64::from(self.shape.lanes)
    }

    /// The ranges that have a successor, ascending.
    fn ranges_of(self, lists: &[Successors]) -> Vec<u64> {
        let states = self.states() * u64::from(self.step);
        let mut ranges = Vec::new();
        for list in lists {
            let mut last = None;
            for range in list.iter().map(|number| number / states) {
                if last.replace(range) != Some(range) {
                    ranges.push(range);
                }
            }
        }
        ranges.sort_unstable();
        ranges.dedup();
        ranges
    }

    /// The successors in a range, by list.
    fn pieces(self, range: u64, lists: &[Successors]) -> Vec<&[u64]> {
        let Range { start, end } = self.blocks(range);
        let [start, end] = [start, end].map(|block| u64::from(block) * self.states());
        let piece = |list: &Successors| {
            let from = list.partition_point(|number| *number < start);
            let to = from + list[from..].partition_point(|number| *number < end);
            (from, to)
        };
        let pieces = lists.iter().map(|list| (list, piece(list)));
        pieces
            .filter(|(_, (from, to))| from < to)
            .map(|(list, (from, to))| &list[from..to])
            .collect()
    }
}

/// The successors in `blocks` of the states that the current layer has in `sources`.
fn successors<L: PartLayers>(
    context: &Context,
    sources: impl Iterator<Item = Range<u32>>,
    blocks: &Range<u32>,
    layers: &L,
) -> Result<Successors, L::Error> {
    let tables = context.space.tables();
    let shape = tables.shape();
    let (mut found, mut words) = (Vec::new(), Vec::new());
    for source in sources {
        words.resize(source.len() * shape.rows as usize, 0);
        layers.read_current(source.start, &mut words)?;
        let first = u64::from(source.start) * u64::from(shape.rows);
        let numbered = (first..).zip(words.iter().copied());
        for (word, mut lanes) in numbered.filter(|(_, lanes)| *lanes != 0) {
            while lanes != 0 {
                let number = word * u64::from(shape.lanes) + u64::from(lanes.trailing_zeros());
                lanes &= lanes - 1;
                let Some(state) = shape.state(number) else { continue };
                let next = tables.successors(state).map(|(_, next)| next);
                let next = next.filter(|next| blocks.contains(&next.block));
                found.extend(next.map(|next| shape.number(next)));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Words of a range of blocks: candidates, earlier layers, current layer.
#[derive(Default)]
struct Planes {
    next: Vec<u64>,
    earlier: Vec<u64>,
    current: Vec<u64>,
}

impl Planes {
    /// Writes the new states among the successors in a range.
    fn settle<L: PartLayers>(
        &mut self,
        context: &Context,
        pieces: Vec<&[u64]>,
        layers: &L,
    ) -> Result<LayerStats, L::Error> {
        let grid = Grid::new(context.space.tables().shape());
        let (rows, lanes) = (grid.shape.rows as usize, u64::from(grid.shape.lanes));
        let block = |number: &u64| (number / grid.states()) as u32;
        let firsts = pieces.iter().filter_map(|piece| piece.first()).map(block);
        let lasts = pieces.iter().filter_map(|piece| piece.last()).map(block);
        let mut sum = LayerStats::default();
        let (Some(first), Some(last)) = (firsts.min(), lasts.max()) else { return Ok(sum) };
        let Planes { next, earlier, current } = self;
        next.clear();
        let words = (last - first + 1) as usize * rows;
        [&mut *next, earlier, current].into_iter().for_each(|plane| plane.resize(words, 0));
        layers.read_earlier(first, earlier)?;
        layers.read_current(first, current)?;
        let start = u64::from(first) * grid.states();
        for number in pieces.into_iter().flatten() {
            next[((number - start) / lanes) as usize] |= 1 << (number % lanes);
        }
        for (next, (earlier, current)) in next.iter_mut().zip(earlier.iter().zip(&*current)) {
            *next &= !(earlier | current);
        }
        for (block, words) in (first..).zip(next.chunks_exact(rows)) {
            sum.add(&context.stats(block as usize, words).layer);
        }
        if sum.states > 0 {
            layers.write(first, next)?;
        }
        Ok(sum)
    }
}

//! Tests of searches by parts against searches in memory.

use crate::dense::{all_layers, puzzles};

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use puzzles::{Moves, Powers};
use strata_engine::dense::{Direction, Options, PartLayers, PartSearch, Search, SearchError};
use strata_puzzles::{DenseHanoi, Hanoi};
use strata_space::LayerStats;
use strata_space::dense::DenseSpace;

/// Layers as words by number, without the words that have no states.
#[derive(Default)]
struct Layers {
    rows: usize,
    is_undirected: bool,
    layers: Vec<BTreeMap<usize, u64>>,
    next: Mutex<BTreeMap<usize, u64>>,
    /// Number of words read.
    read: AtomicUsize,
}

impl Layers {
    fn copy(&self, layer: &BTreeMap<usize, u64>, first: u32, words: &mut [u64]) {
        self.read.fetch_add(words.len(), Ordering::Relaxed);
        let start = first as usize * self.rows;
        for (at, word) in layer.range(start..start + words.len()) {
            words[at - start] |= word;
        }
    }
}

impl PartLayers for Layers {
    type Error = Infallible;

    fn current_states(&self, blocks: Range<u32>) -> u64 {
        let words = blocks.start as usize * self.rows..blocks.end as usize * self.rows;
        let words = self.layers.last().unwrap().range(words);
        words.map(|(_, word)| u64::from(word.count_ones())).sum()
    }

    fn read_current(&self, first: u32, words: &mut [u64]) -> Result<(), Infallible> {
        words.fill(0);
        self.copy(self.layers.last().unwrap(), first, words);
        Ok(())
    }

    fn read_earlier(&self, first: u32, words: &mut [u64]) -> Result<(), Infallible> {
        words.fill(0);
        let earlier = self.layers.len() - 1;
        let from = if self.is_undirected { earlier.saturating_sub(1) } else { 0 };
        self.layers[from..earlier].iter().for_each(|layer| self.copy(layer, first, words));
        Ok(())
    }

    fn write(&self, first: u32, words: &[u64]) -> Result<(), Infallible> {
        let start = first as usize * self.rows;
        let words = words.iter().enumerate().filter(|(_, word)| **word != 0);
        self.next.lock().unwrap().extend(words.map(|(at, word)| (start + at, *word)));
        Ok(())
    }
}

/// All layers of a search by parts, with ranges of blocks as several workers would have them.
pub(crate) fn by_parts(
    space: &Arc<dyn DenseSpace>,
    options: &Options,
    ranges: &[Range<u32>],
) -> Vec<LayerStats> {
    let mut search = PartSearch::new(space, options).unwrap();
    let tables = space.tables();
    let rows = tables.shape().rows as usize;
    let start = tables.start();
    let word = start.block as usize * rows + usize::from(start.row);
    let mut layers = Layers { rows, is_undirected: tables.is_undirected(), ..Layers::default() };
    layers.layers.push([(word, 1 << start.lane)].into());
    let mut found = vec![search.first_layer()];
    loop {
        let mut sum = LayerStats::default();
        for range in ranges {
            let Ok(stats) = search.advance(range.clone(), &layers);
            sum.add(&stats);
        }
        if sum.states == 0 {
            return found;
        }
        found.push(sum);
        let next = std::mem::take(&mut *layers.next.lock().unwrap());
        layers.layers.push(next);
    }
}

/// The memory with which a part has one block, and the memory for each further block.
fn memory(space: &Arc<dyn DenseSpace>) -> (u64, u64) {
    let refused = PartSearch::new(space, &Options { memory: 0, ..Options::default() });
    let Err(SearchError::Budget { needed, .. }) = refused else { panic!("{refused:?}") };
    (needed, u64::from(space.tables().shape().rows) * 32 + 13)
}

fn check(space: &Arc<dyn DenseSpace>) {
    let mut whole = Search::new(Arc::clone(space), &Options::default()).unwrap();
    let expected = all_layers(&mut whole);
    let blocks = space.tables().shape().blocks;
    let (least, more) = memory(space);
    let third = blocks / 3;
    for parts in [1, 3, 40].map(|parts: u32| parts.min(blocks)) {
        let of_part = u64::from(blocks.div_ceil(parts));
        for (threads, direction, ranges) in [
            (1, None, vec![0..blocks, blocks..blocks]),
            (3, Some(Direction::Push), vec![0..third, third..blocks]),
            (2, Some(Direction::Pull), vec![0..third, third..third, third..blocks]),
        ] {
            let memory = least + more * (of_part - 1);
            let options = Options { memory, threads, direction, ..Options::default() };
            let search = PartSearch::new(space, &options).unwrap();
            assert!(search.parts() as u32 >= parts.min(blocks / 2), "{parts} of {blocks}");
            assert_eq!(by_parts(space, &options, &ranges), expected, "{parts} parts, {options:?}");
        }
    }
}

/// Resumes a search from each layer with the layers that it needs: the last two, or all.
fn check_resumed(space: &Arc<dyn DenseSpace>) {
    let rows = space.tables().shape().rows as usize;
    let words_of = |search: &Search| {
        let mut words = vec![0; space.tables().shape().words() as usize];
        search.read_current(0, &mut words);
        words
    };
    let new = || Search::new(Arc::clone(space), &Options::default()).unwrap();
    let mut whole = new();
    let mut layers = vec![words_of(&whole)];
    let mut expected = vec![whole.stats()];
    while let Some(stats) = whole.advance() {
        layers.push(words_of(&whole));
        expected.push(stats);
    }
    for depth in 0..layers.len() {
        let from = if space.tables().is_undirected() { depth.saturating_sub(1) } else { 0 };
        let options = Options::default();
        let load = |search: &mut Search| -> Result<(), SearchError> {
            for (layer, words) in layers.iter().enumerate().take(depth + 1).skip(from) {
                let (first, second) = words.split_at(rows);
                search.add(layer as u32, 0, first)?;
                search.add(layer as u32, 1, second)?;
            }
            Ok(())
        };
        let mut search = Search::resumed(Arc::clone(space), &options, depth as u32, load).unwrap();
        assert_eq!(all_layers(&mut search), expected[depth..], "from depth {depth}");
    }
    let twice = |search: &mut Search| {
        search.add(2, 0, &layers[1])?;
        search.add(3, 0, &layers[1])
    };
    let refused = Search::resumed(Arc::clone(space), &Options::default(), 3, twice);
    assert_eq!(refused.err(), Some(SearchError::Repeated { depth: 3 }));
}

#[test]
fn layers_by_parts_are_those_in_memory() {
    let hanoi =
        |discs, pegs| Arc::new(DenseHanoi::new(Hanoi::new(discs, pegs, false).unwrap()).unwrap());
    for space in [puzzles::pancake(8).space() as Arc<dyn DenseSpace>, hanoi(8, 4), hanoi(9, 3)] {
        check(&space);
        check_resumed(&space);
    }
}

#[test]
fn steps_in_factors_give_the_same_layers() {
    let full: Arc<dyn DenseSpace> = puzzles::pancake(9).space();
    let factored: Arc<dyn DenseSpace> = puzzles::pancake(9).factored_space();
    assert!(factored.tables().bytes() < full.tables().bytes());
    let expected = all_layers(&mut Search::new(full, &Options::default()).unwrap());
    let options = Options { threads: 2, ..Options::default() };
    let found = all_layers(&mut Search::new(Arc::clone(&factored), &options).unwrap());
    assert_eq!(found, expected);
    // Parts of five blocks, whose boundaries are not those of upper parts.
    let (least, more) = memory(&factored);
    let options = Options { memory: least + 4 * more, ..options };
    let blocks = factored.tables().shape().blocks;
    assert_eq!(by_parts(&factored, &options, &[0..7, 7..blocks]), expected);
}

/// Number of words that are read to make the second layer of a search.
fn words_read(space: &Arc<dyn DenseSpace>, options: &Options) -> usize {
    let shape = space.tables().shape();
    let start = space.tables().start();
    let rows = shape.rows as usize;
    let word = start.block as usize * rows + usize::from(start.row);
    let layers = vec![[(word, 1 << start.lane)].into()];
    let layers = Layers { rows, is_undirected: true, layers, ..Layers::default() };
    let mut search = PartSearch::new(space, options).unwrap();
    let Ok(stats) = search.advance(0..shape.blocks, &layers);
    assert_eq!(stats.states, 10);
    layers.read.into_inner()
}

#[test]
fn a_thin_layer_reads_only_blocks_near_its_states() {
    let space: Arc<dyn DenseSpace> = puzzles::pancake(11).space();
    let words = space.tables().shape().words() as usize;
    let thin = words_read(&space, &Options::default());
    let forced = Options { direction: Some(Direction::Push), ..Options::default() };
    let planes = words_read(&space, &forced);
    assert!(planes >= 2 * words && thin < words, "{thin} and {planes} of {words}");
}

#[test]
fn layers_by_parts_with_directed_moves_are_those_in_memory() {
    let flips = puzzles::pancake(8);
    let rotation: Vec<u16> = (1..8).chain([0]).collect();
    let rotation = flips.shape.permutation(&rotation).unwrap();
    let moves = Moves::new(flips.shape.clone(), &[rotation, flips.moves[0].clone()], Powers::One);
    let space = moves.space();
    assert!(!space.tables().is_undirected());
    let space = space as Arc<dyn DenseSpace>;
    check(&space);
    check_resumed(&space);
}

//! Folded blocks against all states, with the whole space in memory and by parts.

use crate::dense::puzzles;

use std::collections::HashSet;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use puzzles::open_file;
use strata_engine::dense::{
    Counter, Direction, Kernel, Options, PartLayers, PartSearch, Search, SearchError,
};
use strata_space::dense::{DenseFolding, DenseSpace};
use strata_space::{KeySpace, LayerStats, Puzzle};

fn open(name: &str, options: &[(&str, &str)], symmetry: &str) -> Arc<dyn DenseSpace> {
    open_file(name, &[options, &[("symmetry", symmetry)]].concat()).dense().unwrap()
}

/// The layers of a search in memory. The figures of some are counted again.
fn layers(space: &Arc<dyn DenseSpace>, options: &Options) -> Vec<LayerStats> {
    let mut search = Search::new(Arc::clone(space), options).unwrap();
    let mut layers = vec![search.stats()];
    while let Some(layer) = search.advance() {
        if layers.len() % 4 == 0 {
            let mut words = vec![0; space.tables().shape().words() as usize];
            search.read_current(0, &mut words);
            let counted = Counter::new(&**space, options.digest).count(0, &words);
            assert_eq!(counted, LayerStats { found: false, ..layer });
        }
        layers.push(layer);
    }
    layers
}

fn positions(layers: &[LayerStats]) -> Vec<(u64, bool)> {
    layers.iter().map(|layer| (layer.positions, layer.found)).collect()
}

/// The first layers as the explicit engine stores them, with one state of each orbit.
fn stored_layers(name: &str, options: &[(&str, &str)], count: usize) -> Vec<u64> {
    let puzzle = open_file(name, &[options, &[("symmetry", "on")]].concat());
    let mut layer = vec![puzzle.seeds()[0].key()];
    let mut known: HashSet<u128> = layer.iter().copied().collect();
    let (mut counts, mut next) = (vec![1], Vec::new());
    while counts.len() < count {
        next.clear();
        layer.iter().for_each(|key| puzzle.successors(*key, &mut next));
        layer = next.iter().copied().filter(|key| known.insert(*key)).collect();
        counts.push(layer.len() as u64);
    }
    counts
}

/// Orbits by layer.
fn orbits(space: &Arc<dyn DenseSpace>, layers: &[LayerStats]) -> Vec<u64> {
    let symmetries = u64::from(space.tables().symmetries().unwrap().get());
    let sums = layers.iter().map(|layer| layer.positions + layer.fixed);
    let orbits = sums.map(|sum| {
        assert_eq!(sum % symmetries, 0);
        sum / symmetries
    });
    orbits.collect()
}

/// Layers as words of the whole space.
struct Layers {
    rows: usize,
    layers: Vec<Vec<u64>>,
    next: Mutex<Vec<u64>>,
}

impl PartLayers for Layers {
    type Error = Infallible;

    fn current_states(&self, blocks: Range<u32>) -> u64 {
        let words = blocks.start as usize * self.rows..blocks.end as usize * self.rows;
        self.layers.last().unwrap()[words].iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn read_current(&self, first: u32, words: &mut [u64]) -> Result<(), Infallible> {
        let start = first as usize * self.rows;
        words.copy_from_slice(&self.layers.last().unwrap()[start..start + words.len()]);
        Ok(())
    }

    fn read_earlier(&self, first: u32, words: &mut [u64]) -> Result<(), Infallible> {
        let start = first as usize * self.rows;
        words.fill(0);
        for layer in &self.layers[..self.layers.len() - 1] {
            let layer = &layer[start..start + words.len()];
            words.iter_mut().zip(layer).for_each(|(word, more)| *word |= more);
        }
        Ok(())
    }

    fn write(&self, first: u32, words: &[u64]) -> Result<(), Infallible> {
        let start = first as usize * self.rows;
        self.next.lock().unwrap()[start..start + words.len()].copy_from_slice(words);
        Ok(())
    }
}

/// The layers of a search by parts, of two ranges of blocks that two workers could have.
fn by_parts(space: &Arc<dyn DenseSpace>, options: &Options) -> (usize, Vec<LayerStats>) {
    let mut search = PartSearch::new(space, options).unwrap();
    let (tables, shape) = (space.tables(), space.tables().shape());
    let mut first = vec![0; shape.words() as usize];
    let start = tables.start();
    first[start.block as usize * shape.rows as usize + usize::from(start.row)] = 1 << start.lane;
    let mut layers =
        Layers { rows: shape.rows as usize, layers: vec![first], next: Mutex::default() };
    let mut stats = vec![search.first_layer()];
    let half = shape.blocks / 3;
    loop {
        *layers.next.lock().unwrap() = vec![0; shape.words() as usize];
        let mut sum = LayerStats::default();
        for blocks in [0..half, half..shape.blocks] {
            sum.add(&search.advance(blocks, &layers).unwrap());
        }
        if sum.states == 0 {
            return (search.parts(), stats);
        }
        stats.push(sum);
        let next = std::mem::take(&mut *layers.next.lock().unwrap());
        layers.layers.push(next);
    }
}

#[test]
fn layers_have_as_many_positions_as_without_symmetry() {
    let cases: [(&str, &[(&str, &str)]); 6] = [
        ("skewb-diamond", &[]),
        ("skewb-diamond", &[("start", "UFR DBL UBL")]),
        ("skewb-diamond", &[("goal", "UFR DBL2 UBL DFL")]),
        ("2x2x2", &[("moves", "F,U,R")]),
        ("2x2x2", &[("moves", "F,U,R"), ("metric", "quarter"), ("goal", "F U R F2 U")]),
        ("pyraminx", &[("moves", "U,L,R,B")]),
    ];
    for (name, options) in cases {
        let (plain, folded) = (open(name, options, "off"), open(name, options, "on"));
        assert!(folded.tables().is_folded(), "{name} {options:?}");
        let expected = positions(&layers(&plain, &Options::default()));
        let found = layers(&folded, &Options::default());
        assert_eq!(positions(&found), expected, "{name} {options:?}");
        if name != "2x2x2" {
            // With a goal, the dense engine uses all symmetries, too.
            let options: Vec<_> =
                options.iter().copied().filter(|(name, _)| *name != "goal").collect();
            let expected = stored_layers(name, &options, found.len());
            assert_eq!(orbits(&folded, &found), expected, "{name} {options:?}");
        }
        let states: u64 = found.iter().map(|layer| layer.states).sum();
        assert_eq!(states, folded.tables().shape().states());
        let moves = folded.tables().moves().moves as u64;
        assert!(found.iter().all(|layer| layer.generated == layer.positions * moves));
        // Threads, kernels and parts change nothing.
        for kernel in Kernel::available() {
            let options = Options { threads: 3, kernel: Some(kernel), ..Options::default() };
            assert_eq!(layers(&folded, &options), found);
        }
        let whole = Options::default();
        assert_eq!(by_parts(&folded, &whole), (1, found.clone()));
        let too_small = Options { memory: 1, threads: 2, ..Options::default() };
        let Err(SearchError::Budget { needed, .. }) = PartSearch::new(&folded, &too_small) else {
            panic!("{name} {options:?}");
        };
        let memory = needed + folded.tables().shape().words() * 32 / 5;
        let (parts, layers) = by_parts(&folded, &Options { memory, ..too_small });
        assert!(parts > 4, "{parts} parts");
        assert_eq!(layers, found, "{parts} parts");
    }
}

#[test]
fn the_size_is_known_before_the_tables_are_built() {
    for (name, is_folded) in [("skewb-diamond", true), ("2x2x2", true), ("dino", true)] {
        let puzzle = open_file(name, &[("symmetry", "on")]);
        let (size, space) = (puzzle.dense_size().unwrap(), puzzle.dense().unwrap());
        let tables = space.tables();
        assert_eq!(size.shape, tables.shape());
        assert_eq!(size.states, tables.shape().states());
        assert!(tables.bytes() as u64 <= size.table_bytes, "{name} {size:?}");
        let DenseFolding::On { maps } = size.folding else { panic!("{size:?}") };
        assert!(is_folded && tables.maps().len() <= maps as usize);
        let plain = open_file(name, &[]).dense_size().unwrap();
        assert_eq!(plain.folding, DenseFolding::Off);
        assert!(plain.states > 4 * size.states, "{name} {size:?}");
    }
}

#[test]
fn folded_blocks_are_never_pushed() {
    let space = open("skewb-diamond", &[], "on");
    let push = Options { direction: Some(Direction::Push), ..Options::default() };
    assert_eq!(Search::new(Arc::clone(&space), &push).unwrap_err(), SearchError::Push);
    assert_eq!(PartSearch::new(&space, &push).unwrap_err(), SearchError::Push);
    let pull = Options { direction: Some(Direction::Pull), ..Options::default() };
    assert_eq!(layers(&space, &pull), layers(&space, &Options::default()));
}

#[test]
fn paths_lead_from_the_start_to_a_state_itself() {
    let puzzle = open_file("skewb-diamond", &[("symmetry", "on")]);
    let (folded, plain) = (puzzle.dense().unwrap(), open("skewb-diamond", &[], "off"));
    let all = |space: &Arc<dyn DenseSpace>| {
        let mut search = Search::new(Arc::clone(space), &Options::default()).unwrap();
        while search.advance().is_some() {}
        search
    };
    let (folded_search, plain_search) = (all(&folded), all(&plain));
    let shape = plain.tables().shape();
    for number in (0..shape.states()).step_by(31_415) {
        let state = shape.state(number).unwrap();
        let text = plain.text(state);
        let stored = folded.parse(&text).unwrap();
        assert_eq!(folded.parse(&folded.text(stored)), Some(stored));
        let path = folded_search.path_to_start(stored).unwrap().unwrap();
        let expected = plain_search.path_to_start(state).unwrap().unwrap();
        assert_eq!(path.len(), expected.len(), "{text}");
        let states: Vec<_> = path.iter().rev().map(|step| step.state).chain([stored]).collect();
        let texts = folded.path_texts(&states, Some(&text)).unwrap();
        assert_eq!(texts[texts.len() - 1], text);
        assert_eq!(texts[0], plain.text(plain.tables().start()));
        // Each is one move from the one before.
        assert_eq!(puzzle.moves_between(&texts).unwrap().len(), expected.len());
        // No goal has been given.
        assert_eq!(folded.path_texts(&states, None), None);
    }
    assert_eq!(folded.parse("nowhere"), None);
}

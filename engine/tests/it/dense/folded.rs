//! Tests of searches with folded blocks against searches of all states, in memory and by parts.

use crate::dense::parts::by_parts;
use crate::dense::puzzles;

use std::sync::Arc;

use puzzles::open_file;
use strata_engine::dense::{Counter, Direction, Kernel, Options, PartSearch, Search, SearchError};
use strata_space::dense::{DenseFolding, DenseSpace};
use strata_space::{KeySpace, LayerStats, Puzzle};

use crate::reference::search::layers_of;

fn open(name: &str, options: &[(&str, &str)], symmetry: &str) -> Arc<dyn DenseSpace> {
    open_file(name, &[options, &[("symmetry", symmetry)]].concat()).dense().unwrap()
}

/// The layers of a search in memory. The figures of some layers are checked by counting again.
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

/// Numbers of states of the first layers in the explicit engine, which stores one state of each orbit.
fn stored_layers(name: &str, options: &[(&str, &str)], count: usize) -> Vec<u64> {
    let puzzle = open_file(name, &[options, &[("symmetry", "on")]].concat());
    let layers = layers_of(&[puzzle.seeds()[0].key()], count - 1, |key| {
        let mut next = Vec::new();
        puzzle.successors(*key, &mut next);
        next
    });
    layers.iter().map(|layer| layer.len() as u64).collect()
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
            // The dense engine uses all symmetries even with a goal, so it is compared without one.
            let options: Vec<_> =
                options.iter().copied().filter(|(name, _)| *name != "goal").collect();
            let expected = stored_layers(name, &options, found.len());
            assert_eq!(orbits(&folded, &found), expected, "{name} {options:?}");
        }
        let states: u64 = found.iter().map(|layer| layer.states).sum();
        assert_eq!(states, folded.tables().shape().states());
        let moves = folded.tables().moves().moves as u64;
        assert!(found.iter().all(|layer| layer.generated == layer.positions * moves));
        // Threads, kernels and parts do not change the layers.
        for kernel in Kernel::available() {
            let options = Options { threads: 3, kernel: Some(kernel), ..Options::default() };
            assert_eq!(layers(&folded, &options), found);
        }
        let shape = folded.tables().shape();
        let ranges = [0..shape.blocks / 3, shape.blocks / 3..shape.blocks];
        assert_eq!(by_parts(&folded, &Options::default(), &ranges), found);
        let too_small = Options { memory: 1, threads: 2, ..Options::default() };
        let Err(SearchError::Budget { needed, .. }) = PartSearch::new(&folded, &too_small) else {
            panic!("{name} {options:?}");
        };
        let options = Options { memory: needed + shape.words() * 32 / 5, ..too_small };
        assert!(PartSearch::new(&folded, &options).unwrap().parts() > 4, "{name}");
        assert_eq!(by_parts(&folded, &options, &ranges), found, "{name} {options:?}");
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
fn paths_in_a_folded_space_end_at_the_requested_position() {
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
        // Each position is one move from the one before.
        assert_eq!(puzzle.moves_between(&texts).unwrap().len(), expected.len());
        // Without a goal, no path ends at one.
        assert_eq!(folded.path_texts(&states, None), None);
    }
    assert_eq!(folded.parse("nowhere"), None);
}

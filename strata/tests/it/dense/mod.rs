//! Tests of the worker of the dense engine, and the spaces that they search.

mod files;
mod workers;

use std::sync::Arc;

use strata::LayerRecord;
use strata_engine::dense::{Options, PartSearch, Search, SearchError};
use strata_puzzles::permutation::Permutation;
use strata_puzzles::{DenseHanoi, Hanoi};
use strata_run::LayerReport;
use strata_space::dense::DenseSpace;
use strata_space::{LayerStats, Puzzle, file_value};
use strata_store::KeptFile;

fn hanoi() -> Arc<dyn DenseSpace> {
    Arc::new(DenseHanoi::new(Hanoi::new(9, 4, true).unwrap()).unwrap())
}

/// A puzzle from a file in which symmetric blocks are one block.
fn from_file(file: &str) -> Arc<dyn DenseSpace> {
    let given = [("file", file_value(file)), ("symmetry", "on".to_owned())];
    let given = given.map(|(name, value)| (name.to_owned(), value));
    let space = Permutation::open(&given.into()).unwrap().dense().unwrap();
    assert!(space.tables().is_folded());
    space
}

/// Swaps of neighbours on a ring of eight: 40,320 states.
fn folded() -> Arc<dyn DenseSpace> {
    let swap = |first: u32| format!("({first},{})\n", first % 8 + 1);
    from_file(&(1..=8).map(swap).collect::<String>())
}

/// Turns of the faces of a cube in one direction, which move its corners: 40,320 states.
fn folded_turns() -> Arc<dyn DenseSpace> {
    let space = from_file("(1,2,3,4)\n(5,6,7,8)\n(1,4,6,5)\n(2,8,7,3)\n(1,5,8,2)\n(3,7,6,4)\n");
    assert!(!space.tables().is_undirected());
    space
}

/// Memory for all of a space, and for a few blocks.
fn budgets(space: &Arc<dyn DenseSpace>) -> [u64; 2] {
    let refused = PartSearch::new(space, &Options { memory: 0, ..Options::default() });
    let Err(SearchError::Budget { needed, .. }) = refused else { panic!("{refused:?}") };
    let shape = space.tables().shape();
    [1 << 30, needed + u64::from(shape.rows) * 32 * u64::from(shape.blocks / 5)]
}

/// All layers of a search in memory, then the empty one.
fn expected(space: &Arc<dyn DenseSpace>) -> Vec<LayerStats> {
    let mut search = Search::new(Arc::clone(space), &Options::default()).unwrap();
    let mut layers = vec![search.stats()];
    layers.extend(std::iter::from_fn(|| search.advance()));
    layers.push(LayerStats::default());
    layers
}

/// The files that keep the layer of a report, with its depth.
fn kept_of(report: &LayerReport) -> Vec<(u32, KeptFile)> {
    let LayerRecord { depth, kept, .. } = &report.layer;
    kept.iter().map(|kept| (*depth, kept.clone())).collect()
}

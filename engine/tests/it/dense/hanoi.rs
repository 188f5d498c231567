//! Tests with towers of Hanoi: a space that is not a group, as states lack some moves.

use std::sync::Arc;

use strata_engine::dense::{Direction, Kernel, Options, Search};
use strata_puzzles::{DenseHanoi, Hanoi};
use strata_space::dense::DenseSpace;
use strata_space::{KeySpace, LayerStats};

use crate::dense::all_layers;
use crate::reference::search::layers_of;

/// Layers from a search with sets of keys: states, moves, digest, and whether the goal is among the states.
fn slow_layers(hanoi: &Hanoi) -> Vec<LayerStats> {
    let successors = |key: &u64| {
        let mut next = Vec::new();
        hanoi.successors(*key, &mut next);
        next
    };
    let stats = |layer: &Vec<u64>| LayerStats {
        states: layer.len() as u64,
        positions: layer.len() as u64,
        generated: layer.iter().map(|key| successors(key).len() as u64).sum(),
        digest: hanoi.digest(layer),
        found: layer.iter().any(|key| Some(*key) == hanoi.goal()),
        ..LayerStats::default()
    };
    layers_of(&[0], usize::MAX, successors).iter().map(stats).collect()
}

#[test]
fn layers_are_those_of_a_slow_search_over_keys() {
    for (discs, pegs) in [(2, 3), (4, 4), (8, 4), (9, 4), (11, 3), (6, 5), (5, 8)] {
        let hanoi = Hanoi::new(discs, pegs, false).unwrap();
        let expected = slow_layers(&hanoi);
        let space: Arc<dyn DenseSpace> = Arc::new(DenseHanoi::new(hanoi).unwrap());
        for kernel in Kernel::available() {
            for direction in [None, Some(Direction::Push), Some(Direction::Pull)] {
                for threads in [1, 3] {
                    let kernel = Some(kernel);
                    let options = Options { kernel, direction, threads, ..Options::default() };
                    let mut search = Search::new(Arc::clone(&space), &options).unwrap();
                    let mut found = all_layers(&mut search);
                    found.iter_mut().for_each(|layer| layer.regions = 0);
                    assert_eq!(found, expected, "{discs} {pegs} {options:?}");
                }
            }
        }
    }
}

#[test]
#[ignore = "67,108,864 states: seconds when optimised"]
fn thirteen_discs_on_four_pegs_have_402_604_032_moves() {
    let hanoi = Hanoi::new(13, 4, true).unwrap();
    let space = Arc::new(DenseHanoi::new(hanoi).unwrap());
    let mut search = Search::new(space, &Options::default()).unwrap();
    let mut total = LayerStats::default();
    all_layers(&mut search).iter().for_each(|layer| total.add(layer));
    assert_eq!((total.states, total.generated), (1 << 26, 402_604_032));
}

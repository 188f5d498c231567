//! A space whose states lack some moves, which is no group.

use std::collections::HashSet;
use std::sync::Arc;

use strata_engine::dense::{Direction, Kernel, Options, Search};
use strata_puzzles::{DenseHanoi, Hanoi};
use strata_space::dense::DenseSpace;
use strata_space::{KeySpace, LayerStats};

/// Layers by a set of keys: states, moves, digest, and whether the goal is among them.
fn slow_layers(hanoi: &Hanoi) -> Vec<LayerStats> {
    let goal = hanoi.goal();
    let mut seen = HashSet::from([0]);
    let (mut layer, mut layers, mut successors) = (vec![0], Vec::new(), Vec::new());
    while !layer.is_empty() {
        let mut next = Vec::new();
        let mut generated = 0;
        for key in &layer {
            successors.clear();
            hanoi.successors(*key, &mut successors);
            generated += successors.len() as u64;
            next.extend(successors.iter().copied().filter(|key| seen.insert(*key)));
        }
        layers.push(LayerStats {
            states: layer.len() as u64,
            positions: layer.len() as u64,
            generated,
            digest: hanoi.digest(&layer),
            found: layer.iter().any(|key| Some(*key) == goal),
            ..LayerStats::default()
        });
        layer = next;
    }
    layers
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
                    let first = search.stats();
                    let found = std::iter::once(first)
                        .chain(std::iter::from_fn(|| search.advance()))
                        .map(|layer| LayerStats { regions: 0, ..layer });
                    assert_eq!(found.collect::<Vec<_>>(), expected, "{discs} {pegs} {options:?}");
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
    let mut total = search.stats();
    while let Some(layer) = search.advance() {
        total.add(&layer);
    }
    assert_eq!((total.states, total.generated), (1 << 26, 402_604_032));
}

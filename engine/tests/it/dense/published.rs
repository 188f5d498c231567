//! Tests of the dense engine against published tables of layers.

use crate::dense::{all_layers, puzzles};

use puzzles::{Moves, Powers};
use strata_engine::dense::{Options, Search};
use strata_space::LayerStats;
use strata_space::dense::DenseSpace;

fn layers(moves: &Moves) -> Vec<LayerStats> {
    let space = moves.space();
    let states = space.tables().shape().states();
    let options = Options { threads: 2, ..Options::default() };
    let mut search = Search::new(space, &options).unwrap();
    let layers = all_layers(&mut search);
    assert_eq!(layers.iter().map(|layer| layer.states).sum::<u64>(), states);
    for layer in &layers {
        assert_eq!(layer.generated, layer.states * moves.moves.len() as u64);
    }
    layers
}

#[test]
fn layers_are_those_of_published_tables() {
    let tables: [(Moves, &[u64]); 5] = [
        (
            puzzles::skewb_diamond(),
            &[1, 16, 208, 2280, 18795, 104856, 433752, 897588, 198564, 2640, 180],
        ),
        (
            puzzles::cube2(3, Powers::All),
            &[1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644],
        ),
        (
            puzzles::cube2(3, Powers::Quarter),
            &[
                1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536,
                90280, 276,
            ],
        ),
        (puzzles::pancake(9), &[1, 8, 56, 391, 2278, 10666, 38015, 93585, 132697, 79379, 5804]),
        (
            puzzles::burnt_pancake(6),
            &[1, 6, 30, 150, 675, 2340, 6604, 12795, 15519, 6957, 959, 43, 1],
        ),
    ];
    for (moves, expected) in tables {
        let states: Vec<u64> = layers(&moves).iter().map(|layer| layer.states).collect();
        assert_eq!(states, expected);
    }
}

#[test]
#[ignore = "302,330,880 states: seconds when optimised"]
fn pyraminx_ends_at_depth_16() {
    let layers = layers(&puzzles::pyraminx());
    assert_eq!(layers.len(), 17);
    assert_eq!(layers[16].states, 336);
}

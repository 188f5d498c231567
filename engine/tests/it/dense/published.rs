//! Published tables of layers.

use crate::dense::puzzles;

use puzzles::{Moves, Powers};
use strata_engine::dense::{Options, Search};
use strata_space::LayerStats;
use strata_space::dense::DenseSpace;

fn layers(moves: &Moves) -> Vec<LayerStats> {
    let space = moves.space();
    let states = space.tables().shape().states();
    let options = Options { threads: 2, ..Options::default() };
    let mut search = Search::new(space, &options).unwrap();
    let first = search.stats();
    let layers: Vec<LayerStats> =
        std::iter::once(first).chain(std::iter::from_fn(|| search.advance())).collect();
    assert_eq!(layers.iter().map(|layer| layer.states).sum::<u64>(), states);
    for layer in &layers {
        assert_eq!(layer.generated, layer.states * moves.moves.len() as u64);
    }
    layers
}

fn states(moves: &Moves) -> Vec<u64> {
    layers(moves).iter().map(|layer| layer.states).collect()
}

#[test]
fn skewb_diamond() {
    let expected = [1, 16, 208, 2280, 18795, 104856, 433752, 897588, 198564, 2640, 180];
    assert_eq!(states(&puzzles::skewb_diamond())[..], expected[..expected.len()]);
}

#[test]
fn cube_of_two_with_half_turns() {
    let expected = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644];
    assert_eq!(states(&puzzles::cube2(3, Powers::All)), expected);
}

#[test]
fn cube_of_two_with_quarter_turns() {
    let expected = [
        1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276,
    ];
    assert_eq!(states(&puzzles::cube2(3, Powers::Quarter)), expected);
}

#[test]
fn pancakes_of_nine() {
    let expected = [1, 8, 56, 391, 2278, 10666, 38015, 93585, 132697, 79379, 5804];
    assert_eq!(states(&puzzles::pancake(9)), expected);
}

#[test]
fn burnt_pancakes_of_six() {
    let expected = [1, 6, 30, 150, 675, 2340, 6604, 12795, 15519, 6957, 959, 43, 1];
    assert_eq!(states(&puzzles::burnt_pancake(6)), expected);
}

#[test]
#[ignore = "302,330,880 states: seconds when optimised"]
fn pyraminx_ends_at_depth_16() {
    let layers = layers(&puzzles::pyraminx());
    assert_eq!(layers.len(), 17);
    assert_eq!(layers[16].states, 336);
}

//! Tests of searches from both ends of graphs that a user may write.

use crate::drive;

use drive::{Outcome, SearchSetup, search};
use strata_engine::explicit::Engine;
use strata_space::Keyed;

use crate::kinds::user::Listed;

/// Searches from both ends of a graph.
fn meet(graph: Listed) -> Outcome {
    let space = Keyed::new(graph).unwrap();
    let setup = SearchSetup { shards: 3, ..SearchSetup::default() };
    search(setup, |shards| Engine::sparse(space, shards))
}

/// Compares all pairs of ends, equal ones included, with regions of all sizes. Returns the greatest
/// distance.
fn check(graph: &Listed) -> u64 {
    let vertices = graph.edges.len() as u64;
    let bits = vertices.ilog2() + 1;
    let mut greatest = 0;
    for (a, b) in (0..vertices).flat_map(|a| (0..vertices).map(move |b| (a, b))) {
        let local_bits = Some(((a + b) % u64::from(bits + 1)) as u32);
        let (starts, other_end) = (vec![a], Some(b));
        let graph = Listed { starts, other_end, bits, local_bits, ..graph.clone() };
        let expected = graph.expected();
        let found = meet(graph);
        let what = format!("{a} to {b}, {local_bits:?} local bits");
        assert_eq!(found.moves.map(u64::from), expected.moves, "{what}");
        assert!(a == b || found.states() == expected.states, "{what}");
        greatest = greatest.max(expected.moves.unwrap_or(0));
    }
    greatest
}

#[test]
fn both_ends_of_a_line_meet_after_odd_and_even_distances() {
    assert_eq!(check(&Listed::undirected(11, (0..10).map(|at| (at, at + 1)))), 10);
}

#[test]
fn both_ends_of_odd_and_even_rings_meet() {
    assert_eq!([8, 9].map(|length| check(&Listed::ring(length, 0))), [4, 4]);
}

#[test]
fn both_ends_of_a_grid_with_walls_meet() {
    const WIDTH: u64 = 4;
    let open = |edge: &(u64, u64)| ![(1, 5), (5, 6), (9, 10), (10, 14), (3, 7)].contains(edge);
    let along = (0..16).filter(|at| at % WIDTH != 3).map(|at| (at, at + 1));
    let down = (0..12).map(|at| (at, at + WIDTH));
    let grid = Listed::undirected(16, along.chain(down).filter(open));
    assert!(check(&grid) > 6, "the walls make no difference");
}

#[test]
fn ends_that_are_not_connected_do_not_meet() {
    let edges = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)].into_iter();
    let halves = Listed { other_end: Some(6), ..Listed::undirected(8, edges) };
    let found = meet(Listed { bits: 4, local_bits: Some(2), ..halves });
    assert_eq!(found.moves, None);
    assert_eq!(found.states(), [2, 2, 2, 1]);
}

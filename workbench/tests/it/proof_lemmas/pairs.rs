//! Bounds between all useful positions of the whole puzzle, from the certificate's rows alone.
//!
//! This derives the top graph again, without the certificate's potentials.

use rustc_hash::FxHashMap;

use crate::proof_lemmas::bound::reached;
use crate::proof_lemmas::certificate::Certificate;
use crate::proof_lemmas::model::{CENTRE, Column, Position, Puzzle};
use crate::proof_lemmas::useful::{Useful, free_side, levels_of};

/// The shape and the columns of the two largest tiles, the left one first.
type Node = (u8, [usize; 2]);

/// Bounds by node and the changes of the levels n (upper bit) and n - 1.
type Bounds = FxHashMap<Node, [Option<i64>; 4]>;

fn nodes() -> impl Iterator<Item = Node> {
    (0..5).flat_map(|shape| [[0, 1], [0, 2], [1, 2]].map(|columns| (shape, columns)))
}

/// As in the top part of the certificate.
fn name((shape, columns): Node) -> String {
    let letter = |c| if columns.contains(&c) { " X" } else { " -" };
    format!("{shape}{}{}{}", letter(0), letter(1), letter(2))
}

/// A position of the node.
fn position(puzzle: Puzzle, (shape, columns): Node) -> Position {
    let small = levels_of(shape, puzzle.levels - 1);
    let mut used = 0;
    std::array::from_fn(|c| {
        let largest = columns.contains(&c).then_some(puzzle.levels);
        let colour = |level: u8| {
            let second = used >> level & 1;
            used |= 1 << level;
            2 * level + second as u8
        };
        largest.into_iter().chain(small[c].tiles()).map(colour).collect::<Column>()
    })
}

/// Segments of level n - 1 from a node: target, change as in [`Bounds`], bound of the priced
/// length.
fn edges(certificate: &Certificate, puzzle: Puzzle, node: Node) -> Vec<(Node, usize, i64)> {
    let (shape, columns) = node;
    let small = puzzle.levels - 1;
    let useful = Useful::new(puzzle, &position(puzzle, node), small).unwrap();
    let mut edges = Vec::new();
    for (end, bounds) in certificate.rows(&useful.signature(), small) {
        let words: Vec<&str> = end.split(' ').collect();
        let after = columns.map(|c| {
            let slot = if Some(c) == free_side(shape) {
                'A'
            } else if c == CENTRE {
                'B'
            } else {
                return c;
            };
            (0..3).find(|&to| words[to + 1].contains(slot)).unwrap()
        });
        let flips = usize::from(after[0] > after[1]);
        let sorted = [after[flips], after[1 - flips]];
        let target = (words[0].parse().unwrap(), sorted);
        edges.extend((0..2).map(|bit| (target, 2 * flips + bit, bounds[bit])));
    }
    edges
}

/// Shortest paths by bounds from a node.
fn bounds(certificate: &Certificate, puzzle: Puzzle, from: Node) -> Bounds {
    let graph: Vec<_> = nodes().map(|node| (node, edges(certificate, puzzle, node))).collect();
    let mut bounds: Bounds = nodes().map(|node| (node, [None; 4])).collect();
    bounds.get_mut(&from).unwrap()[0] = Some(0);
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (node, edges) in &graph {
            for (change, bound) in bounds[node].into_iter().enumerate() {
                let Some(bound) = bound else { continue };
                for (target, more, length) in edges {
                    let entry = &mut bounds.get_mut(target).unwrap()[change ^ more];
                    if entry.is_none_or(|known| bound + length < known) {
                        *entry = Some(bound + length);
                        has_changed = true;
                    }
                }
            }
        }
    }
    bounds
}

/// The number of pairs, and how many of them have a bound that equals the distance.
fn check(levels: u8) -> (usize, usize) {
    let (puzzle, certificate) = (Puzzle { levels }, Certificate::made_here());
    let (mut pairs, mut tight) = (0, 0);
    for from in nodes() {
        let bounds: FxHashMap<String, [Option<i64>; 4]> = bounds(certificate, puzzle, from)
            .into_iter()
            .map(|(node, bounds)| (name(node), bounds))
            .collect();
        let (found, _) = reached(puzzle, position(puzzle, from));
        for to in &found {
            let priced = bounds[&to.node][to.kept(levels)].unwrap();
            let bound = priced + to.prices(certificate, levels, None);
            assert!(bound <= to.distance, "{from:?} to {}: {bound} > {}", to.node, to.distance);
            tight += usize::from(bound == to.distance);
        }
        pairs += found.len();
    }
    (pairs, tight)
}

#[test]
fn paths_in_the_top_graph_are_no_longer_than_the_potentials_say() {
    let (puzzle, certificate) = (Puzzle { levels: 5 }, Certificate::made_here());
    for (node, bounds) in bounds(certificate, puzzle, (0, [0, 2])) {
        let potentials = [0, 1, 2, 3].map(|bits| Some(certificate.top(&name(node), bits, 5)));
        assert_eq!(bounds, potentials, "{}", name(node));
    }
}

#[test]
#[ignore = "takes 5 s in release"]
fn the_bound_holds_between_all_useful_positions_of_level_5() {
    assert_eq!(check(5), (7_200, 2_828));
}

//! Tests of spaces that a user may write: a plain list of keys, and searches from both ends.

use crate::drive;

use std::collections::{HashMap, HashSet, VecDeque};

use drive::{Outcome, SearchSetup, search};
use strata_engine::explicit::Engine;
use strata_space::{KeySpace, Keyed, Seed};

/// Eight tiles and a gap on a board of three by three cells.
///
/// The key holds a digit of four bits for every cell, the first cell lowest; 0 is the gap.
struct SlidingTiles;

const SIDE: u32 = 3;
const CELLS: u32 = SIDE * SIDE;
const CELL_BITS: u32 = 4;

fn tile(key: u64, cell: u32) -> u64 {
    key >> (CELL_BITS * cell) & ((1 << CELL_BITS) - 1)
}

impl KeySpace for SlidingTiles {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        let solved = (0..CELLS).fold(0, |key, cell| key | u64::from(cell) << (CELL_BITS * cell));
        vec![Seed::start(solved)]
    }

    fn key_bits(&self) -> u32 {
        CELLS * CELL_BITS
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let gap = (0..CELLS).find(|cell| tile(key, *cell) == 0).unwrap_or_default();
        let beside = |cell: &u32| {
            let (row, column) = (cell / SIDE, cell % SIDE);
            row.abs_diff(gap / SIDE) + column.abs_diff(gap % SIDE) == 1
        };
        out.extend((0..CELLS).filter(beside).map(|cell| {
            let tile = tile(key, cell);
            key ^ tile << (CELL_BITS * cell) ^ tile << (CELL_BITS * gap)
        }));
    }

    fn text(&self, key: u64) -> String {
        (0..CELLS).map(|cell| tile(key, cell).to_string()).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn sliding_tiles_are_the_known_space() {
    // The positions of the 3x3 puzzle by distance from the one with its gap in a corner: A089473.
    let known = [
        1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1_024, 1_893, 2_512, 4_485, 5_638,
        9_529, 10_878, 16_993, 17_110, 23_952, 20_224, 24_047, 15_578, 14_560, 6_274, 3_910, 760,
        221, 2,
    ];
    assert_eq!(known.iter().sum::<u64>(), 181_440);
    let space = Keyed::new(SlidingTiles).unwrap();
    let setup = SearchSetup { shards: 16, ..SearchSetup::default() };
    assert_eq!(search(setup, |shards| Engine::sparse(space, shards)).states(), known);
}

/// A graph given by lists of neighbours, searched from one vertex and another.
#[derive(Clone)]
struct Graph {
    neighbours: Vec<Vec<u64>>,
    ends: (u64, u64),
    local_bits: u32,
}

impl KeySpace for Graph {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(self.ends.0), Seed::goal(self.ends.1)]
    }

    fn key_bits(&self) -> u32 {
        self.neighbours.len().ilog2() + 1
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.extend_from_slice(&self.neighbours[key as usize]);
    }

    fn local_bits(&self) -> Option<u32> {
        Some(self.local_bits)
    }

    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

impl Graph {
    fn new(vertices: u64, edges: impl Iterator<Item = (u64, u64)>) -> Graph {
        let mut neighbours = vec![Vec::new(); vertices as usize];
        for (a, b) in edges {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        Graph { neighbours, ends: (0, 0), local_bits: 0 }
    }

    /// Length of a shortest path between the ends: a plain breadth-first search.
    fn distance(&self) -> Option<u32> {
        let mut depths = HashMap::from([(self.ends.0, 0)]);
        let mut queue = VecDeque::from([self.ends.0]);
        while let Some(at) = queue.pop_front() {
            for next in &self.neighbours[at as usize] {
                if !depths.contains_key(next) {
                    depths.insert(*next, depths[&at] + 1);
                    queue.push_back(*next);
                }
            }
        }
        depths.get(&self.ends.1).copied()
    }

    /// Compares all pairs of ends, equal ones included, with regions of all sizes. Returns the
    /// greatest distance.
    fn check(mut self) -> u32 {
        let vertices = self.neighbours.len() as u64;
        let mut greatest = 0;
        for (a, b) in (0..vertices).flat_map(|a| (0..vertices).map(move |b| (a, b))) {
            self.ends = (a, b);
            self.local_bits = ((a + b) % u64::from(self.key_bits() + 1)) as u32;
            let what = format!("{a} to {b}, {} local bits", self.local_bits);
            let distance = self.distance();
            assert_eq!(meet(self.clone()).moves, distance, "{what}");
            greatest = greatest.max(distance.unwrap_or(0));
        }
        greatest
    }
}

fn meet<S: KeySpace>(space: S) -> Outcome {
    let space = Keyed::new(space).unwrap();
    let setup = SearchSetup { shards: 3, ..SearchSetup::default() };
    search(setup, |shards| Engine::sparse(space, shards))
}

#[test]
fn both_ends_of_a_line_meet_after_odd_and_even_distances() {
    let line = Graph::new(11, (0..10).map(|at| (at, at + 1)));
    assert_eq!(line.check(), 10);
}

#[test]
fn both_ends_of_odd_and_even_rings_meet() {
    for length in [8, 9] {
        let ring = Graph::new(length, (0..length).map(|at| (at, (at + 1) % length)));
        assert_eq!(ring.check(), 4);
    }
}

#[test]
fn both_ends_of_a_grid_with_walls_meet() {
    const WIDTH: u64 = 4;
    let open = |edge: &(u64, u64)| ![(1, 5), (5, 6), (9, 10), (10, 14), (3, 7)].contains(edge);
    let along = (0..16).filter(|at| at % WIDTH != 3).map(|at| (at, at + 1));
    let down = (0..12).map(|at| (at, at + WIDTH));
    let grid = Graph::new(16, along.chain(down).filter(open));
    assert!(grid.check() > 6, "the walls make no difference");
}

#[test]
fn ends_that_are_not_connected_do_not_meet() {
    let mut halves = Graph::new(8, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)].into_iter());
    (halves.ends, halves.local_bits) = ((0, 6), 2);
    let found = meet(halves);
    assert_eq!(found.moves, None);
    assert_eq!(found.states(), [2, 2, 2, 1]);
}

/// Sliding tiles from the solved position and another one.
struct SlidingTilesTo(u64);

impl KeySpace for SlidingTilesTo {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        let mut seeds = SlidingTiles.seeds();
        seeds.push(Seed::goal(self.0));
        seeds
    }

    fn key_bits(&self) -> u32 {
        SlidingTiles.key_bits()
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        SlidingTiles.successors(key, out);
    }

    fn text(&self, key: u64) -> String {
        SlidingTiles.text(key)
    }
}

/// A position at each distance from the solved one, by a plain breadth-first search.
fn one_at_each_distance() -> Vec<u64> {
    // The first cell is the key's last digit.
    let solved = 0x8_7654_3210;
    assert_eq!(SlidingTiles.text(solved), "0 1 2 3 4 5 6 7 8");
    let mut seen = HashSet::from([solved]);
    let mut layer = vec![solved];
    let mut found = Vec::new();
    while let Some(first) = layer.first() {
        found.push(*first);
        let mut next = Vec::new();
        layer.iter().for_each(|key| SlidingTiles.successors(*key, &mut next));
        next.retain(|key| seen.insert(*key));
        layer = next;
    }
    found
}

#[test]
fn both_ends_of_the_sliding_tiles_meet() {
    let positions = one_at_each_distance();
    assert_eq!(positions.len(), 32);
    for (distance, position) in positions.into_iter().enumerate().skip(1) {
        let found = meet(SlidingTilesTo(position));
        assert_eq!(found.moves, Some(distance as u32), "to {}", SlidingTiles.text(position));
        assert_eq!(found.layers.len(), distance.div_ceil(2) + 1);
    }
}

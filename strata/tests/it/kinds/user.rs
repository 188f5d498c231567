//! Table rows of spaces that a user may write: graphs given by lists of edges, with keys of any width.

use std::marker::PhantomData;

use strata::{KeySpace, Keyed, NoNested, Parameter, Parameters, Puzzle, Search, Seed, SpaceError};
use strata_space::Key;

use crate::kinds::check::{Expected, check, from_both_ends, sizes};
use crate::reference::search::layers_of;

/// Pseudo-random numbers with a fixed seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A graph given by the edges from each vertex. Wide keys are far apart.
#[derive(Clone, Debug)]
pub(crate) struct Listed<K = u64> {
    pub(crate) edges: Vec<Vec<u64>>,
    pub(crate) starts: Vec<u64>,
    pub(crate) other_end: Option<u64>,
    pub(crate) goal: Option<u64>,
    pub(crate) is_undirected: bool,
    pub(crate) bits: u32,
    pub(crate) local_bits: Option<u32>,
    pub(crate) key: PhantomData<K>,
}

/// An odd number, and its inverse modulo 2^128.
const FACTOR: u128 = 0xb549_3c17_09e6_d2f8_8c6b_2e19_f0a4_d357;
const BACK: u128 = 0x8327_5c2f_1771_2580_0aa4_3aa4_eb25_c867;

impl<K: Key> Listed<K> {
    pub(crate) fn new(edges: Vec<Vec<u64>>, is_undirected: bool) -> Listed<K> {
        Listed {
            edges,
            starts: vec![0],
            other_end: None,
            goal: None,
            is_undirected,
            bits: 10,
            local_bits: None,
            key: PhantomData,
        }
    }

    /// The graph of these edges, in both directions.
    pub(crate) fn undirected(vertices: u64, edges: impl Iterator<Item = (u64, u64)>) -> Listed<K> {
        let mut next = vec![Vec::new(); vertices as usize];
        for (a, b) in edges {
            next[a as usize].push(b);
            next[b as usize].push(a);
        }
        Listed::new(next, true)
    }

    /// A ring of `vertices` vertices with `chords` random chords.
    pub(crate) fn ring(vertices: u64, chords: u64) -> Listed<K> {
        let mut random = Random(vertices);
        let along = (0..vertices).map(|at| (at, (at + 1) % vertices));
        let chords = (0..chords).map(|_| (random.below(vertices), random.below(vertices)));
        Listed::undirected(vertices, along.chain(chords))
    }

    /// Two edges from each vertex to one of the next, and some that lead far back.
    pub(crate) fn one_way(vertices: u64, reach: u64) -> Listed<K> {
        let mut random = Random(reach);
        let edges = (0..vertices).map(|at| {
            let mut next: Vec<u64> =
                (0..2).map(|_| (at + random.below(reach)) % vertices).collect();
            next.extend((random.below(8) == 0).then_some(at / 2));
            next
        });
        Listed::new(edges.collect(), false)
    }

    fn key(&self, vertex: u64) -> K {
        let vertex = u128::from(vertex);
        if self.bits <= 10 {
            return K::join(0, vertex, 0);
        }
        K::join(0, vertex.wrapping_mul(FACTOR) & u128::MAX >> (128 - self.bits), 0)
    }

    fn vertex(&self, key: K) -> u64 {
        if self.bits <= 10 {
            return key.split(0).0 as u64;
        }
        (key.split(0).0.wrapping_mul(BACK) & u128::MAX >> (128 - self.bits)) as u64
    }

    /// Layers of vertices around some of them, by a plain search.
    fn layers(&self, starts: &[u64]) -> Vec<Vec<u64>> {
        layers_of(starts, usize::MAX, |at| self.edges[*at as usize].clone())
    }

    pub(crate) fn expected(&self) -> Expected {
        let layers = self.layers(&self.starts);
        if let Some(end) = self.other_end {
            return from_both_ends([&layers, &self.layers(&[end])]);
        }
        let goal = self.goal.and_then(|goal| layers.iter().position(|layer| layer.contains(&goal)));
        let last = goal.unwrap_or(layers.len() - 1);
        let expected = Expected::whole(sizes(&layers[..=last]));
        Expected { moves: goal.map(|moves| moves as u64), ..expected }
    }
}

impl<K: Key> KeySpace for Listed<K> {
    type Key = K;

    fn seeds(&self) -> Vec<Seed<K>> {
        let starts = self.starts.iter().map(|at| Seed::start(self.key(*at)));
        starts.chain(self.other_end.map(|end| Seed::goal(self.key(end)))).collect()
    }
    fn key_bits(&self) -> u32 {
        self.bits
    }
    fn local_bits(&self) -> Option<u32> {
        self.local_bits
    }
    fn successors(&self, key: K, out: &mut Vec<K>) {
        out.extend(self.edges[self.vertex(key) as usize].iter().map(|next| self.key(*next)));
    }
    fn goal(&self) -> Option<K> {
        self.goal.map(|goal| self.key(goal))
    }
    fn is_undirected(&self) -> bool {
        self.is_undirected
    }
    fn text(&self, key: K) -> String {
        self.vertex(key).to_string()
    }
}

impl<K: Key> Puzzle for Listed<K> {
    type States = Keyed<Listed<K>>;
    type Nested = NoNested;

    const NAME: &'static str = "listed";
    const SUMMARY: &'static str = "a graph by lists of edges";
    const PARAMETERS: &'static [Parameter] = &[];

    /// Unused by searches: only reports open the puzzle again, for paths and states.
    fn open(_: &Parameters) -> Result<Listed<K>, SpaceError> {
        Ok(Listed::new(vec![Vec::new()], true))
    }
    fn parameters(&self) -> Parameters {
        Parameters::new()
    }
}

fn check_listed<K: Key>(graph: &Listed<K>) -> Expected {
    let expected = graph.expected();
    check(&|| Search::new(graph.clone()), expected.clone());
    expected
}

#[test]
fn one_state() {
    let expected = check_listed(&Listed::<u64>::new(vec![Vec::new()], true));
    assert_eq!(expected.states, [1]);
    let expected = check_listed(&Listed::<u64>::new(vec![vec![0]], false));
    assert_eq!(expected.states, [1]);
    // The goal is the start.
    let graph = Listed::<u64> { goal: Some(0), ..Listed::ring(7, 0) };
    assert_eq!(check_listed(&graph), Expected { moves: Some(0), ..Expected::whole(vec![1]) });
}

#[test]
fn two_layers_of_a_star() {
    let leaves: Vec<u64> = (1..300).collect();
    let edges = [leaves].into_iter().chain((1..300).map(|_| vec![0])).collect();
    let expected = check_listed(&Listed::<u64>::new(edges, true));
    assert_eq!(expected.states, [1, 299]);
}

#[test]
fn an_undirected_graph() {
    let graph = Listed::<u64>::ring(900, 70);
    assert!(check_listed(&graph).states.len() > 15);
    for local_bits in [0, 3, 10] {
        check_listed(&Listed { local_bits: Some(local_bits), ..graph.clone() });
    }
    check_listed(&Listed { starts: vec![0, 200, 450], ..graph });
}

#[test]
fn a_graph_with_edges_of_one_direction() {
    let graph = Listed::<u64>::one_way(900, 40);
    assert!(check_listed(&graph).states.len() > 25);
    let goal = graph.layers(&[0]).into_iter().nth(17).unwrap()[0];
    let expected = check_listed(&Listed { goal: Some(goal), ..graph });
    assert_eq!(expected.moves, Some(17));
}

#[test]
fn both_ends_of_a_graph() {
    let graph = Listed::<u64>::ring(900, 30);
    let layers = graph.layers(&[0]);
    for distance in [8, 9] {
        let other_end = Some(layers[distance][0]);
        let expected = check_listed(&Listed { other_end, ..graph.clone() });
        assert_eq!(expected.moves, Some(distance as u64));
    }
    // In two parts.
    let mut graph = Listed::<u64>::ring(300, 10);
    let other = graph.edges.clone().into_iter();
    graph.edges.extend(other.map(|next| next.into_iter().map(|at| at + 300).collect::<Vec<_>>()));
    graph.other_end = Some(420);
    assert_eq!(check_listed(&graph).moves, None);
}

#[test]
fn wide_keys() {
    for bits in [41, 64] {
        check_listed(&Listed::<u64> { bits, ..Listed::ring(900, 70) });
        check_listed(&Listed::<u64> { bits, ..Listed::one_way(900, 60) });
    }
    for (bits, local_bits) in [(65, None), (90, Some(70)), (128, None)] {
        check_listed(&Listed::<u128> { bits, local_bits, ..Listed::ring(900, 70) });
        check_listed(&Listed::<u128> { bits, local_bits, ..Listed::one_way(900, 60) });
        let graph =
            Listed::<u128> { bits, local_bits, other_end: Some(430), ..Listed::ring(900, 30) };
        assert!(check_listed(&graph).moves.is_some());
    }
}

/// Sliding tiles of 2x3 whose blank goes straight or turns right.
#[derive(Clone, Debug)]
struct Clockwise;

const COLUMNS: i32 = 3;
const CELLS: u32 = 6;

/// Up, right, down, left.
const DIRECTIONS: [(i32, i32); 4] = [(-1, 0), (0, 1), (1, 0), (0, -1)];

/// Three bits for the tile of each cell, 0 for the blank, and the direction above them; 4 is none.
impl KeySpace for Clockwise {
    type Key = u64;

    fn seeds(&self) -> Vec<Seed> {
        let sorted =
            (0..CELLS).fold(0, |key, cell| key | u64::from((cell + 1) % CELLS) << (3 * cell));
        vec![Seed::start(sorted | 4 << (3 * CELLS))]
    }
    fn key_bits(&self) -> u32 {
        3 * CELLS + 3
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let tile = |cell: u32| key >> (3 * cell) & 7;
        let before = key >> (3 * CELLS);
        let blank = (0..CELLS).find(|cell| tile(*cell) == 0).unwrap();
        let (row, column) = (blank as i32 / COLUMNS, blank as i32 % COLUMNS);
        for (number, (down, right)) in (0..).zip(DIRECTIONS) {
            let is_allowed = [4, number, (number + 3) % 4].contains(&before);
            let is_inside = (0..2).contains(&(row + down)) && (0..3).contains(&(column + right));
            if is_allowed && is_inside {
                let cell = ((row + down) * COLUMNS + column + right) as u32;
                let tiles = key & ((1 << (3 * CELLS)) - 1);
                let moved = tiles ^ tile(cell) << (3 * cell) ^ tile(cell) << (3 * blank);
                out.push(moved | number << (3 * CELLS));
            }
        }
    }
    fn is_undirected(&self) -> bool {
        false
    }
    fn text(&self, key: u64) -> String {
        format!("{key:o}")
    }
}

without_parameters!(Clockwise, "clockwise", Ok(Clockwise));

#[test]
fn clockwise_tiles() {
    // Rows with a border, so that no move leaves the board; the blank is 0 and the border 9.
    let start = vec![9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 4, 5, 0, 9, 9, 9, 9, 9, 9];
    let steps: [i32; 4] = [-5, 1, 5, -1];
    let layers = layers_of(&[(start, None)], usize::MAX, |(board, before)| {
        let blank = board.iter().position(|tile| *tile == 0).unwrap();
        let directions = match before {
            None => vec![0, 1, 2, 3],
            Some(before) => vec![*before, (before + 1) % 4],
        };
        let targets = directions.into_iter().map(|to: usize| (to, blank as i32 + steps[to]));
        let open = targets.filter(|(_, cell)| board[*cell as usize] != 9);
        let slide = |(to, cell): (usize, i32)| {
            let mut next = board.clone();
            next.swap(blank, cell as usize);
            (next, Some(to))
        };
        open.map(slide).collect()
    });
    assert!(layers.len() > 10 && layers.concat().len() > 100);
    check(&|| Search::new(Clockwise), Expected::whole(sizes(&layers)));
}

//! Lemma P1: the sequence model has the distances of the physical puzzle.

use rustc_hash::FxHashMap;

use crate::proof_lemmas::model::{Position, Puzzle};
use crate::proof_lemmas::physical_board::{Board, Cells};

/// What a comparison of distances from one sunk position has seen.
#[derive(Default, PartialEq, Eq, Debug)]
struct Compared {
    /// Sunk positions without centre-top: their distances agree.
    sunk: usize,
    /// Others with a legal order of tiles: not nearer than their sunk positions.
    raised: usize,
}

/// The order of the tiles of a physical position, and whether they are as deep as they can be.
/// `None` if the order has a tile on centre-top.
fn project(puzzle: Puzzle, board: &Board, cells: Cells) -> Option<(Position, bool)> {
    let position = board.sequences(cells);
    puzzle.is_legal(&position).then(|| (position, board.sunk(&position) == cells))
}

/// Compares physical distances with those of the model, both from the same position.
fn compare(
    physical: impl Iterator<Item = (Option<(Position, bool)>, u32)>,
    model: &FxHashMap<Position, u32>,
) -> Compared {
    let mut compared = Compared::default();
    for (projected, distance) in physical {
        let Some((position, is_sunk)) = projected else { continue };
        let in_model = *model.get(&position).expect("reached by the physical puzzle only");
        if is_sunk {
            assert_eq!(distance, in_model, "{position:?}");
            compared.sunk += 1;
        } else {
            assert!(distance >= in_model, "{position:?}");
            compared.raised += 1;
        }
    }
    assert_eq!(compared.sunk, model.len(), "reached by the model only");
    compared
}

/// Compares all positions from the start. Returns the least number of moves of the exchange and
/// the number of physical positions.
fn from_the_start(levels: u8) -> (u32, usize, Compared) {
    let puzzle = Puzzle { levels };
    let board = Board::new(puzzle);
    let physical = board.search(board.sunk(&puzzle.start()));
    let model = puzzle.distances(puzzle.start());
    let goal = board.sunk(&puzzle.goal());
    let exchange = physical.iter().find(|(cells, _)| *cells == goal).unwrap().1;
    let projected =
        physical.iter().map(|&(cells, distance)| (project(puzzle, &board, cells), distance));
    let compared = compare(projected, &model);
    (exchange, physical.len(), compared)
}

/// The physical positions as a graph with numbered nodes.
struct Graph {
    positions: Vec<Cells>,
    /// Where the targets of each node begin; one more entry than nodes.
    first: Vec<usize>,
    targets: Vec<u32>,
}

impl Graph {
    fn new(board: &Board, start: Cells) -> Self {
        let positions: Vec<Cells> = board.search(start).into_iter().map(|found| found.0).collect();
        let numbers: FxHashMap<Cells, u32> = positions.iter().copied().zip(0..).collect();
        let (mut first, mut targets, mut after) = (vec![0], Vec::new(), Vec::new());
        for &cells in &positions {
            board.moves(cells, &mut after);
            targets.extend(after.drain(..).map(|to| numbers[&to]));
            first.push(targets.len());
        }
        Self { positions, first, targets }
    }

    /// Distances of all nodes.
    fn distances(&self, start: usize) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.positions.len()];
        distances[start] = 0;
        let mut queue = vec![start];
        let mut next = 0;
        while next < queue.len() {
            let node = queue[next];
            for &to in &self.targets[self.first[node]..self.first[node + 1]] {
                let to = to as usize;
                if distances[to] == u32::MAX {
                    distances[to] = distances[node] + 1;
                    queue.push(to);
                }
            }
            next += 1;
        }
        distances
    }
}

/// Compares the distances from every `stride`-th sunk position without centre-top to all.
fn from_all_positions(levels: u8, stride: usize) -> Compared {
    let puzzle = Puzzle { levels };
    let board = Board::new(puzzle);
    let graph = Graph::new(&board, board.sunk(&puzzle.start()));
    let projected: Vec<Option<(Position, bool)>> =
        graph.positions.iter().map(|&cells| project(puzzle, &board, cells)).collect();
    let sources = projected.iter().enumerate().filter_map(|(node, &projected)| match projected {
        Some((position, true)) => Some((node, position)),
        _ => None,
    });
    let mut sum = Compared::default();
    for (node, position) in sources.step_by(stride) {
        let physical = projected.iter().copied().zip(graph.distances(node));
        let Compared { sunk, raised } = compare(physical, &puzzle.distances(position));
        sum.sunk += sunk;
        sum.raised += raised;
    }
    sum
}

#[test]
fn raised_tiles_and_centre_top_do_not_shorten_the_exchange() {
    assert_eq!(from_the_start(2), (13, 1_260, Compared { sunk: 156, raised: 908 }));
    assert_eq!(from_the_start(3), (42, 66_248, Compared { sunk: 3_048, raised: 48_264 }));
}

#[test]
fn raised_tiles_and_centre_top_do_not_shorten_the_exchange_of_level_4() {
    assert_eq!(from_the_start(4), (128, 3_850_304, Compared { sunk: 58_608, raised: 2_769_600 }));
}

#[test]
fn distances_between_sunk_positions_agree() {
    assert_eq!(from_all_positions(2, 1), Compared { sunk: 24_336, raised: 141_648 });
    assert_eq!(from_all_positions(3, 97), Compared { sunk: 97_536, raised: 1_544_448 });
}

#[test]
#[ignore = "takes 8 s in release"]
fn distances_between_all_sunk_positions_of_level_3_agree() {
    assert_eq!(from_all_positions(3, 1), Compared { sunk: 9_290_304, raised: 147_108_672 });
}

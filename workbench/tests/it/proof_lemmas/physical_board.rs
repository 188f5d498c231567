//! The physical puzzle: tiles in cells, free to stop in any layer that they can reach.

use rustc_hash::FxHashSet;

use crate::proof_lemmas::model::{CENTRE, Column, Position, Puzzle, Tile, level};

/// The cell of each tile, four bits for each: `column * (levels + 1) + layer`.
pub(crate) type Cells = u32;

/// Columns and track of a puzzle with at most four levels, the cells numbered.
pub(crate) struct Board {
    puzzle: Puzzle,
    /// By cell: the mask of the cells next to it.
    next_to: Vec<u32>,
    /// By tile: the mask of the cells in layers 0 to its level.
    allowed: Vec<u32>,
}

impl Board {
    pub(crate) fn new(puzzle: Puzzle) -> Self {
        let layers = usize::from(puzzle.levels) + 1;
        let cell = |column: usize, layer: usize| 1 << (column * layers + layer);
        let mut next_to = vec![0; 3 * layers];
        for column in 0..3 {
            for layer in 0..layers {
                let mut mask = 0;
                if layer > 0 {
                    mask |= cell(column, layer - 1);
                }
                if layer + 1 < layers {
                    mask |= cell(column, layer + 1);
                }
                if layer == 0 {
                    // The track joins the tops of neighbouring columns.
                    mask |=
                        if column == CENTRE { cell(0, 0) | cell(2, 0) } else { cell(CENTRE, 0) };
                }
                next_to[column * layers + layer] = mask;
            }
        }
        let allowed = (0..2 * puzzle.levels).map(|index| {
            let deepest = usize::from(level(tile(index)));
            (0..3).flat_map(|c| (0..=deepest).map(move |l| cell(c, l))).sum()
        });
        Self { puzzle, next_to, allowed: allowed.collect() }
    }

    fn layers(&self) -> usize {
        usize::from(self.puzzle.levels) + 1
    }

    /// All tiles as deep as they can be.
    pub(crate) fn sunk(&self, position: &Position) -> Cells {
        let mut cells = 0;
        for (c, column) in position.iter().enumerate() {
            let rows = self.puzzle.rows(*column).unwrap();
            for (tile, row) in column.tiles().zip(rows) {
                let cell = c * self.layers() + usize::from(row);
                cells |= (cell as Cells) << (4 * (tile - 2));
            }
        }
        cells
    }

    /// The order of the tiles in the columns.
    pub(crate) fn sequences(&self, cells: Cells) -> Position {
        let mut at: Vec<Option<Tile>> = vec![None; 3 * self.layers()];
        for index in 0..2 * self.puzzle.levels {
            at[cell(cells, index)] = Some(tile(index));
        }
        let mut columns = at.chunks(self.layers());
        std::array::from_fn(|_| columns.next().unwrap().iter().rev().flatten().copied().collect())
    }

    /// Appends all positions after one move: one tile along free cells, as far as one likes.
    pub(crate) fn moves(&self, cells: Cells, after: &mut Vec<Cells>) {
        let tiles = 0..2 * self.puzzle.levels;
        let occupied: u32 = tiles.clone().map(|index| 1 << cell(cells, index)).sum();
        for index in tiles {
            let own: u32 = 1 << cell(cells, index);
            let free = self.allowed[usize::from(index)] & !occupied;
            let (mut reached, mut edge) = (0_u32, own);
            while edge != 0 {
                let around = self.next_to[edge.trailing_zeros() as usize] & free & !reached;
                reached |= around;
                edge = (edge & (edge - 1)) | around;
            }
            let others = cells & !(15 << (4 * index));
            while reached != 0 {
                after.push(others | reached.trailing_zeros() << (4 * index));
                reached &= reached - 1;
            }
        }
    }

    /// Every reachable position with its distance, in order of distance.
    pub(crate) fn search(&self, start: Cells) -> Vec<(Cells, u32)> {
        let mut found = vec![(start, 0)];
        let mut seen = FxHashSet::from_iter([start]);
        let (mut next, mut after) = (0, Vec::new());
        while next < found.len() {
            let (cells, distance) = found[next];
            self.moves(cells, &mut after);
            for to in after.drain(..) {
                if seen.insert(to) {
                    found.push((to, distance + 1));
                }
            }
            next += 1;
        }
        found
    }
}

fn tile(index: u8) -> Tile {
    index + 2
}

fn cell(cells: Cells, index: u8) -> usize {
    (cells >> (4 * index) & 15) as usize
}

#[test]
fn a_tile_may_stop_anywhere_on_its_way() {
    let board = Board::new(Puzzle { levels: 1 });
    let start = board.sunk(&board.puzzle.start());
    let mut after = Vec::new();
    board.moves(start, &mut after);
    // The tile of either side: its own layer 0, both layers of C, layer 0 of the other side.
    assert_eq!(after.len(), 2 * 4);
    let raised: Vec<Position> = after.iter().map(|&cells| board.sequences(cells)).collect();
    let centre: Column = [2].into_iter().collect();
    assert_eq!(raised.iter().filter(|position| position[CENTRE] == centre).count(), 2);
}

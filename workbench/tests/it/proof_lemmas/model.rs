//! The sequence model: three columns of tiles, without positions that have a tile on centre-top.

use rustc_hash::{FxHashMap, FxHashSet};

/// `2 * level + colour`, at most 15; colour 0 starts on L.
pub(crate) type Tile = u8;

pub(crate) const CENTRE: usize = 1;

pub(crate) fn level(tile: Tile) -> u8 {
    tile / 2
}

/// At most eight tiles, four bits each; the topmost tile in the lowest bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Column(u32);

impl Column {
    pub(crate) fn push(self, tile: Tile) -> Self {
        Self(self.0 << 4 | u32::from(tile))
    }

    pub(crate) fn pop(self) -> Option<(Tile, Self)> {
        (self.0 != 0).then_some(((self.0 & 15) as Tile, Self(self.0 >> 4)))
    }

    /// The tiles, bottom first.
    pub(crate) fn tiles(self) -> impl DoubleEndedIterator<Item = Tile> {
        let count = (32 - self.0.leading_zeros()).div_ceil(4);
        (0..count).rev().map(move |i| (self.0 >> (4 * i) & 15) as Tile)
    }
}

impl FromIterator<Tile> for Column {
    fn from_iter<I: IntoIterator<Item = Tile>>(tiles: I) -> Self {
        tiles.into_iter().fold(Self::default(), Self::push)
    }
}

pub(crate) type Position = [Column; 3];

/// The puzzle with this many levels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Puzzle {
    pub(crate) levels: u8,
}

impl Puzzle {
    pub(crate) fn start(self) -> Position {
        let tower = |colour| (1..=self.levels).rev().map(|l| 2 * l + colour).collect();
        [tower(0), Column::default(), tower(1)]
    }

    pub(crate) fn goal(self) -> Position {
        let [left, centre, right] = self.start();
        [right, centre, left]
    }

    /// Rows of tiles that lie on the ground, bottom first; `None` if one would be above the track.
    pub(crate) fn rows(self, column: Column) -> Option<Vec<u8>> {
        let mut support = self.levels + 1;
        column
            .tiles()
            .map(|tile| {
                support = level(tile).min(support.checked_sub(1)?);
                Some(support)
            })
            .collect()
    }

    /// Row of the topmost tile of a legal column, or of the ground.
    pub(crate) fn top_row(self, column: Column) -> u8 {
        column.tiles().fold(self.levels + 1, |row, tile| level(tile).min(row - 1))
    }

    /// Whether the column has room for another tile, of whatever level.
    pub(crate) fn has_room(self, index: usize, column: Column) -> bool {
        self.top_row(column) > u8::from(index == CENTRE)
    }

    /// Legal, and no tile on centre-top.
    pub(crate) fn is_legal(self, position: &Position) -> bool {
        (0..3).all(|c| match self.rows(position[c]) {
            None => false,
            Some(rows) => c != CENTRE || rows.last() != Some(&0),
        })
    }

    /// Calls `visit` with every move: its tile and the position after it.
    pub(crate) fn moves(self, position: &Position, mut visit: impl FnMut(Tile, Position)) {
        let room: [bool; 3] = std::array::from_fn(|c| self.has_room(c, position[c]));
        for from in 0..3 {
            let Some((tile, rest)) = position[from].pop() else { continue };
            for to in (0..3).filter(|&to| to != from && room[to]) {
                let mut after = *position;
                after[from] = rest;
                after[to] = after[to].push(tile);
                visit(tile, after);
            }
        }
    }

    /// Breadth-first search. Calls `visit` with every reachable position and its distance, in
    /// order of distance. Keeps two layers.
    pub(crate) fn search(self, start: Position, mut visit: impl FnMut(&Position, u32)) {
        let (mut before, mut layer) = (FxHashSet::default(), FxHashSet::from_iter([start]));
        let mut distance = 0;
        while !layer.is_empty() {
            let mut next = FxHashSet::default();
            for position in &layer {
                visit(position, distance);
                self.moves(position, |_, after| {
                    if !before.contains(&after) && !layer.contains(&after) {
                        next.insert(after);
                    }
                });
            }
            before = std::mem::replace(&mut layer, next);
            distance += 1;
        }
    }

    /// Distances of all reachable positions.
    pub(crate) fn distances(self, start: Position) -> FxHashMap<Position, u32> {
        let mut found = FxHashMap::default();
        self.search(start, |position, distance| {
            found.insert(*position, distance);
        });
        found
    }
}

#[test]
fn rows_are_the_deepest_that_a_column_allows() {
    let puzzle = Puzzle { levels: 3 };
    let rows = |tiles: &[Tile]| puzzle.rows(tiles.iter().copied().collect());
    assert_eq!(rows(&[6, 4, 2]), Some(vec![3, 2, 1]));
    assert_eq!(rows(&[2, 6]), Some(vec![1, 0]));
    assert_eq!(rows(&[6, 7, 5, 4]), Some(vec![3, 2, 1, 0]));
    assert_eq!(rows(&[2, 6, 4]), None);
}

//! Abstract puzzles: columns, signatures, and all segments of a small level by search.

use std::collections::{BTreeMap, HashSet, VecDeque};

use crate::report::{Result, ensure};

/// Largest `e` and largest `g` of a signature. Larger values have the same tables (Lemma P3).
pub const CAPS: [i64; 2] = [5, 6];
/// Length of an end that no segment reaches.
pub const UNREACHED: i64 = i64::MAX;
/// The column without a tower, by shape.
pub(crate) const FREE: [usize; 5] = [1, 0, 0, 2, 2];
/// Towers of level 2, by shape, with colours that make the order vector 0.
pub(crate) const TOWERS: [[&str; 3]; 5] =
    [["42", "", "53"], ["", "42", "53"], ["", "4", "532"], ["42", "53", ""], ["423", "5", ""]];

/// Tiles of the columns left, centre and right, bottom first: the letters A, B, C and X, and small
/// tiles. These are characters `'0' + 2 * level + colour`.
pub type Columns = [String; 3];
/// A shape and the tiles below its towers: the end of a segment (a row), or a node of a graph.
pub type Place = (usize, Columns);

/// The slot tiles A, B and C that a segment of level N can move, and what lies below them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// Shape of the small tiles, from 0 to 4.
    pub shape: usize,
    /// Level - N of A, B and C. 0: there is no such tile.
    pub e: [i64; 3],
    /// Row - N of the support below the slot tiles, by column.
    pub g: [i64; 3],
}

impl Signature {
    /// Whether no tile can be hidden in the support of a column.
    pub(crate) fn is_grounded(self, column: usize) -> bool {
        let [a, _, c] = self.e;
        if column == 1 { c == 0 } else { column == FREE[self.shape] && a == 0 }
    }

    /// Where a segment starts: A, B and C below towers.
    pub(crate) fn start(self, towers: [&str; 3]) -> Columns {
        let mut columns = Columns::default();
        for (slot, column, tile) in [(0, FREE[self.shape], 'A'), (2, 1, 'C'), (1, 1, 'B')] {
            columns[column].extend((self.e[slot] > 0).then_some(tile));
        }
        [0, 1, 2].map(|column| columns[column].clone() + towers[column])
    }

    /// Level of a tile at N = `level`. X and Y are the tiles of this level.
    pub(crate) fn tile_level(self, level: i64, tile: char) -> i64 {
        match tile {
            'A'..='C' => level + self.e[tile as usize - 'A' as usize],
            'X' | 'Y' => level,
            _ => small_level(tile as u8),
        }
    }

    /// Row of the top tile of a column at N = `level`; that of the support if there is no tile.
    pub(crate) fn row(self, level: i64, column: usize, tiles: &str) -> i64 {
        let support = level + self.g[column];
        tiles.chars().fold(support, |row, tile| (row - 1).min(self.tile_level(level, tile)))
    }
}

/// Finds all segments of a level below 6 from the start of a signature, with the towers of the
/// level: the least number of moves by end and order vector. Bit l-1 of an order vector tells
/// whether the colours of level l change places.
pub fn search(signature: Signature, towers: [[&str; 3]; 5]) -> Result<BTreeMap<Place, Vec<i64>>> {
    let level = towers[0][0].len() as i64;
    // The end of a segment, if a position is useful.
    let useful_end = |position: &Columns| {
        let lower = position.each_ref().map(|tiles| tiles.trim_end_matches(|tile| tile < 'A'));
        let has_tower = |column: usize, tower: &str| {
            let tiles = position[column][lower[column].len()..].bytes();
            tiles.map(small_level).eq(tower.bytes().map(small_level))
        };
        let shape = towers.iter().position(|towers| (0..3).all(|c| has_tower(c, towers[c])))?;
        let is_low = (0..3).all(|column| signature.row(level, column, lower[column]) > level);
        is_low.then(|| (shape, lower.map(str::to_owned)))
    };
    let at = format_args!("{signature:?}");
    let start = signature.start(towers[signature.shape]);
    ensure(useful_end(&start).is_some(), "a signature has a useful position", at)?;
    let mut found = HashSet::from([start.clone()]);
    let (mut lengths, mut queue) = (BTreeMap::new(), VecDeque::from([(start, 0)]));
    while let Some((position, length)) = queue.pop_front() {
        if let Some(end) = useful_end(&position) {
            let lengths = lengths.entry(end).or_insert_with(|| vec![UNREACHED; 1 << level]);
            let least = &mut lengths[order(&position, level)];
            *least = length.min(*least);
            if length > 0 {
                continue;
            }
        }
        for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            // Levels are at least 1, so a column has room for every tile or for none.
            if signature.row(level, to, &position[to]) <= i64::from(to == 1) {
                continue;
            }
            let mut next = position.clone();
            if let Some(tile) = next[from].pop() {
                next[to].push(tile);
                if found.insert(next.clone()) {
                    queue.push_back((next, length + 1));
                }
            } else {
                ensure(signature.is_grounded(from), "only A, B, C move at level 2", at)?;
            }
        }
    }
    Ok(lengths)
}

/// The colour of the first tile of each level: left and centre bottom up, then right top down.
fn order([left, centre, right]: &Columns, level: i64) -> usize {
    let tiles = || left.bytes().chain(centre.bytes()).chain(right.bytes().rev());
    let first = |level| tiles().find(|&tile| small_level(tile) == level).unwrap_or_default();
    (1..=level).map(|level| usize::from(first(level) % 2) << (level - 1)).sum()
}

/// Level of a small tile. For a letter it is a greater number than any level.
fn small_level(tile: u8) -> i64 {
    i64::from(tile - b'0') / 2
}

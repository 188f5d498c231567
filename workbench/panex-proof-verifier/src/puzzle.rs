//! Abstract puzzles: columns, signatures, and all segments of a small level by search.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt;

use crate::failure::{Result, ensure, fails};

/// Largest `e` and largest `g` of a signature. Larger values have the same tables (Lemma P3).
pub const CAPS: [i32; 2] = [5, 6];
/// Length of what no segment reaches.
pub const UNREACHED: i64 = i64::MAX;
/// The column without a tower, by shape.
pub(crate) const FREE: [usize; 5] = [1, 0, 0, 2, 2];

/// Tiles of the columns left, centre and right, bottom first. A, B, C and X are letters; a small
/// tile is the character `2 * level + colour`.
pub type Columns = [String; 3];

/// A shape and the tiles below its towers: the end of a segment (a row), or a node of a graph.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place(pub usize, pub Columns);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Small tiles, which occur at level 2 only, are shown as their levels.
        let letter = |tile| if is_small(&tile) { (b'0' + tile as u8 / 2).into() } else { tile };
        let word = |tiles: &String| tiles.chars().map(letter).collect::<String>();
        let words = self.1.each_ref().map(word).map(|w| if w.is_empty() { "-".into() } else { w });
        write!(f, "{} {}", self.0, words.join(" "))
    }
}

/// The slot tiles A, B and C that a segment of level N can move, and what lies below them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// Shape of the small tiles, from 0 to 4.
    pub shape: usize,
    /// Level - N of A, B and C. 0: there is no such tile.
    pub e: [i32; 3],
    /// Row - N of the support below the slot tiles, by column.
    pub g: [i32; 3],
}

impl Signature {
    /// Whether no tile can be hidden in the support of a column.
    pub(crate) fn is_grounded(self, column: usize) -> bool {
        let [a, _, c] = self.e;
        if column == 1 { c == 0 } else { column == FREE[self.shape] && a == 0 }
    }

    /// A, B and C where a segment starts.
    pub(crate) fn slots(self) -> Columns {
        let mut columns = Columns::default();
        for (slot, column, tile) in [(0, FREE[self.shape], 'A'), (2, 1, 'C'), (1, 1, 'B')] {
            columns[column].extend((self.e[slot] > 0).then_some(tile));
        }
        columns
    }

    /// Level of a tile at N = `level`. X and Y are the tiles of this level.
    pub(crate) fn tile_level(self, level: i32, tile: char) -> i32 {
        match "ABC".find(tile) {
            Some(slot) => level + self.e[slot],
            None if matches!(tile, 'X' | 'Y') => level,
            None => tile as i32 / 2,
        }
    }

    /// Row of the top tile of a column at N = `level`; that of the support if there is no tile.
    pub(crate) fn row(self, level: i32, column: usize, tiles: &str) -> i32 {
        let support = level + self.g[column];
        tiles.chars().fold(support, |row, tile| (row - 1).min(self.tile_level(level, tile)))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([a, b, c], [left, centre, right]) = (self.e, self.g);
        write!(f, "sig {} {a} {b} {c} {left} {centre} {right}", self.shape)
    }
}

/// Finds all segments of a level from 1 to 5 from the start of a signature: the least number of
/// moves by end and order vector, whose bit l-1 says that the colours of level l change places.
pub fn search(signature: Signature, level: u8) -> Result<BTreeMap<Place, Vec<i64>>> {
    let shapes = [0, 1, 2, 3, 4].map(|shape| towers(shape, level));
    let row = |column: usize, tiles: &str| signature.row(level.into(), column, tiles);
    // The end of a segment, if a position is useful: its small tiles have one of the five shapes
    // and lie above all others, and the others have rows above the level.
    let useful_end = |position: &Columns| {
        let parts = position.each_ref().map(|tiles| {
            tiles.split_at(tiles.find(|tile: char| is_small(&tile)).unwrap_or(tiles.len()))
        });
        let shape =
            (0..5).find(|&s| (0..3).all(|c| levels(parts[c].1).eq(levels(&shapes[s][c]))))?;
        let is_low = (0..3).all(|column| row(column, parts[column].0) > level.into());
        is_low.then(|| Place(shape, parts.map(|(lower, _)| lower.to_owned())))
    };
    let mut start = signature.slots();
    (0..3).for_each(|column| start[column] += &shapes[signature.shape][column]);
    ensure(useful_end(&start).is_some(), "a signature has a useful position", signature)?;
    let mut found = HashSet::from([start.clone()]);
    let (mut lengths, mut queue) = (BTreeMap::new(), VecDeque::from([(start, 0)]));
    while let Some((position, length)) = queue.pop_front() {
        if let Some(end) = useful_end(&position) {
            let lengths = lengths.entry(end).or_insert_with(|| vec![UNREACHED; 1 << level]);
            let least = &mut lengths[order(&position)];
            *least = length.min(*least);
            if length > 0 {
                continue;
            }
        }
        for (from, to) in (0..9).map(|pair| (pair / 3, pair % 3)).filter(|(from, to)| from != to) {
            // A column has room for any tile or for none, since levels are at least 1.
            if row(to, &position[to]) <= i32::from(to == 1) {
                continue;
            }
            let mut next = position.clone();
            let tile = next[from].pop();
            if tile.is_none() && !signature.is_grounded(from) {
                let place = format!("{signature}, position {}", Place(signature.shape, position));
                return Err(fails("only A, B, C move at level 2", place));
            }
            next[to].extend(tile);
            if tile.is_some() && found.insert(next.clone()) {
                queue.push_back((next, length + 1));
            }
        }
    }
    Ok(lengths)
}

/// Small tiles of a shape. The colours make the order vector 0.
fn towers(shape: usize, level: u8) -> Columns {
    let mut columns = Columns::default();
    for (colour, column) in (0..).zip((0..3).filter(|&column| column != FREE[shape])) {
        columns[column] = (1..=level).rev().map(|level| char::from(2 * level + colour)).collect();
    }
    // In shapes 2 and 4 the top tile of the centre has moved onto the other tower.
    let moved = if shape == 2 || shape == 4 { columns[1].pop() } else { None };
    columns[2 - FREE[shape]].extend(moved);
    columns
}

/// The levels whose colour 1 comes first: left and centre bottom up, then right top down.
fn order([left, centre, right]: &Columns) -> usize {
    let (mut order, mut seen) = (0, 0);
    let tiles = left.chars().chain(centre.chars()).chain(right.chars().rev());
    for tile in tiles.filter(is_small) {
        let bit = 1 << (tile as u8 / 2 - 1);
        order |= if seen & bit == 0 && tile as u8 % 2 == 1 { bit } else { 0 };
        seen |= bit;
    }
    order
}

fn is_small(tile: &char) -> bool {
    !tile.is_ascii_uppercase()
}

fn levels(small: &str) -> impl Iterator<Item = u8> {
    small.bytes().map(|tile| tile / 2)
}

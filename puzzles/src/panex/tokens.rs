//! Local parts unpacked: the small tiles of each column among markers for the large ones.

use super::tile::{CENTRE, COLUMNS, Symmetry, Tile};

/// Bits of one token.
const BITS: u32 = 4;
const MASK: u64 = (1 << BITS) - 1;

/// The token of any large tile. A small tile is its own token, and 0 means the end of the column.
const MARKER: u64 = 1;

/// Bits of a column that is part of a [`pack`]ed triple.
const PACKED: u32 = 20;

/// Bits of a column in a [`Tokens::word`].
const WORD_BITS: u32 = 37;

/// Maximum number of tokens of a column.
const WORD_TOKENS: usize = 16;

/// One column's tokens, the top one in the lowest bits.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Column(u64);

impl Column {
    /// Whether there are no tokens.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Tokens from the top: tiles, and None for a marker.
    pub fn items(self) -> impl Iterator<Item = Option<Tile>> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let token = rest & MASK;
            rest >>= BITS;
            (token != 0).then(|| (token != MARKER).then_some(Tile(token as u8)))
        })
    }

    /// Number of tokens.
    pub fn len(self) -> u8 {
        ((u64::BITS - self.0.leading_zeros()).div_ceil(BITS)) as u8
    }

    /// The top token: a tile, or None for a marker; outer None if there is none.
    pub fn top(self) -> Option<Option<Tile>> {
        self.items().next()
    }

    /// The column with a tile (None: a marker) on top.
    #[must_use]
    pub fn with(self, tile: Option<Tile>) -> Column {
        Column(self.0 << BITS | tile.map_or(MARKER, |tile| u64::from(tile.0)))
    }

    /// The column with a tile (None: a marker) below all others.
    #[must_use]
    pub fn with_below(self, tile: Option<Tile>) -> Column {
        let token = tile.map_or(MARKER, |tile| u64::from(tile.0));
        Column(self.0 | token << (BITS * u32::from(self.len())))
    }

    /// The column without its top token.
    #[must_use]
    pub fn without_top(self) -> Column {
        Column(self.0 >> BITS)
    }

    /// The tokens above the topmost marker, and the rest: the tiles that can move, and those
    /// buried under large ones.
    pub fn split(self) -> (Column, Column) {
        let mut at = 0;
        while self.0 >> at & MASK > MARKER {
            at += BITS;
        }
        (Column(self.0 & ((1 << at) - 1)), Column(self.0 >> at))
    }

    /// The column without the markers below its lowest tile.
    fn cut(self) -> Column {
        let mut kept = self.0;
        let mut at = BITS * u32::from(self.len());
        while at > 0 && kept >> (at - BITS) == MARKER {
            at -= BITS;
            kept &= (1 << at) - 1;
        }
        Column(kept)
    }

    /// One column on top of another.
    #[must_use]
    pub fn above(self, other: Column) -> Column {
        Column(self.0 | other.0 << (BITS * u32::from(self.len())))
    }

    fn swapped(self) -> Column {
        let mut swapped = Column::default();
        for token in self.items() {
            swapped = swapped.with_below(token.map(Tile::swapped));
        }
        swapped
    }
}

/// Three columns of at most five tokens each in one word.
pub(super) fn pack(columns: [Column; 3]) -> u64 {
    columns.iter().rev().fold(0, |word, column| word << PACKED | column.0)
}

/// Undoes [`pack`].
pub(super) fn unpack(word: u64) -> [Column; 3] {
    COLUMNS.map(|column| Column(word >> (PACKED * column as u32) & ((1 << PACKED) - 1)))
}

/// The small tiles of a position among markers for the large ones, cut below the lowest small
/// tile of each column.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tokens {
    /// L, C and R.
    pub columns: [Column; 3],
}

impl Tokens {
    /// One level's two tiles among markers in one word: for each column five bits for its length, and
    /// above them two bits a token, top first.
    pub(super) fn word(&self) -> u128 {
        let column = |column: &Column| {
            let tokens =
                column.items().map(|tile| tile.map_or(0, |tile| 1 + u128::from(tile.colour())));
            tokens
                .zip(0..)
                .fold(u128::from(column.len()), |word, (token, at)| word | token << (5 + 2 * at))
        };
        self.columns.iter().rev().fold(0, |word, next| word << WORD_BITS | column(next))
    }

    /// Undoes [`Self::word`]; None if it is not a word of one level's two tiles.
    pub(super) fn of_word(word: u128) -> Option<Tokens> {
        let tokens = Tokens {
            columns: COLUMNS.map(|column| {
                let word = word >> (WORD_BITS * column as u32);
                let tiles = (0..word & 31).take(WORD_TOKENS).map(|at| word >> (5 + 2 * at) & 3);
                tiles.fold(Column::default(), |column, tile| {
                    column.with_below((tile > 0).then(|| Tile::new(1, u8::from(tile > 1))))
                })
            }),
        };
        let tiles = tokens.columns.iter().flat_map(|column| column.items().flatten());
        let mut tiles: Vec<Tile> = tiles.collect();
        tiles.sort_unstable();
        (tiles == [Tile::new(1, 0), Tile::new(1, 1)] && tokens.word() == word).then_some(tokens)
    }

    /// The image under a symmetry.
    #[must_use]
    pub fn image(&self, symmetry: Symmetry) -> Tokens {
        let columns = COLUMNS.map(|column| {
            let column = self.columns[symmetry.column(column)];
            if symmetry.swaps_colours() { column.swapped() } else { column }
        });
        Tokens { columns }
    }

    /// The local part after a small tile moves from the top of one column to the top of another;
    /// None if there is no small tile on top.
    #[must_use]
    pub fn move_tile(&self, from: usize, to: usize) -> Option<Tokens> {
        let tile = self.columns[from].top()??;
        let mut moved = *self;
        moved.columns[from] = moved.columns[from].without_top().cut();
        moved.columns[to] = moved.columns[to].with(Some(tile));
        Some(moved)
    }

    /// The local part after a large tile moves from the top of one column to the top of another.
    #[must_use]
    pub fn move_marker(&self, from: usize, to: usize) -> Tokens {
        let mut moved = *self;
        // A column without small tiles has no tokens: its markers are cut.
        moved.columns[from] = moved.columns[from].without_top();
        if !moved.columns[to].is_empty() {
            moved.columns[to] = moved.columns[to].with(None);
        }
        moved
    }
}

/// Whether a tile may stand on the centre column's layer 0, where it blocks the top track.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum CentreTop {
    /// Such positions are never useful and are left out.
    Forbid,
    /// They are states like others. While the tile is there, no tile can move between L and R.
    Allow,
}

impl CentreTop {
    /// Maximum number of tiles above a tile of this level in this column.
    pub fn limit(self, level: u8, column: usize) -> u8 {
        level - u8::from(self == CentreTop::Forbid && column == CENTRE)
    }
}

/// The places of the two tiles of one level, blue and orange: the column, and the number of tiles of that
/// level or larger above.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    places: [(u8, u8); 2],
}

impl Config {
    /// The configuration of a level among columns of tiles; None stands for a larger tile.
    pub fn find<I>(level: u8, columns: [I; 3]) -> Config
    where
        I: Iterator<Item = Option<Tile>>,
    {
        let mut config = Config::default();
        for (column, items) in columns.into_iter().enumerate() {
            let mut depth = 0;
            for tile in items {
                if let Some(tile) = tile.filter(|tile| tile.level() <= level) {
                    if tile.level() < level {
                        continue;
                    }
                    config.places[usize::from(tile.colour())] = (column as u8, depth);
                }
                depth += 1;
            }
        }
        config
    }

    /// The image under a symmetry.
    #[must_use]
    pub fn image(self, symmetry: Symmetry) -> Config {
        let [blue, orange] =
            self.places.map(|(column, depth)| (symmetry.column(column.into()) as u8, depth));
        Config { places: if symmetry.swaps_colours() { [orange, blue] } else { [blue, orange] } }
    }

    /// Level and places in one word, for weights.
    pub fn word(self, level: u8) -> u64 {
        let [(a, b), (c, d)] = self.places;
        u64::from_le_bytes([level, a, b, c, d, 0, 0, 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_stacks() {
        let tile = Tile::new(3, 1);
        let column = Column::default().with(Some(tile)).with(None).with(Some(Tile::new(1, 0)));
        assert_eq!(column.len(), 3);
        assert_eq!(column.top(), Some(Some(Tile::new(1, 0))));
        let items: Vec<_> = column.items().collect();
        assert_eq!(items, [Some(Tile::new(1, 0)), None, Some(tile)]);
        let (free, buried) = column.split();
        assert_eq!(free.items().collect::<Vec<_>>(), [Some(Tile::new(1, 0))]);
        assert_eq!(buried.items().collect::<Vec<_>>(), [None, Some(tile)]);
        assert_eq!(free.above(buried), column);
        assert_eq!(column.swapped().swapped(), column);
        assert_eq!(unpack(pack([column, free, buried])), [column, free, buried]);
    }
}

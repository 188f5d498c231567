//! Numbering of local parts.
//!
//! A number means the same in every region, process and file: the places of the small tiles among
//! the large ones, independent of which large tiles these are. Numbers ascend with the number of
//! large tiles above each small one, summed over the small tiles. Deeply buried tiles are rare, so
//! this order leaves small gaps between the numbers in use, which keeps files small. For each
//! arrangement of buried tiles, those of its free tiles follow in the order of [`super::free`].

use rustc_hash::FxHashMap;

use super::free::{Free, TileSet};
use super::tile::COLUMNS;
use super::tokens::{CentreTop, Column, Tokens, pack};

/// All local parts that are legal in some region, by number and back.
#[derive(Debug)]
pub(super) struct Numbering {
    tokens: Box<[Tokens]>,
    find: FxHashMap<Tokens, u32>,
}

impl Numbering {
    /// Numbers the arrangements of the tiles of levels up to k.
    pub(super) fn new(k: u8, centre_top: CentreTop) -> Numbering {
        let mut enumerator = BuriedEnumerator { k, centre_top, found: Vec::new() };
        enumerator.column(0, BuriedTiles { left: TileSet::all(k), ..BuriedTiles::default() });
        let mut found = enumerator.found;
        found.sort_unstable_by_key(|buried| (buried.depth, pack(buried.columns)));
        let mut orders: FxHashMap<Free, Vec<[Column; 3]>> = FxHashMap::default();
        let mut tokens = Vec::new();
        for BuriedTiles { left: tiles, columns, .. } in found {
            let room = COLUMNS.map(|column| room(columns[column], column, k, centre_top));
            let free = Free { tiles, room, centre_top };
            for order in orders.entry(free).or_insert_with(|| free.ordered()) {
                let columns = COLUMNS.map(|column| order[column].above(columns[column]));
                tokens.push(Tokens { columns });
            }
        }
        let find = tokens.iter().copied().zip(0..).collect();
        Numbering { tokens: tokens.into_boxed_slice(), find }
    }

    /// Number of local parts.
    pub(super) fn len(&self) -> u32 {
        self.tokens.len() as u32
    }

    /// Bytes of memory used.
    pub(super) fn bytes(&self) -> usize {
        self.tokens.len() * (size_of::<Tokens>() + 2 * size_of::<(Tokens, u32)>())
    }

    /// The local part of a number.
    pub(super) fn tokens(&self, index: u32) -> &Tokens {
        &self.tokens[index as usize]
    }

    /// The number of a local part, if it is legal in some region.
    pub(super) fn index(&self, tokens: &Tokens) -> Option<u32> {
        self.find.get(tokens).copied()
    }
}

/// How many tiles fit on top of a column's buried part.
fn room(buried: Column, column: usize, k: u8, centre_top: CentreTop) -> u8 {
    let tiles = (0..).zip(buried.items()).filter_map(|(above, tile)| Some((above, tile?)));
    let rooms = tiles.map(|(above, tile): (u8, _)| centre_top.limit(tile.level(), column) - above);
    rooms.min().unwrap_or(k + 1)
}

/// An arrangement of buried tiles (small tiles under large ones), and the free tiles.
#[derive(Copy, Clone, Default)]
struct BuriedTiles {
    columns: [Column; 3],
    left: TileSet,
    /// Large tiles above, summed over the tiles.
    depth: u16,
}

/// Lists all arrangements of buried tiles, column by column.
struct BuriedEnumerator {
    k: u8,
    centre_top: CentreTop,
    found: Vec<BuriedTiles>,
}

impl BuriedEnumerator {
    fn column(&mut self, column: usize, buried: BuriedTiles) {
        if column == 3 {
            self.found.push(buried);
            return;
        }
        self.column(column + 1, buried);
        self.extend(column, buried, 0);
    }

    /// Extends a column downwards by a large tile and by each small tile that fits, recursively. A
    /// column can end after any small tile.
    fn extend(&mut self, column: usize, buried: BuriedTiles, large: u8) {
        let above = buried.columns[column].len();
        if above > self.k {
            return;
        }
        let mut longer = buried;
        longer.columns[column] = buried.columns[column].with_below(None);
        self.extend(column, longer, large + 1);
        if large == 0 {
            return;
        }
        let limit = |level| self.centre_top.limit(level, column);
        let fitting: Vec<_> = buried.left.tiles().filter(|t| limit(t.level()) >= above).collect();
        for tile in fitting {
            let mut longer = buried;
            longer.columns[column] = buried.columns[column].with_below(Some(tile));
            longer.left = buried.left.without(tile);
            longer.depth += u16::from(large);
            self.column(column + 1, longer);
            self.extend(column, longer, large);
        }
    }
}

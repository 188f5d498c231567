//! The numbers of local parts.
//!
//! A number means the same in every region, process and file: it says where the small tiles are
//! among the large ones, whichever these are. First come arrangements with few tiles under few
//! large ones (others hardly occur, and small gaps between numbers in use make small files);
//! the free tiles of each follow in the order of [`super::free`].

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
        let mut burials = Burials { k, centre_top, found: Vec::new() };
        burials.column(0, Burial { left: TileSet::all(k), ..Burial::default() });
        let mut found = burials.found;
        found.sort_unstable_by_key(|burial| (burial.depth, pack(burial.columns)));
        let mut orders: FxHashMap<Free, Vec<[Column; 3]>> = FxHashMap::default();
        let mut tokens = Vec::new();
        for Burial { left: tiles, columns, .. } in found {
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

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.tokens.len() as u32
    }

    /// Bytes of memory.
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

/// Some tiles under large ones, and those that are left.
#[derive(Copy, Clone, Default)]
struct Burial {
    columns: [Column; 3],
    left: TileSet,
    /// Large tiles above, summed over the tiles.
    depth: u16,
}

/// Lists all burials, column by column.
struct Burials {
    k: u8,
    centre_top: CentreTop,
    found: Vec<Burial>,
}

impl Burials {
    fn column(&mut self, column: usize, burial: Burial) {
        if column == 3 {
            self.found.push(burial);
            return;
        }
        self.column(column + 1, burial);
        self.extend(column, burial, 0);
    }

    /// Extends a column by a large tile, then by tiles; every tile may be the last.
    fn extend(&mut self, column: usize, burial: Burial, large: u8) {
        let above = burial.columns[column].len();
        if above > self.k {
            return;
        }
        let mut longer = burial;
        longer.columns[column] = burial.columns[column].with_below(None);
        self.extend(column, longer, large + 1);
        if large == 0 {
            return;
        }
        let limit = |level| self.centre_top.limit(level, column);
        let fitting: Vec<_> = burial.left.tiles().filter(|t| limit(t.level()) >= above).collect();
        for tile in fitting {
            let mut longer = burial;
            longer.columns[column] = burial.columns[column].with_below(Some(tile));
            longer.left = burial.left.without(tile);
            longer.depth += u16::from(large);
            self.column(column + 1, longer);
            self.extend(column, longer, large);
        }
    }
}

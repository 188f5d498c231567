//! Tables of local parts, valid for all regions: legal moves, successors, images and weights.
//!
//! Whether a column accepts another tile depends on the region only through one comparison per large
//! tile: the tile's slack (the *supply*) must be at least the number of small tiles above it plus one
//! (the *demand*). The supplies of all columns are packed into one word and the demands into another,
//! a field with a guard bit per large tile, so that one subtraction compares them all.

use rustc_hash::FxHashMap;

use super::numbering::Numbering;
use super::symmetries::Group;
use super::tile::{CENTRE, COLUMNS, MOVES, Symmetry};
use super::tokens::{CentreTop, Column, Config, Tokens};
use strata_space::{LegalMoves, Local, Weight};

/// Bits of a field in a packed word (one field per large tile), and fields of a column.
const FIELD_BITS: u32 = 4;
const FIELDS: u32 = 5;

/// Bits of one column: its fields, and a carry bit.
const COLUMN: u32 = FIELD_BITS * FIELDS + 1;

/// One bit of every column.
const UNITS: u64 = 1 | 1 << COLUMN | 1 << (2 * COLUMN);

/// The guard bit of every field: its top bit.
pub(super) const GUARD: u64 = 0x8_8888 * UNITS;

/// The carry bit of every column.
const CARRY: u64 = UNITS << (COLUMN - 1);

/// Added to the guard bits of a column, sets its carry bit if any guard bit is set.
const ROUND_UP: u64 = (1 << (COLUMN - 1)) - 8;

/// Supply of a tile that any number of small tiles can be put on.
pub(super) const UNLIMITED: u8 = 6;

/// Demand that exceeds any supply.
const IMPOSSIBLE: u8 = 7;

/// A packed word with a value below 8 in one field: that of a column's large tile at `field`,
/// counted from the top.
pub(super) fn pack(column: usize, field: usize, value: u8) -> u64 {
    u64::from(value) << (COLUMN * column as u32 + FIELD_BITS * field as u32)
}

/// The fields of a column.
pub(super) fn fields() -> std::ops::Range<usize> {
    0..FIELDS as usize
}

/// Class of a region: the restrictions on its local parts.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Class {
    /// The slack of each large tile, packed, with all guard bits set.
    pub(super) supply: u64,
    /// Moves from columns that have a large tile.
    pub(super) from_large: u8,
    /// Symmetries that fix the region, as a bit set.
    pub(super) stabiliser: u8,
}

impl Class {
    /// The symmetries that fix the region.
    pub fn stabiliser(&self) -> impl Iterator<Item = Symmetry> {
        let bits = self.stabiliser;
        Symmetry::ALL.into_iter().filter(move |s| bits >> s.number() & 1 == 1)
    }

    /// Whether a symmetry besides the identity fixes the region.
    pub fn is_symmetric(&self) -> bool {
        self.stabiliser != 1
    }
}

/// Mask of the moves that start in a column of which `from` is true.
pub(super) fn moves_from(from: [bool; 3]) -> u8 {
    let moves = MOVES.into_iter().enumerate().filter(|(_, (column, _))| from[*column]);
    moves.fold(0, |moves, (mv, _)| moves | 1 << mv)
}

/// Masks of the legal moves of a local part, for one set of full columns.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
struct Legality {
    /// Moves of a small tile.
    small: u8,
    /// Moves of a large tile.
    large: u8,
    /// Moves of a large tile if there is one in the column.
    perhaps: u8,
}

/// Inside successors in one row.
const ROW: usize = 4;

/// Marker in the last place of a row: the successors do not fit into the row.
const MORE: u32 = u32::MAX;

/// Inside successors by [`Tables::place`]; unused entries hold the index itself.
#[derive(Debug)]
enum Rows {
    Narrow(Box<[[u16; ROW]]>),
    Wide(Box<[[u32; ROW]]>),
}

/// Moves, successors and weights of all local parts.
#[derive(Debug)]
pub(super) struct Tables {
    rows: Rows,
    /// By [`Self::place`].
    legality: Box<[Legality]>,
    /// Bits of an index.
    stride: u32,
    /// By index: the supply that each large tile needs for its column to accept one more tile,
    /// packed.
    demands: Box<[u64]>,
    /// By move: the index after the move of a small tile.
    moved: [Box<[u32]>; MOVES.len()],
    /// By symmetry: the image of the local with side 0.
    images: [Box<[Local]>; 4],
    /// By move: the index after the move of a large tile.
    carried: [Box<[u32]>; MOVES.len()],
    /// By side.
    weights: [Box<[[Weight; 2]]>; 2],
}

impl Tables {
    pub(super) fn new(numbering: &Numbering, k: u8, centre_top: CentreTop, group: Group) -> Tables {
        let all = || (0..numbering.len()).map(|index| numbering.tokens(index));
        // A move to a local part that no region allows has no number; the entry then holds the
        // local part's own number.
        let renamed = |rename: &dyn Fn(&Tokens) -> Option<Tokens>| -> Box<[u32]> {
            let number = |tokens: Tokens| numbering.index(&tokens);
            all()
                .zip(0..)
                .map(|(tokens, own)| rename(tokens).and_then(number).unwrap_or(own))
                .collect()
        };
        let moved = MOVES.map(|(from, to)| renamed(&|tokens: &Tokens| tokens.move_tile(from, to)));
        let indices = numbering.len() as usize;
        let stride = indices.next_power_of_two().trailing_zeros();
        let by_place = |place: usize| {
            let (full, index) = (place >> stride, place & ((1 << stride) - 1));
            let entry = (index < indices).then(|| {
                let moves = legality(numbering.tokens(index as u32), full, centre_top);
                (moves, row(index, moves.small, &moved))
            });
            entry.unwrap_or_default()
        };
        let (legality, rows): (Vec<Legality>, Vec<[u32; ROW]>) =
            (0..SETS << stride).map(by_place).unzip();
        let rows = if indices < usize::from(u16::MAX) {
            Rows::Narrow(rows.into_iter().map(|row| row.map(|next| next as u16)).collect())
        } else {
            Rows::Wide(rows.into_boxed_slice())
        };
        let mut known = FxHashMap::default();
        let weights: Vec<_> = all().map(|tokens| weights(tokens, k, group, &mut known)).collect();
        Tables {
            rows,
            legality: legality.into_boxed_slice(),
            stride,
            demands: all().map(|tokens| demand(tokens, centre_top)).collect(),
            moved,
            images: Symmetry::ALL.map(|s| {
                let images = renamed(&|tokens: &Tokens| Some(tokens.image(s)));
                images.into_iter().map(|index| index << 1 | group.side(s)).collect()
            }),
            carried: MOVES.map(|(from, to)| {
                renamed(&|tokens: &Tokens| {
                    // Only where the column's top may be a large tile.
                    let large = !matches!(tokens.columns[from].top(), Some(Some(_)));
                    large.then(|| tokens.move_marker(from, to))
                })
            }),
            weights: [0, 1].map(|side| weights.iter().map(|sides| sides[side]).collect()),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let row = match self.rows {
            Rows::Narrow(_) => 2 * ROW,
            Rows::Wide(_) => 4 * ROW,
        };
        let words = 4 * (self.images.len() + self.carried.len() + self.moved.len());
        let weights = 2 * size_of::<[Weight; 2]>();
        let places = self.legality.len() * (row + size_of::<Legality>());
        places + self.demands.len() * (8 + words + weights)
    }

    /// Position of an index's row and legality, for a class.
    #[inline(always)]
    fn place(&self, class: &Class, index: usize) -> usize {
        // No field borrows from the next: a guard bit is lost where demand exceeds supply.
        let short = !(class.supply - self.demands[index]) & GUARD;
        let full = (short + ROUND_UP * UNITS) & CARRY;
        // The product moves the three bits side by side to the top.
        const GATHER: u64 = 1 << 1 | 1 << 21 | 1 << 41;
        let set = (full.wrapping_mul(GATHER) >> 61) as usize;
        set << self.stride | index
    }

    #[inline(always)]
    pub(super) fn legal_moves(&self, class: &Class, index: usize) -> LegalMoves {
        let Legality { small, large, perhaps } = self.legality[self.place(class, index)];
        LegalMoves { inside: small, exits: large | perhaps & class.from_large }
    }

    /// The first four inside successors, and whether there are more.
    #[inline(always)]
    pub(super) fn row(&self, class: &Class, index: usize) -> ([u32; ROW], bool) {
        let place = self.place(class, index);
        match &self.rows {
            Rows::Narrow(rows) => {
                let row = rows[place];
                (row.map(u32::from), row[ROW - 1] == u16::MAX)
            }
            Rows::Wide(rows) => (rows[place], rows[place][ROW - 1] == MORE),
        }
    }

    /// By move: the index after the move of a small tile.
    pub(super) fn neighbours(&self, index: usize) -> [u32; MOVES.len()] {
        self.moved.each_ref().map(|moved| moved[index])
    }

    #[inline(always)]
    pub(super) fn carried(&self, index: u32, mv: usize, symmetry: Symmetry) -> Local {
        self.image(self.carried[mv][index as usize], symmetry)
    }

    #[inline(always)]
    pub(super) fn image(&self, index: u32, symmetry: Symmetry) -> Local {
        self.images[usize::from(symmetry.number())][index as usize]
    }

    #[inline(always)]
    pub(super) fn weights(&self, side: usize) -> &[[Weight; 2]] {
        &self.weights[side]
    }
}

/// Sets of columns.
const SETS: usize = 8;

fn legality(tokens: &Tokens, full: usize, centre_top: CentreTop) -> Legality {
    // Where the centre's top layer is allowed, a full centre reaches up to the track and cuts L
    // off from R.
    let blocked = centre_top == CentreTop::Allow && full >> CENTRE & 1 == 1;
    let mut moves = Legality::default();
    for (mv, (from, to)) in MOVES.into_iter().enumerate() {
        if full >> to & 1 == 1 || (blocked && from != CENTRE && to != CENTRE) {
            continue;
        }
        match tokens.columns[from].top() {
            Some(Some(_)) => moves.small |= 1 << mv,
            Some(None) => moves.large |= 1 << mv,
            None => moves.perhaps |= 1 << mv,
        }
    }
    moves
}

fn row(index: usize, small: u8, moved: &[Box<[u32]>; MOVES.len()]) -> [u32; ROW] {
    let mut row = [index as u32; ROW];
    let open = moved.iter().enumerate().filter(|(mv, _)| small >> mv & 1 == 1);
    for (at, (_, moved)) in open.enumerate() {
        match row.get_mut(at) {
            Some(slot) => *slot = moved[index],
            None => row[ROW - 1] = MORE,
        }
    }
    row
}

/// The least supply with which each column takes one more tile.
fn demand(tokens: &Tokens, centre_top: CentreTop) -> u64 {
    let mut word = 0;
    for column in COLUMNS {
        let mut demands = [0; FIELDS as usize];
        let (mut small, mut large) = (0u8, 0u8);
        let mut full = false;
        for item in tokens.columns[column].items() {
            match item {
                Some(tile) => {
                    full |= centre_top.limit(tile.level(), column) == small + large;
                    small += 1;
                }
                None => {
                    demands[usize::from(large)] = small + 1;
                    large += 1;
                }
            }
        }
        // Supplies are suffix minima, so the demands of all large tiles below the last small one
        // can be the same.
        demands[usize::from(large)..].fill(small + 1);
        for field in fields() {
            word |= pack(column, field, if full { IMPOSSIBLE } else { demands[field] });
        }
    }
    word
}

/// The weights of a local part, by side and image. `known` caches the weights of single levels:
/// they are few and recur often.
fn weights(
    tokens: &Tokens,
    k: u8,
    group: Group,
    known: &mut FxHashMap<(u8, u64), Weight>,
) -> [[Weight; 2]; 2] {
    let mut weights = [[Weight::ZERO; 2]; 2];
    for level in 1..=k {
        let config = Config::find(level, tokens.columns.map(Column::items));
        for (side, images) in weights.iter_mut().enumerate() {
            for (weight, symmetry) in images.iter_mut().zip(group.images(side)) {
                let word = config.image(symmetry).word(level);
                let of_level = known.entry((level, word)).or_insert_with(|| Weight::hash(word));
                *weight = if level == 1 { *of_level } else { *weight * *of_level };
            }
        }
    }
    weights
}

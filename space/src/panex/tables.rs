//! What local parts can do, in tables that hold for all regions.
//!
//! Whether a column takes another tile depends on the region too, but only through how each of
//! its large tiles' slack compares with the number of small tiles above it. Both are packed into
//! one word, so that all columns are compared at once.

use super::numbering::Numbering;
use super::position::{CENTRE, COLUMNS, DOORS, Symmetry};
use super::tokens::{CentreTop, Column, Config, Tokens};
use crate::{MAX_DOORS, OpenDoors, Weight};

/// Bits of one large tile in a packed word, and large tiles of one column.
const LANE: u32 = 4;
const LANES: u32 = 5;

/// The top bit of every lane.
const GUARD: u64 = 0x0888_8888_8888_8888;

/// In a supply: takes any number of tiles.
pub(super) const UNLIMITED: u8 = 6;

/// In a demand: more than any supply.
const IMPOSSIBLE: u8 = 7;

/// Puts numbers below 8 for the large tiles of each column, top first, into one word.
pub(super) fn pack(column: usize, lane: usize, value: u8) -> u64 {
    u64::from(value) << (LANE * (LANES * column as u32 + lane as u32))
}

/// Large tiles of a column that a word has lanes for.
pub(super) fn lanes() -> std::ops::Range<usize> {
    0..LANES as usize
}

/// What a region allows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// How many tiles each large tile bears.
    pub(super) supply: u64,
    /// Doors from columns that have a large tile.
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

/// Doors from the columns of which `from` is true.
pub(super) fn doors_from(from: [bool; 3]) -> u8 {
    let doors = DOORS.into_iter().enumerate().filter(|(_, (column, _))| from[*column]);
    doors.fold(0, |doors, (door, _)| doors | 1 << door)
}

/// Which doors are of which kind for a local part, by the top of the column they lead from.
#[derive(Copy, Clone, Debug)]
struct Kinds {
    small: u8,
    large: u8,
    /// No small tile in the column: there is a large one or nothing.
    other: u8,
}

/// Where each local part's doors lead inside the region.
#[derive(Debug)]
enum Neighbours {
    Narrow(Box<[[u16; ROW]]>),
    Wide(Box<[[u32; ROW]]>),
}

/// A power of two, so that rows do not straddle cache lines.
const ROW: usize = 8;

/// See the module.
#[derive(Debug)]
pub(super) struct Tables {
    neighbours: Neighbours,
    /// How many tiles each large tile must bear for a column to take one more.
    demands: Box<[u64]>,
    kinds: Box<[Kinds]>,
    /// Doors to columns that take a tile, by the set of columns that do not.
    doors: [u8; 8],
    /// By symmetry.
    images: [Box<[u32]>; 4],
    /// By door: what becomes of the local part when a large tile goes through.
    carried: [Box<[u32]>; DOORS.len()],
    /// By side.
    weights: [Box<[[Weight; 2]]>; 2],
}

impl Tables {
    pub(super) fn new(
        numbering: &Numbering,
        k: u8,
        centre_top: CentreTop,
        group: &[Symmetry],
    ) -> Tables {
        let all = || (0..numbering.len()).map(|index| numbering.tokens(index));
        // Local parts that no region allows have no number: their own stands in.
        let renamed = |rename: &dyn Fn(&Tokens) -> Option<Tokens>| -> Box<[u32]> {
            let number = |tokens: Tokens| numbering.index(&tokens);
            all()
                .zip(0..)
                .map(|(tokens, own)| rename(tokens).and_then(number).unwrap_or(own))
                .collect()
        };
        let inside = DOORS.map(|(from, to)| renamed(&|tokens: &Tokens| tokens.move_tile(from, to)));
        let row = |index: usize| {
            let mut row = [index as u32; ROW];
            row.iter_mut().zip(&inside).for_each(|(slot, door)| *slot = door[index]);
            row
        };
        let indices = 0..numbering.len() as usize;
        let neighbours = if indices.len() <= 1 << 16 {
            Neighbours::Narrow(indices.map(|i| row(i).map(|next| next as u16)).collect())
        } else {
            Neighbours::Wide(indices.map(row).collect())
        };
        let weigh = |side| all().map(|tokens| weights(tokens, k, group, side)).collect();
        Tables {
            neighbours,
            demands: all().map(|tokens| demand(tokens, centre_top)).collect(),
            kinds: all().map(kinds).collect(),
            doors: std::array::from_fn(|full| open_doors(full, centre_top)),
            images: Symmetry::ALL.map(|s| renamed(&|tokens: &Tokens| Some(tokens.image(s)))),
            carried: DOORS.map(|(from, to)| {
                renamed(&|tokens: &Tokens| {
                    // Only where the column's top may be a large tile.
                    let large = !matches!(tokens.columns[from].top(), Some(Some(_)));
                    large.then(|| tokens.move_marker(from, to))
                })
            }),
            weights: [weigh(0), weigh(1)],
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let row = match self.neighbours {
            Neighbours::Narrow(_) => 2 * ROW,
            Neighbours::Wide(_) => 4 * ROW,
        };
        let words = 4 * (self.images.len() + self.carried.len());
        self.demands.len() * (row + 8 + size_of::<Kinds>() + words + 2 * size_of::<[Weight; 2]>())
    }

    #[inline(always)]
    pub(super) fn neighbours(&self, index: usize) -> [u32; MAX_DOORS as usize] {
        match &self.neighbours {
            Neighbours::Narrow(rows) => {
                let [a, b, c, d, e, f, g, _] = rows[index].map(u32::from);
                [a, b, c, d, e, f, g]
            }
            Neighbours::Wide(rows) => {
                let [a, b, c, d, e, f, g, _] = rows[index];
                [a, b, c, d, e, f, g]
            }
        }
    }

    #[inline(always)]
    pub(super) fn open(&self, class: &Class, index: usize) -> OpenDoors {
        const COLUMN: u64 = GUARD & ((1 << (LANE * LANES)) - 1);
        // No lane borrows from the next: a guard bit is lost where demand exceeds supply.
        let short = !((class.supply | GUARD) - self.demands[index]) & GUARD;
        let full = usize::from(short & COLUMN != 0)
            | usize::from(short & COLUMN << (LANE * LANES) != 0) << 1
            | usize::from(short & COLUMN << (2 * LANE * LANES) != 0) << 2;
        let doors = self.doors[full];
        let kinds = self.kinds[index];
        OpenDoors {
            inside: kinds.small & doors,
            exits: (kinds.large | kinds.other & class.from_large) & doors,
        }
    }

    #[inline(always)]
    pub(super) fn carried(&self, index: u32, door: usize, symmetry: Symmetry) -> u32 {
        self.image(self.carried[door][index as usize], symmetry)
    }

    #[inline(always)]
    pub(super) fn image(&self, index: u32, symmetry: Symmetry) -> u32 {
        self.images[usize::from(symmetry.number())][index as usize]
    }

    #[inline(always)]
    pub(super) fn weights(&self, side: usize) -> &[[Weight; 2]] {
        &self.weights[side]
    }
}

/// Doors that lead to columns outside the set `full`.
fn open_doors(full: usize, centre_top: CentreTop) -> u8 {
    // Where the centre's top layer is allowed, a full centre reaches up to the track and cuts L
    // off from R.
    let blocked = centre_top == CentreTop::Allow && full >> CENTRE & 1 == 1;
    let open = |(from, to): (usize, usize)| {
        full >> to & 1 == 0 && !(blocked && from != CENTRE && to != CENTRE)
    };
    let doors = DOORS.into_iter().enumerate().filter(|(_, door)| open(*door));
    doors.fold(0, |doors, (door, _)| doors | 1 << door)
}

fn kinds(tokens: &Tokens) -> Kinds {
    let tops = tokens.columns.map(Column::top);
    Kinds {
        small: doors_from(tops.map(|top| matches!(top, Some(Some(_))))),
        large: doors_from(tops.map(|top| matches!(top, Some(None)))),
        other: doors_from(tops.map(|top| top.is_none())),
    }
}

/// The least supply with which each column takes one more tile.
fn demand(tokens: &Tokens, centre_top: CentreTop) -> u64 {
    let mut word = 0;
    for column in COLUMNS {
        let mut demands = [0; LANES as usize];
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
        // Supplies are suffix minima: what holds for the first large tile below holds for all.
        demands[usize::from(large)..].fill(small + 1);
        for lane in lanes() {
            word |= pack(column, lane, if full { IMPOSSIBLE } else { demands[lane] });
        }
    }
    word
}

fn weights(tokens: &Tokens, k: u8, group: &[Symmetry], side: u32) -> [Weight; 2] {
    let mut weights = [Weight::ZERO; 2];
    let images = group.iter().filter(|s| s.side() == side);
    for (weight, symmetry) in weights.iter_mut().zip(images) {
        let levels = (1..=k).map(|level| {
            let config = Config::find(level, tokens.columns.map(Column::items));
            Weight::hash(config.image(*symmetry).word(level))
        });
        *weight = levels.fold(Weight::ONE, |product, level| product * level);
    }
    weights
}

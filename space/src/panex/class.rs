//! Classes of regions.
//!
//! What small tiles (levels up to k) can do depends on the region only through the **slack** of
//! each column: how many tiles may still come to lie above each of its large tiles. Regions with
//! equal slacks and equal symmetries are one class.

use super::position::{CENTRE, COLUMNS, DOORS, Position, Stack, Symmetry};
use super::tokens::{CentreTop, Tokens};
use crate::{ClassKey, OpenDoors};

/// Slacks of one column's large tiles, top first, as suffix minima: entry i is how many tiles
/// may still come above the i-th tile and all deeper ones. Values are capped at k+1 (as good as
/// unlimited: no column holds more than k+1 small tiles), and the first k+1 entries are kept (no
/// small tile lies deeper).
type Slacks = Stack<u8>;

fn slacks(large: &Position, column: usize, k: u8, centre_top: CentreTop) -> Slacks {
    let tiles = large.columns[column].items();
    let mut least = k + 1;
    let mut all = Slacks::default();
    for (above, tile) in tiles.iter().enumerate().rev() {
        least = least.min(centre_top.limit(tile.level(), column) - above as u8);
        all.push(least);
    }
    let mut kept = Slacks::default();
    all.items().iter().take(usize::from(k) + 1).for_each(|slack| kept.push_below(*slack));
    kept
}

/// Bits of one slack in a key, and of one column's.
const SLACK_BITS: u32 = 3;
const COLUMN_BITS: u32 = 18;

fn pack_slacks(columns: [Slacks; 3]) -> u64 {
    let column = |slacks: &Slacks| {
        let entries = slacks.items().iter().enumerate();
        // 0 stands for "no entry": a slack of 0 is legal.
        entries.fold(0, |word, (i, slack)| word | u64::from(slack + 1) << (SLACK_BITS * i as u32))
    };
    let words = columns.iter().enumerate();
    words.fold(0, |word, (i, slacks)| word | column(slacks) << (COLUMN_BITS * i as u32))
}

fn unpack_slacks(word: u64) -> [Slacks; 3] {
    COLUMNS.map(|column| {
        let mut entries = word >> (COLUMN_BITS * column as u32) & ((1 << COLUMN_BITS) - 1);
        let mut slacks = Slacks::default();
        while entries != 0 {
            slacks.push_below((entries & 7) as u8 - 1);
            entries >>= SLACK_BITS;
        }
        slacks
    })
}

/// What every region with these slacks and this stabiliser allows.
#[derive(Clone, Debug)]
pub struct Class {
    k: u8,
    centre_top: CentreTop,
    slacks: [Slacks; 3],
    /// Symmetries that fix the region, as a bit set.
    stabiliser: u8,
}

impl Class {
    pub(super) fn key(large: &Position, k: u8, centre_top: CentreTop, stabiliser: u8) -> ClassKey {
        let columns = COLUMNS.map(|column| slacks(large, column, k, centre_top));
        ClassKey(u128::from(pack_slacks(columns)) << 4 | u128::from(stabiliser))
    }

    pub(super) fn new(key: ClassKey, k: u8, centre_top: CentreTop) -> Class {
        let slacks = unpack_slacks((key.0 >> 4) as u64);
        Class { k, centre_top, slacks, stabiliser: (key.0 & 15) as u8 }
    }

    /// The symmetries that fix the regions of this class.
    pub fn stabiliser(&self) -> impl Iterator<Item = Symmetry> {
        let bits = self.stabiliser;
        Symmetry::ALL.into_iter().filter(move |s| bits >> s.number() & 1 == 1)
    }

    /// Whether a symmetry besides the identity fixes the regions of this class.
    pub fn is_symmetric(&self) -> bool {
        self.stabiliser != 1
    }

    /// How many tiles may still be put on top of a column, or None if there are too many.
    fn room(&self, tokens: &Tokens, column: usize) -> Option<u8> {
        let slacks = self.slacks[column].items();
        let (mut room, mut small, mut markers) = (self.k + 1, 0u8, 0u8);
        let of_large = |small: u8, markers: u8| match slacks.get(usize::from(markers)) {
            Some(slack) if *slack <= self.k => slack.checked_sub(small),
            _ => Some(u8::MAX),
        };
        for item in tokens.columns[column].items() {
            match item {
                None => {
                    room = room.min(of_large(small, markers)?);
                    markers += 1;
                }
                Some(tile) => {
                    let limit = self.centre_top.limit(tile.level(), column);
                    room = room.min(limit.checked_sub(small + markers)?);
                    small += 1;
                }
            }
        }
        if usize::from(markers) > slacks.len() {
            return None;
        }
        Some(room.min(of_large(small, markers)?))
    }

    /// Whether a local part is legal in this class.
    pub fn allows(&self, tokens: &Tokens) -> bool {
        COLUMNS.iter().all(|column| self.room(tokens, *column).is_some())
    }

    /// The legal moves of a legal local part.
    pub fn open_doors(&self, tokens: &Tokens) -> OpenDoors {
        let room = COLUMNS.map(|column| self.room(tokens, column).unwrap_or(0));
        // Only where the centre's top layer is allowed can the centre be full up to the track.
        let blocked = self.centre_top == CentreTop::Allow && room[CENTRE] == 0;
        let mut open = OpenDoors::default();
        for (door, (from, to)) in DOORS.into_iter().enumerate() {
            if room[to] == 0 || (blocked && from != CENTRE && to != CENTRE) {
                continue;
            }
            match tokens.columns[from].top() {
                Some(Some(_)) => open.inside |= 1 << door,
                Some(None) => open.exits |= 1 << door,
                None if !self.slacks[from].items().is_empty() => open.exits |= 1 << door,
                None => {}
            }
        }
        open
    }
}

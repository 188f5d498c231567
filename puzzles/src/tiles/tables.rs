//! What every local part can do, by its number.
//!
//! Doors are the blank's moves: back and on in the order in which squares are read, and across to
//! the line before and after. A move along the order keeps the order of the tiles. A move across
//! takes a tile past an even number of others. It leaves the region if it is a large tile that
//! goes past large ones: the gate tells in which direction, which of the large tiles it is, and
//! past how many it goes. Where symmetric boards are identified a door also leaves the region if the
//! board behind it may not be the one that is held. Then its gate scatters: there is one for each
//! door, after all others.

use std::cmp::Ordering;

use super::board::Shape;
use super::numbering::{Numbering, digits, insert};
use strata_space::{Gate, OpenDoors, Weight};

/// Back and on in the order, across to the line before and to the line after.
pub(super) const DOORS: usize = 4;

/// The doors that lead to other lines, the first of them.
const ACROSS: usize = 2;

/// The tables.
#[derive(Debug)]
pub(super) struct Tables {
    /// The index behind a door that is open inside, else the index itself.
    inside: Vec<[u32; DOORS]>,
    open: Vec<OpenDoors>,
    /// The index behind the doors across.
    beyond: Vec<[u32; 2]>,
    /// The gate of the doors across.
    gates: Vec<[Gate; 2]>,
    /// The first of the gates that scatter.
    scattering: Gate,
    weights: Vec<[Weight; 2]>,
}

/// How gates are numbered.
#[derive(Copy, Clone, Debug)]
pub(super) struct Gates {
    large: u16,
    /// The most tiles that a move goes past.
    most: u16,
}

/// What a gate does to the order of the large tiles.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Jump {
    /// Whether the tile goes on in the order, and not back.
    pub(super) on: bool,
    /// Which of the large tiles it is in the order, from 0.
    pub(super) tile: u8,
    /// How many large tiles it goes past.
    pub(super) past: u8,
}

impl Gates {
    pub(super) fn new(shape: Shape, large: u8) -> Gates {
        Gates { large: large.into(), most: 2 * u16::from(shape.line() - 1) }
    }

    pub(super) fn len(self) -> Gate {
        2 * self.large * self.most
    }

    fn number(self, jump: Jump) -> Gate {
        let tile = u16::from(jump.on) * self.large + u16::from(jump.tile);
        tile * self.most + u16::from(jump.past) - 1
    }

    pub(super) fn jump(self, gate: Gate) -> Jump {
        let (tile, past) = (gate / self.most, gate % self.most + 1);
        Jump { on: tile >= self.large, tile: (tile % self.large) as u8, past: past as u8 }
    }

    /// The gate by which the tile goes back.
    pub(super) fn back(self, gate: Gate) -> Gate {
        let Jump { on, tile, past } = self.jump(gate);
        let tile = if on { tile + past } else { tile - past };
        self.number(Jump { on: !on, tile, past })
    }

    /// The door through which the blank goes.
    pub(super) fn door(self, gate: Gate) -> usize {
        // The tile goes the opposite way.
        if self.jump(gate).on { 0 } else { 1 }
    }
}

/// Where a move through a door takes the blank, or none.
pub(super) fn behind(shape: Shape, blank: u8, door: usize) -> Option<u8> {
    let line = shape.line();
    let offset = blank % line;
    // Of the squares across, the nearest in the order is a neighbour in it.
    let to = match door {
        0 => blank.checked_sub(1),
        1 => Some(blank + 1),
        2 if offset > 0 => blank.checked_sub(2 * offset + 1),
        3 if offset + 1 < line => Some(blank + 2 * (line - 1 - offset) + 1),
        _ => None,
    };
    to.filter(|to| *to < shape.squares())
}

/// Moves the blank in an order of tiles. Returns where the tile was that changed places with it,
/// and where it is then.
pub(super) fn move_blank(order: &mut [u8], from: u8, to: u8) -> (usize, usize) {
    let (was, is) = if to > from { (to - 1, from) } else { (to, from - 1) };
    let (was, is) = (usize::from(was), usize::from(is));
    if was < is {
        order[was..=is].rotate_left(1);
    } else {
        order[is..=was].rotate_right(1);
    }
    (was, is)
}

/// What the move of a tile does to the order of the large tiles, if anything.
fn jump(before: &[u8], was: usize, is: usize, small: u8) -> Option<Jump> {
    let count = |tiles: &[u8]| tiles.iter().filter(|tile| **tile > small).count() as u8;
    let past = count(if was < is { &before[was + 1..=is] } else { &before[is..was] });
    let leaves = before[was] > small && past > 0;
    leaves.then(|| Jump { on: was < is, tile: count(&before[..was]), past })
}

impl Tables {
    /// Of local parts, `order` says whether their boards are held (less), or their images (greater),
    /// or some of both (equal).
    pub(super) fn new(
        shape: Shape,
        small: u8,
        locals: Numbering,
        gates: Gates,
        order: &dyn Fn(u32) -> Ordering,
    ) -> Tables {
        let size = locals.len() as usize;
        let mut tables = Tables {
            inside: (0..locals.len()).map(|index| [index; DOORS]).collect(),
            open: vec![OpenDoors::default(); size],
            beyond: vec![[0; 2]; size],
            gates: vec![[0; 2]; size],
            scattering: gates.len(),
            weights: vec![[Weight::ZERO; 2]; size],
        };
        let large: Vec<u8> = (small + 1..shape.squares()).collect();
        for index in 0..size {
            let Some((local, blank)) = locals.digits(index as u32) else { continue };
            tables.weights[index][0] = weigh_local(&local, blank);
            let before = insert(&local, &large);
            for door in 0..DOORS {
                let Some(to) = behind(shape, blank, door) else { continue };
                let mut after = before.clone();
                let (was, is) = move_blank(&mut after, blank, to);
                let next = locals.index(&digits(&after, small), to);
                if order(next).is_lt() {
                    let jump = jump(&before, was, is, small);
                    tables.add(index, door, next, jump.map(|jump| gates.number(jump)));
                } else {
                    tables.open[index].exits |= 1 << door;
                    if door >= ACROSS {
                        tables.gates[index][door - ACROSS] = gates.len() + door as Gate;
                    }
                }
            }
        }
        tables
    }

    fn add(&mut self, index: usize, door: usize, next: u32, gate: Option<Gate>) {
        match gate {
            None => {
                self.inside[index][door] = next;
                self.open[index].inside |= 1 << door;
            }
            Some(gate) => {
                self.open[index].exits |= 1 << door;
                self.beyond[index][door - ACROSS] = next;
                self.gates[index][door - ACROSS] = gate;
            }
        }
    }

    #[inline(always)]
    pub(super) fn open(&self, index: u32) -> OpenDoors {
        self.open[index as usize]
    }

    #[inline(always)]
    pub(super) fn inside(&self, index: u32) -> [u32; DOORS] {
        self.inside[index as usize]
    }

    #[inline(always)]
    pub(super) fn gate(&self, index: u32, door: usize) -> Gate {
        match door.checked_sub(ACROSS) {
            Some(across) => self.gates[index as usize][across & 1],
            // Along the order no large tile goes past another.
            None => self.scattering + door as Gate,
        }
    }

    /// The index behind the first (0) or second (1) door across.
    #[inline(always)]
    pub(super) fn beyond(&self, index: u32, door: usize) -> u32 {
        self.beyond[index as usize][door & 1]
    }

    #[inline(always)]
    pub(super) fn weights(&self) -> &[[Weight; 2]] {
        &self.weights
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.inside[..])
            + size_of_val(&self.open[..])
            + size_of_val(&self.beyond[..])
            + size_of_val(&self.gates[..])
            + size_of_val(&self.weights[..])
    }
}

/// The weight of one tile's digit.
pub(super) fn weigh(tile: u8, digit: u8) -> Weight {
    Weight::hash(u64::from(tile) << 8 | u64::from(digit))
}

/// A position weighs the product over its tiles' digits, and the blank's place as that of tile 0.
fn weigh_local(digits: &[u8], blank: u8) -> Weight {
    let tiles = (1..).zip(digits).map(|(tile, digit)| weigh(tile, *digit));
    tiles.fold(weigh(0, blank), |product, weight| product * weight)
}

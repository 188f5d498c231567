//! N-useful positions: shape, order vector, slots and signature.

use crate::proof_lemmas::model::{CENTRE, Column, Position, Puzzle, Tile, level};

/// Levels and rows of a signature are capped at these, relative to N.
const LEVEL_CAP: u8 = 5;
const ROW_CAP: u8 = 6;

/// An N-useful position; N is `small`.
#[derive(Clone, Debug)]
pub(crate) struct Useful {
    small: u8,
    pub(crate) shape: u8,
    /// Bit i - 1: the colour of the first tile of level i. L and C are read upwards, then R
    /// downwards.
    pub(crate) order: u32,
    /// The slot tiles A, B and C.
    slots: [Option<Tile>; 3],
    /// How many tiles of each column are below the slots.
    fixed: [usize; 3],
    /// Levels of the slots less N, 0 for an empty slot, and rows of the supports less N, without
    /// caps.
    levels: [u8; 3],
    supports: [u8; 3],
}

impl Useful {
    /// `None` if the position is not N-useful.
    pub(crate) fn new(puzzle: Puzzle, position: &Position, small: u8) -> Option<Self> {
        let mut small_levels = [Column::default(); 3];
        let mut lower = [Column::default(); 3];
        for (c, column) in position.iter().enumerate() {
            for tile in column.tiles() {
                if level(tile) <= small {
                    small_levels[c] = small_levels[c].push(level(tile));
                } else if small_levels[c] == Column::default() {
                    lower[c] = lower[c].push(tile);
                } else {
                    return None;
                }
            }
        }
        let shape = (0..5).find(|&shape| levels_of(shape, small) == small_levels)?;
        if lower.iter().any(|column| puzzle.top_row(*column) <= small) {
            return None;
        }
        let mut take = |column: usize| {
            let (tile, rest) = lower[column].pop()?;
            lower[column] = rest;
            Some(tile)
        };
        let slots = [free_side(shape).and_then(&mut take), take(CENTRE), take(CENTRE)];
        Some(Self {
            small,
            shape,
            order: order(position, small),
            slots,
            fixed: lower.map(|column| column.tiles().count()),
            levels: slots.map(|slot| slot.map_or(0, |tile| level(tile) - small)),
            supports: lower.map(|column| puzzle.top_row(column) - small),
        })
    }

    pub(crate) fn is_slot(&self, tile: Tile) -> bool {
        self.slots.contains(&Some(tile))
    }

    /// As in the certificate: the shape, levels and rows, capped.
    pub(crate) fn signature(&self) -> String {
        let levels = self.levels.map(|relative| relative.min(LEVEL_CAP));
        let rows = self.supports.map(|relative| relative.min(ROW_CAP));
        let mut text = self.shape.to_string();
        for number in levels.iter().chain(&rows) {
            text += &format!(" {number}");
        }
        text
    }

    /// As in a row of the certificate: the shape of another position, and where it has the slot
    /// tiles of this one.
    pub(crate) fn row_of(&self, end: &Self, position: &Position) -> String {
        let mut text = end.shape.to_string();
        for (c, column) in position.iter().enumerate() {
            let lower = column.tiles().skip(self.fixed[c]).take_while(|&t| level(t) > self.small);
            let letter = |tile| match self.slots.iter().position(|slot| *slot == Some(tile)) {
                Some(slot) => ['A', 'B', 'C'][slot],
                None => panic!("{tile} is not a slot tile of {self:?}"),
            };
            let letters: String = lower.map(letter).collect();
            text += &format!(" {}", if letters.is_empty() { "-" } else { &letters });
        }
        text
    }
}

/// The side column without small tiles.
pub(crate) fn free_side(shape: u8) -> Option<usize> {
    match shape {
        0 => None,
        1 | 2 => Some(0),
        _ => Some(2),
    }
}

/// Levels of the small tiles of a shape, by column, bottom first.
pub(crate) fn levels_of(shape: u8, small: u8) -> [Column; 3] {
    let without_1: Column = (2..=small).rev().collect();
    let (tower, none) = (without_1.push(1), Column::default());
    match shape {
        0 => [tower, none, tower],
        1 => [none, tower, tower],
        2 => [none, without_1, tower.push(1)],
        3 => [tower, tower, none],
        _ => [tower.push(1), without_1, none],
    }
}

fn order(position: &Position, small: u8) -> u32 {
    let [left, centre, right] = position;
    let (mut seen, mut order) = (0, 0);
    for tile in left.tiles().chain(centre.tiles()).chain(right.tiles().rev()) {
        let bit = 1 << (level(tile) - 1);
        if level(tile) <= small && seen & bit == 0 {
            seen |= bit;
            order |= if tile % 2 == 1 { bit } else { 0 };
        }
    }
    order
}

#[test]
fn start_and_goal_are_useful_with_all_orders_exchanged() {
    let puzzle = Puzzle { levels: 5 };
    for small in 2..=5 {
        let start = Useful::new(puzzle, &puzzle.start(), small).unwrap();
        let goal = Useful::new(puzzle, &puzzle.goal(), small).unwrap();
        assert_eq!((start.shape, goal.shape), (0, 0));
        assert_eq!((start.order, goal.order), (0, (1 << small) - 1));
        assert_eq!(start.signature(), format!("0 0 0 0 1 {} 1", 6 - small));
    }
}

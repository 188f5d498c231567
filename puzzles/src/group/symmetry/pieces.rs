//! Pieces in slots, which symmetries have to keep.

use std::collections::HashMap;

use crate::group::shape::Shape;

/// The pieces of an arrangement by slot, and the slots that are forbidden to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// By slot, the kind of its piece. Pieces of a kind look alike.
    kinds: Vec<usize>,
    /// By slot, the turn of its piece.
    turns: Vec<u8>,
    /// By slot, the number of orientations of its piece that look different: a divisor of the slot's.
    periods: Vec<u8>,
    /// By slot, the kinds of pieces that are forbidden there, ascending.
    forbidden: Vec<Vec<usize>>,
}

impl Pieces {
    /// Pieces that all differ, in every turn.
    pub fn different(shape: &Shape) -> Pieces {
        let slots = shape.slots();
        Pieces {
            kinds: (0..slots).collect(),
            turns: vec![0; slots],
            periods: shape.orientations().to_vec(),
            forbidden: vec![Vec::new(); slots],
        }
    }

    /// Pieces by slot: an arbitrary number for the kind, the turn, and the number of orientations that look
    /// different.
    pub fn new(pieces: impl IntoIterator<Item = (u32, u8, u8)>) -> Pieces {
        let mut numbers = HashMap::new();
        let (mut kinds, mut turns, mut periods) = (Vec::new(), Vec::new(), Vec::new());
        for (kind, turn, period) in pieces {
            let number = numbers.len();
            kinds.push(*numbers.entry(kind).or_insert(number));
            turns.push(turn);
            periods.push(period);
        }
        let forbidden = vec![Vec::new(); kinds.len()];
        Pieces { kinds, turns, periods, forbidden }
    }

    /// Forbids a slot to pieces of the kind in slot `kind_of`.
    pub fn forbid(&mut self, slot: usize, kind_of: usize) {
        let kind = self.kinds.get(kind_of).copied();
        if let (Some(forbidden), Some(kind)) = (self.forbidden.get_mut(slot), kind)
            && let Err(at) = forbidden.binary_search(&kind)
        {
            forbidden.insert(at, kind);
        }
    }

    /// Whether there is a piece for each slot, with a period that divides the slot's orientations.
    pub(super) fn fit(&self, shape: &Shape) -> bool {
        self.kinds.len() == shape.slots()
            && self
                .periods
                .iter()
                .zip(shape.orientations())
                .all(|(period, orientations)| *period > 0 && orientations.is_multiple_of(*period))
    }

    pub(super) fn kind(&self, slot: usize) -> usize {
        self.kinds[slot]
    }

    pub(super) fn turn(&self, slot: usize) -> u8 {
        self.turns[slot]
    }

    pub(super) fn period(&self, slot: usize) -> u8 {
        self.periods[slot]
    }

    pub(super) fn forbidden(&self, slot: usize) -> &[usize] {
        &self.forbidden[slot]
    }
}

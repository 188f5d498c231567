//! Orbits of slots under the moves, with the pieces of a start.

use crate::group::{Element, Invariants};

use super::definition::{Definition, State};

/// Pieces of an orbit that look alike.
#[derive(Copy, Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: u16,
    pub(super) count: u64,
    /// Turns after which the piece looks the same.
    pub(super) period: u8,
}

/// A set of slots whose pieces the moves exchange, with these pieces.
#[derive(Clone, Debug)]
pub(super) struct Orbit {
    /// Ascending.
    pub(super) slots: Vec<usize>,
    /// Orientations of each slot.
    pub(super) orientations: u8,
    /// The sum of all turns, if moves do not change it.
    pub(super) sum: Option<u8>,
    /// The different pieces.
    pub(super) pieces: Vec<Piece>,
    /// By kind, the index of the piece.
    indices: Vec<Option<u16>>,
}

impl Orbit {
    /// An orbit with the pieces of a start, by kind.
    pub(super) fn new(
        definition: &Definition,
        start: &State,
        found: &crate::group::Orbit,
    ) -> Orbit {
        let set = found.slots.first().and_then(|slot| definition.set_of(*slot));
        let mut pieces: Vec<Piece> = Vec::new();
        for slot in &found.slots {
            let kind = start.kinds[*slot];
            match pieces.iter_mut().find(|piece| piece.kind == kind) {
                Some(piece) => piece.count += 1,
                None => {
                    let of_kind = set.and_then(|set| set.kinds.get(usize::from(kind)));
                    let period = of_kind.map_or(1, |kind| kind.orientations);
                    pieces.push(Piece { kind, count: 1, period });
                }
            }
        }
        let orientations = found.orientations;
        let keeps_sum = orientations > 1
            && found.turn_step == orientations
            && pieces.iter().all(|piece| piece.period == orientations);
        let turns: u32 = found.slots.iter().map(|slot| u32::from(start.turns[*slot])).sum();
        let sum = keeps_sum.then_some((turns % u32::from(orientations)) as u8);
        let slots = found.slots.clone();
        Orbit { slots, orientations, sum, pieces, indices: Vec::new() }
            .sorted_by(|piece| piece.kind)
    }

    /// The orbit with its pieces in the order of a key.
    pub(super) fn sorted_by<K: Ord>(mut self, key: impl FnMut(&Piece) -> K) -> Orbit {
        self.pieces.sort_unstable_by_key(key);
        let kinds = self.pieces.iter().map(|piece| usize::from(piece.kind) + 1).max();
        self.indices = vec![None; kinds.unwrap_or(0)];
        for (index, piece) in (0..).zip(&self.pieces) {
            self.indices[usize::from(piece.kind)] = Some(index);
        }
        self
    }

    /// The index of the piece of a kind, if the orbit has it.
    #[inline]
    pub(super) fn index(&self, kind: u16) -> Option<u16> {
        *self.indices.get(usize::from(kind))?
    }
}

/// The orbits of slots that moves change, with the pieces of a start.
pub(super) fn orbits(definition: &Definition, start: &State, moves: &[Element]) -> Vec<Orbit> {
    let found = Invariants::of(&definition.shape, moves).orbits;
    found.iter().map(|found| Orbit::new(definition, start, found)).collect()
}

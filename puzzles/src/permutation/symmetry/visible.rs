//! The visible part of a puzzle: slots, orientations and pieces in which states differ.

use crate::group::{Element, GroupError, Pieces, Shape, Symmetry, SymmetryLimits};
use strata_space::Work;

use super::super::definition::{Definition, State};
use super::super::orbit::{Orbit, orbits};

/// The part of a puzzle that moves visibly change.
///
/// Orbits whose pieces all look alike, in every turn, are left out. Turns are counted modulo the
/// number of orientations that look different. The remaining slots are called places.
#[derive(Debug)]
pub(super) struct Visible {
    /// By place, the slot.
    pub(super) slots: Vec<usize>,
    /// By place, the index of its orbit.
    pub(super) orbits: Vec<usize>,
    /// By orbit, its pieces.
    pub(super) alphabets: Vec<Alphabet>,
    /// By move, its effect on places.
    pub(super) moves: Vec<Element>,
    pub(super) shape: Shape,
}

/// Codes of the possible contents of a place of an orbit: a piece and its turn.
#[derive(Clone, Debug)]
pub(super) struct Alphabet {
    /// By code, the kind, the turn, and the number of turns that look different.
    pub(super) letters: Vec<(u16, u8, u8)>,
    /// By kind, its first code.
    first: Vec<Option<u16>>,
}

impl Alphabet {
    /// The codes of an orbit; None if there are 2^16 or more.
    fn new(orbit: &Orbit) -> Option<Alphabet> {
        let mut alphabet = Alphabet { letters: Vec::new(), first: Vec::new() };
        for piece in &orbit.pieces {
            let kind = usize::from(piece.kind);
            alphabet.first.resize(alphabet.first.len().max(kind + 1), None);
            alphabet.first[kind] = Some(u16::try_from(alphabet.letters.len()).ok()?);
            let turns = (0..piece.period).map(|turn| (piece.kind, turn, piece.period));
            alphabet.letters.extend(turns);
        }
        u16::try_from(alphabet.letters.len()).ok().map(|_| alphabet)
    }

    /// The code of a piece; None if the orbit does not have it.
    pub(super) fn code(&self, kind: u16, turn: u8) -> Option<u16> {
        Some((*self.first.get(usize::from(kind))?)? + u16::from(turn))
    }
}

fn least_common_multiple(a: u8, b: u8) -> u8 {
    let common = (1..=a.min(b)).rev().find(|n| a.is_multiple_of(*n) && b.is_multiple_of(*n));
    a / common.unwrap_or(1) * b
}

impl Visible {
    /// The visible part of the states reachable from a start; None if nothing is visible, or if it has too
    /// many codes.
    pub(super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[Element],
    ) -> Option<Visible> {
        let is_visible = |orbit: &Orbit| {
            orbit.pieces.len() > 1 || orbit.pieces.iter().any(|piece| piece.period > 1)
        };
        let found: Vec<Orbit> = orbits(definition, start, moves)
            .into_iter()
            .filter(|orbit| is_visible(orbit))
            .collect();
        let (mut slots, mut orbits, mut orientations) = (Vec::new(), Vec::new(), Vec::new());
        for (index, orbit) in found.iter().enumerate() {
            let periods = orbit.pieces.iter().map(|piece| piece.period);
            let turns = periods.fold(1, least_common_multiple);
            slots.extend_from_slice(&orbit.slots);
            orbits.resize(slots.len(), index);
            orientations.resize(slots.len(), turns);
        }
        let mut places = vec![None; definition.shape.slots()];
        for (place, slot) in (0..).zip(&slots) {
            places[*slot] = Some(place);
        }
        let shape = Shape::new(orientations).ok()?;
        let visible = |element: &Element| -> Option<Element> {
            let image = |slot: &usize| places[usize::from(element.images()[*slot])];
            let images: Vec<u16> = slots.iter().map(image).collect::<Option<_>>()?;
            let turns = slots.iter().zip(shape.orientations());
            let turns: Vec<u8> = turns.map(|(slot, n)| element.turns()[*slot] % n).collect();
            shape.element(&images, &turns).ok()
        };
        let moves = moves.iter().map(visible).collect::<Option<_>>()?;
        let alphabets = found.iter().map(Alphabet::new).collect::<Option<_>>()?;
        Some(Visible { slots, orbits, alphabets, moves, shape })
    }

    /// The symmetries of the moves that fix a start.
    ///
    /// # Errors
    /// If a limit is exceeded.
    pub(super) fn symmetries(
        &self,
        definition: &Definition,
        start: &State,
        work: &Work,
    ) -> Result<Vec<Symmetry>, GroupError> {
        let set = |slot: usize| definition.sets.iter().position(|set| set.slots().contains(&slot));
        let pieces = self.slots.iter().zip(&self.orbits).map(|(slot, orbit)| {
            let (kind, turn) = (start.kinds[*slot], start.turns[*slot]);
            let code = self.alphabets[*orbit].code(kind, turn).unwrap_or_default();
            let (_, turn, period) = self.alphabets[*orbit].letters[usize::from(code)];
            let set = set(*slot).map_or(0, |set| set as u32);
            (set << 16 | u32::from(kind), turn, period)
        });
        let mut pieces = Pieces::new(pieces);
        for illegal in &definition.illegal {
            let Some(place) = self.slots.iter().position(|slot| *slot == illegal.slot) else {
                continue;
            };
            // A kind that is not in the orbit at the start never comes there.
            let home = |other: &usize| {
                self.orbits[*other] == self.orbits[place]
                    && start.kinds[self.slots[*other]] == illegal.kind
            };
            if let Some(home) = (0..self.slots.len()).find(home) {
                pieces.forbid(place, home);
            }
        }
        let mut moves = self.moves.clone();
        moves.sort_unstable();
        moves.dedup();
        let limits = SymmetryLimits::default();
        Symmetry::all_within(&self.shape, &moves, &pieces, limits, &work.part(limits.steps))
    }
}

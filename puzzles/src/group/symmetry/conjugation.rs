//! Symmetries as relabellings, and conjugates of elements.

use crate::group::element::Element;
use crate::group::shape::Shape;

/// A relabelling of slots and orientations that maps a set of moves to itself by conjugation.
///
/// Slot `i` becomes slot `images[i]`. A turn `t` in slot `i` becomes `factors[i] · t + shifts[i]`.
/// A move m becomes s m s⁻¹, which is a move again. Factors are the same in all slots of an orbit of
/// the moves; a mirror image has the factor -1. Slots that no move changes stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    pub(super) images: Vec<u16>,
    pub(super) factors: Vec<u8>,
    pub(super) shifts: Vec<u8>,
    pub(super) moves: Vec<usize>,
}

impl Symmetry {
    /// By slot, the slot that it becomes.
    pub fn images(&self) -> &[u16] {
        &self.images
    }

    /// By slot, the factor of its turns. It is coprime to the number of orientations, and 1 where there are
    /// at most two.
    pub fn factors(&self) -> &[u8] {
        &self.factors
    }

    /// By slot, what is added to its turns.
    pub fn shifts(&self) -> &[u8] {
        &self.shifts
    }

    /// By move, the index of the move that it becomes.
    pub fn moves(&self) -> &[usize] {
        &self.moves
    }

    /// Whether every move becomes itself.
    pub fn is_identity(&self) -> bool {
        self.moves.iter().enumerate().all(|(index, image)| index == *image)
    }

    /// Whether the sense of turns is reversed. Always false for a puzzle without a slot of three or more
    /// orientations: its mirror images are indistinguishable from rotations.
    pub fn is_mirror(&self) -> bool {
        self.factors.iter().any(|factor| *factor != 1)
    }

    /// The conjugate s m s⁻¹ of an element. None if it is not of the shape.
    pub fn conjugate(&self, element: &Element, shape: &Shape) -> Option<Element> {
        let slots = shape.slots();
        if element.images().len() != slots || self.images.len() != slots {
            return None;
        }
        let (mut images, mut turns) = (vec![0; slots], vec![0; slots]);
        for (slot, orientations) in shape.orientations().iter().enumerate() {
            let (from, to) = (element.images()[slot], usize::from(self.images[slot]));
            self.images.get(usize::from(from))?;
            let point = self.image((from, element.turns()[slot]), (slot, *orientations));
            (*images.get_mut(to)?, turns[to]) = point;
        }
        Some(Element::from_parts(images, turns))
    }

    /// The slot and turn that the conjugate of an element brings to the image of `slot`, given the slot and
    /// turn that the element brings to `slot`. `slot` has `orientations` orientations.
    #[inline]
    pub(crate) fn image(
        &self,
        (from, turn): (u16, u8),
        (slot, orientations): (usize, u8),
    ) -> (u16, u8) {
        let from = usize::from(from);
        let turned = (self.factors[slot], turn);
        let turn = relabel(turned, (self.shifts[slot], self.shifts[from]), orientations);
        (self.images[from], turn)
    }
}

/// `factor · turn + add - subtract`, modulo the orientations.
pub(super) fn relabel((factor, turn): (u8, u8), (add, subtract): (u8, u8), orientations: u8) -> u8 {
    let n = u32::from(orientations);
    let sum = u32::from(factor) * u32::from(turn) + u32::from(add) + n - u32::from(subtract) % n;
    (sum % n) as u8
}

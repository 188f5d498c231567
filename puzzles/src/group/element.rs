//! Elements: permutations of slots with orientations.

use num_bigint::BigUint;

use crate::group::error::GroupError;
use crate::group::shape::Shape;

/// A permutation of slots that also turns pieces: an element of a product of wreath products.
///
/// As an arrangement, slot `i` holds piece `images[i]`, turned by `turns[i]`. As a move, what is in
/// slot `images[i]` comes to slot `i` and is turned by `turns[i]`. A move acts from the right:
/// arrangement times move is the next arrangement.
///
/// Products combine elements of one shape. Elements of different shapes have no product; see
/// [`Shape::has`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Element {
    images: Vec<u16>,
    turns: Vec<u8>,
}

impl Element {
    pub(crate) fn from_parts(images: Vec<u16>, turns: Vec<u8>) -> Element {
        Element { images, turns }
    }

    /// By slot, the slot that its piece comes from.
    pub fn images(&self) -> &[u16] {
        &self.images
    }

    /// By slot, the turn of the piece that comes to it.
    pub fn turns(&self) -> &[u8] {
        &self.turns
    }

    /// Whether the element moves and turns nothing.
    pub fn is_identity(&self) -> bool {
        self.fixes_slots() && self.turns.iter().all(|turn| *turn == 0)
    }

    fn fixes_slots(&self) -> bool {
        (0..).zip(&self.images).all(|(slot, image)| slot == *image)
    }

    /// Whether a slot keeps its piece, unturned.
    pub fn fixes(&self, slot: usize) -> bool {
        self.images.get(slot).is_none_or(|image| usize::from(*image) == slot)
            && self.turns.get(slot).is_none_or(|turn| *turn == 0)
    }

    /// The product: first this element, then the other. None if `other` is not of the shape.
    pub fn times(&self, other: &Element, shape: &Shape) -> Option<Element> {
        let (slots, orientations) = (shape.slots(), shape.orientations());
        if self.images.len() != slots || other.images.len() != slots {
            return None;
        }
        let mut product = Element::from_parts(Vec::with_capacity(slots), Vec::with_capacity(slots));
        let parts = other.images.iter().zip(&other.turns).zip(orientations);
        for ((image, turn), orientations) in parts {
            let from = usize::from(*image);
            product.images.push(*self.images.get(from)?);
            product.turns.push(add(*self.turns.get(from)?, *turn, *orientations));
        }
        Some(product)
    }

    /// The inverse element. None if this element is not of the shape.
    pub fn inverse(&self, shape: &Shape) -> Option<Element> {
        let (slots, orientations) = (shape.slots(), shape.orientations());
        if self.images.len() != slots {
            return None;
        }
        let mut inverse = Element::from_parts(vec![0; slots], vec![0; slots]);
        let parts = self.images.iter().zip(&self.turns).zip(orientations);
        for (slot, ((image, turn), orientations)) in (0..).zip(parts) {
            let image = usize::from(*image);
            *inverse.images.get_mut(image)? = slot;
            inverse.turns[image] = (orientations - turn % orientations) % orientations;
        }
        Some(inverse)
    }

    /// The product of `exponent` copies of this element. None if it is not of the shape.
    pub fn power(&self, mut exponent: u64, shape: &Shape) -> Option<Element> {
        let (mut result, mut square) = (shape.identity(), self.clone());
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.times(&square, shape)?;
            }
            exponent >>= 1;
            if exponent > 0 {
                square = square.times(&square, shape)?;
            }
        }
        Some(result)
    }

    /// The cycles of slots, each beginning with its least slot, with the sum of its turns. Fixed slots are
    /// cycles of length 1.
    pub(crate) fn cycles(&self) -> Vec<(Vec<usize>, u64)> {
        let mut seen = vec![false; self.images.len()];
        let mut cycles = Vec::new();
        for first in 0..self.images.len() {
            let (mut slot, mut cycle, mut turns) = (first, Vec::new(), 0);
            while seen.get(slot).is_some_and(|seen| !seen) {
                seen[slot] = true;
                cycle.push(slot);
                turns += u64::from(self.turns[slot]);
                slot = usize::from(self.images[slot]);
            }
            if !cycle.is_empty() {
                cycles.push((cycle, turns));
            }
        }
        cycles
    }

    /// The least exponent, at least 1, whose power is the identity. Orders exceed 64 bits only for
    /// elements with many cycles of different lengths.
    pub fn order(&self, shape: &Shape) -> BigUint {
        let mut order = BigUint::from(1_u32);
        for (cycle, turns) in self.cycles() {
            let orientations = u64::from(shape.orientations().get(cycle[0]).map_or(1, |o| *o));
            // A cycle turns its pieces by the sum of its turns each time it closes.
            let rounds = orientations / gcd(orientations, turns % orientations);
            let length = cycle.len() as u64 * rounds;
            let common = gcd(length, remainder(&order, length));
            order *= length / common;
        }
        order
    }
}

impl Shape {
    /// The element that moves and turns nothing.
    pub fn identity(&self) -> Element {
        let slots = self.slots();
        Element::from_parts((0..slots as u16).collect(), vec![0; slots])
    }

    /// The element that brings to slot `i` what is in slot `images[i]`, turned by `turns[i]`.
    ///
    /// # Errors
    /// If `images` is not a permutation of the slots, a turn is not below the orientations of its slot,
    /// or a slot and its image differ in their orientations.
    pub fn element(&self, images: &[u16], turns: &[u8]) -> Result<Element, GroupError> {
        let slots = self.slots();
        if let Some(given) = [images.len(), turns.len()].into_iter().find(|len| *len != slots) {
            return Err(GroupError::Length { given, slots });
        }
        let mut seen = vec![false; slots];
        for (slot, (image, turn)) in images.iter().zip(turns).enumerate() {
            match seen.get_mut(usize::from(*image)) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(GroupError::NotPermutation { slot, image: *image }),
            }
            let orientations = self.orientations()[slot];
            if *turn >= orientations {
                return Err(GroupError::Turn { slot, turn: *turn, orientations });
            }
            if self.orientations()[usize::from(*image)] != orientations {
                return Err(GroupError::OtherOrientations { slot, image: *image });
            }
        }
        Ok(Element::from_parts(images.to_vec(), turns.to_vec()))
    }

    /// The element that permutes slots and turns nothing.
    ///
    /// # Errors
    /// As [`Self::element`].
    pub fn permutation(&self, images: &[u16]) -> Result<Element, GroupError> {
        self.element(images, &vec![0; self.slots()])
    }

    /// Whether an element is of this shape.
    pub fn has(&self, element: &Element) -> bool {
        self.element(element.images(), element.turns()).is_ok()
    }
}

fn remainder(number: &BigUint, divisor: u64) -> u64 {
    (number % divisor).iter_u64_digits().next().unwrap_or(0)
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The sum of two turns.
pub(crate) fn add(a: u8, b: u8, orientations: u8) -> u8 {
    ((u16::from(a) + u16::from(b)) % u16::from(orientations)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_elements_are_refused_with_the_reason() {
        let shape = Shape::new(vec![3, 3, 2]).unwrap();
        assert!(shape.element(&[1, 0, 2], &[2, 0, 1]).is_ok());
        let error = |images: &[u16], turns: &[u8]| shape.element(images, turns).unwrap_err();
        assert_eq!(error(&[1, 0], &[0, 0, 0]), GroupError::Length { given: 2, slots: 3 });
        let twice = GroupError::NotPermutation { slot: 1, image: 1 };
        assert_eq!(error(&[1, 1, 2], &[0; 3]), twice);
        let outside = GroupError::NotPermutation { slot: 2, image: 3 };
        assert_eq!(error(&[1, 0, 3], &[0; 3]), outside);
        let turned = GroupError::Turn { slot: 0, turn: 3, orientations: 3 };
        assert_eq!(error(&[0, 1, 2], &[3, 0, 0]), turned);
        let mixed = GroupError::OtherOrientations { slot: 1, image: 2 };
        assert_eq!(error(&[0, 2, 1], &[0; 3]), mixed);
    }

    #[test]
    fn the_order_of_an_element_accounts_for_turns() {
        let shape = Shape::new(vec![3, 3, 3, 2, 2]).unwrap();
        // A cycle of three whose turns sum to 1, and a swap whose turns sum to 1.
        let element = shape.element(&[1, 2, 0, 4, 3], &[1, 0, 0, 1, 0]).unwrap();
        assert_eq!(element.order(&shape), BigUint::from(36_u32));
        assert_eq!(element.power(36, &shape), Some(shape.identity()));
        assert_ne!(element.power(18, &shape), Some(shape.identity()));
        assert_eq!(shape.identity().order(&shape), BigUint::from(1_u32));
    }

    #[test]
    fn a_product_applies_the_left_element_first() {
        let shape = Shape::plain(3).unwrap();
        let cycle = shape.permutation(&[1, 2, 0]).unwrap();
        let swap = shape.permutation(&[1, 0, 2]).unwrap();
        // Slot 0 takes what slot 1 had after the cycle, which came from slot 2.
        assert_eq!(cycle.times(&swap, &shape).unwrap().images(), [2, 1, 0]);
        assert_eq!(swap.times(&cycle, &shape).unwrap().images(), [0, 2, 1]);
    }

    #[test]
    fn elements_of_another_shape_have_no_product() {
        let (small, large) = (Shape::plain(2).unwrap(), Shape::plain(3).unwrap());
        assert_eq!(small.identity().times(&large.identity(), &small), None);
        assert_eq!(large.identity().inverse(&small), None);
        assert_eq!(large.identity().power(5, &small), None);
    }
}

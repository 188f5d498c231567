//! Shapes: slots and the number of orientations of each.

use crate::group::error::GroupError;

/// Maximum number of slots of a shape.
pub const MAX_SLOTS: usize = 4096;

/// Slots, each with a number of orientations. Slots of equal orientations can exchange pieces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    orientations: Vec<u8>,
}

impl Shape {
    /// A shape with these orientations by slot, each 1 to 255.
    ///
    /// # Errors
    /// If there are no slots, more than [`MAX_SLOTS`], or 0 orientations.
    pub fn new(orientations: Vec<u8>) -> Result<Shape, GroupError> {
        let slots = orientations.len();
        if slots == 0 || slots > MAX_SLOTS {
            return Err(GroupError::Slots { slots, limit: MAX_SLOTS });
        }
        match orientations.iter().position(|orientations| *orientations == 0) {
            Some(slot) => Err(GroupError::NoOrientation { slot }),
            None => Ok(Shape { orientations }),
        }
    }

    /// A shape of slots with one orientation each.
    ///
    /// # Errors
    /// If there are no slots or more than [`MAX_SLOTS`].
    pub fn plain(slots: usize) -> Result<Shape, GroupError> {
        Shape::new(vec![1; slots.min(MAX_SLOTS + 1)])
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.orientations.len()
    }

    /// Orientations by slot.
    pub fn orientations(&self) -> &[u8] {
        &self.orientations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_bounds() {
        assert!(Shape::new(vec![]).is_err());
        assert_eq!(Shape::new(vec![1, 0]), Err(GroupError::NoOrientation { slot: 1 }));
        assert!(Shape::plain(MAX_SLOTS).is_ok());
        assert!(Shape::plain(usize::MAX).is_err());
    }
}

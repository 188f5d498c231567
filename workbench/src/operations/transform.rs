//! Symmetries of operations: backwards, mirrored, colours swapped.

use std::ops::BitXor;

/// Transformation of a whole operation. The three parts commute, and each is its own inverse.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Transform {
    /// The moves backwards, from the last to the first.
    pub inverse: bool,
    /// L and R swapped: the right version.
    pub mirror: bool,
    /// Blue and orange swapped. The moves stay the same, the positions do not.
    pub star: bool,
}

impl BitXor for Transform {
    type Output = Transform;

    /// Both transformations, in either order.
    fn bitxor(self, other: Transform) -> Transform {
        Transform {
            inverse: self.inverse ^ other.inverse,
            mirror: self.mirror ^ other.mirror,
            star: self.star ^ other.star,
        }
    }
}

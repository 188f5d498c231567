//! The five arrangements of the small tiles at a choke point.

use super::stack::{Stack, Stacks};

/// How the small tiles stand, colours ignored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Shape {
    /// Towers on L and R.
    Sides,
    /// Towers on C and R.
    Right,
    /// As `Right`, but the tile 1 of C lies on top of R.
    RightTipped,
    /// Towers on L and C.
    Left,
    /// As `Left`, but the tile 1 of C lies on top of L.
    LeftTipped,
}

use Shape::{Left, LeftTipped, Right, RightTipped, Sides};

impl Shape {
    pub(crate) const ALL: [Self; 5] = [Sides, Right, RightTipped, Left, LeftTipped];

    /// The shape after the columns L and R change places.
    pub(crate) fn mirror(self) -> Self {
        match self {
            Sides => Sides,
            Right => Left,
            RightTipped => LeftTipped,
            Left => Right,
            LeftTipped => RightTipped,
        }
    }

    /// The shape or its mirror image, whichever has tables, and whether it is the image.
    pub(crate) fn canonical(self) -> (Self, bool) {
        match self {
            Sides | Right | RightTipped => (self, false),
            Left | LeftTipped => (self.mirror(), true),
        }
    }

    /// The columns of the two towers, from left to right.
    pub(crate) fn towers(self) -> [usize; 2] {
        match self {
            Sides => [0, 2],
            Right | RightTipped => [1, 2],
            Left | LeftTipped => [0, 1],
        }
    }

    /// The column without a tower.
    pub(crate) fn free_column(self) -> usize {
        let [left, right] = self.towers();
        3 - left - right
    }

    /// The levels of the tiles up to `small`, column by column.
    pub(crate) fn levels(self, small: u8) -> Stacks {
        let mut columns = [Stack::default(); 3];
        for column in self.towers() {
            columns[column] = (1..=small).rev().collect();
        }
        let onto = match self {
            RightTipped => Some(2),
            LeftTipped => Some(0),
            Sides | Right | Left => None,
        };
        if let (Some(side), Some(one)) = (onto, onto.and_then(|_| columns[1].pop())) {
            columns[side].push(one);
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(levels: &[u8]) -> Stack {
        levels.iter().copied().collect()
    }

    #[test]
    fn shapes_of_level_three() {
        let (tower, none) = (stack(&[3, 2, 1]), stack(&[]));
        assert_eq!(Sides.levels(3), [tower, none, tower]);
        assert_eq!(Right.levels(3), [none, tower, tower]);
        assert_eq!(RightTipped.levels(3), [none, stack(&[3, 2]), stack(&[3, 2, 1, 1])]);
    }

    #[test]
    fn a_mirrored_shape_has_its_columns_reversed() {
        for shape in Shape::ALL {
            let [left, centre, right] = shape.levels(4);
            assert_eq!(shape.mirror().levels(4), [right, centre, left]);
            assert_eq!(shape.mirror().free_column(), 2 - shape.free_column());
            let (canonical, mirrored) = shape.canonical();
            assert_eq!(shape, if mirrored { canonical.mirror() } else { canonical });
        }
    }
}

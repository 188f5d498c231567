//! Signatures: what a segment depends on. Patterns: how a segment leaves the lower tiles.

use super::shape::Shape;
use super::stack::{Stack, Stacks};

/// The lower tile on top of L (or of R, in a mirrored position).
pub(crate) const A: u8 = 0;
/// The topmost lower tile of the centre.
pub(crate) const B: u8 = 1;
/// The lower tile below B.
pub(crate) const C: u8 = 2;

/// Cap of relative levels. At most three lower tiles move in a segment, so greater levels make no
/// difference.
pub(crate) const LEVEL_CAP: u8 = 5;
/// Cap of relative rows of supports, for the same reason.
pub(crate) const ROW_CAP: u8 = 6;

/// Everything the segments of level N from a useful position depend on, relative to N.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Signature {
    /// A canonical shape.
    pub(crate) shape: Shape,
    /// Level less N of the slots A, B, C; 0 where there is no tile.
    pub(crate) lower: [u8; 3],
    /// Row less N of what lies below the slots, in each column.
    pub(crate) support: [u8; 3],
}

/// The end of a segment apart from colours: the shape, and the places of the slot tiles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Pattern {
    pub(crate) end: Shape,
    pub(crate) slots: Stacks,
}

impl Signature {
    /// The start of the puzzle: no lower tile anywhere.
    pub(crate) const EMPTY: Self = Self { shape: Shape::Sides, lower: [0; 3], support: [1; 3] };

    /// The slot tiles where they are at the start.
    pub(crate) fn slots(&self) -> Stacks {
        let mut columns = [Stack::default(); 3];
        for (slot, column) in [(A, 0), (C, 1), (B, 1)] {
            if self.lower[usize::from(slot)] > 0 {
                columns[column].push(slot);
            }
        }
        columns
    }
}

#[cfg(test)]
impl Signature {
    /// All signatures that some position can have, with levels and rows up to these.
    pub(crate) fn all(levels: u8, rows: u8) -> Vec<Self> {
        let mut found = Vec::new();
        let (base, count) = (usize::from(levels) + 1, usize::from(rows));
        for shape in [Shape::Sides, Shape::Right, Shape::RightTipped] {
            for code in 0..base.pow(3) * count.pow(3) {
                let digit = |i: u32| (code / base.pow(i) % base) as u8;
                let rest = code / base.pow(3);
                let row = |i: u32| (rest / count.pow(i) % count) as u8 + 1;
                let signature = Self {
                    shape,
                    lower: [digit(0), digit(1), digit(2)],
                    support: [row(0), row(1), row(2)],
                };
                found.extend(signature.is_possible().then_some(signature));
            }
        }
        found
    }

    fn is_possible(&self) -> bool {
        let [a, b, c] = self.lower;
        let holds_up = |support: u8, tiles: &[u8]| {
            tiles.iter().fold(i16::from(support), |row, &level| {
                if level == 0 { row } else { (row - 1).min(i16::from(level)) }
            }) >= 1
        };
        (self.shape != Shape::Sides || a == 0)
            && (c == 0 || b > 0)
            && holds_up(self.support[0], &[a])
            && holds_up(self.support[1], &[c, b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_tiles_lie_on_their_columns() {
        let signature = Signature { shape: Shape::Right, lower: [2, 1, 3], support: [3; 3] };
        let column = |tiles: &[u8]| tiles.iter().copied().collect::<Stack>();
        assert_eq!(signature.slots(), [column(&[A]), column(&[C, B]), column(&[])]);
        assert_eq!(Signature::EMPTY.slots(), [Stack::default(); 3]);
        assert!(Signature::EMPTY.is_possible());
    }
}

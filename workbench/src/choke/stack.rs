//! A column of tiles as a number, cheap to copy, compare and hash.

/// Up to 16 tiles with ids 0..=14, one nibble each, the topmost in the lowest nibble.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Stack(u64);

/// The stacks of the columns L, C and R.
pub(crate) type Stacks = [Stack; 3];

impl Stack {
    pub(crate) fn push(&mut self, tile: u8) {
        debug_assert!(tile < 15 && self.len() < 16);
        self.0 = self.0 << 4 | u64::from(tile + 1);
    }

    pub(crate) fn pop(&mut self) -> Option<u8> {
        let top = self.top();
        self.0 >>= 4;
        top
    }

    pub(crate) fn top(self) -> Option<u8> {
        ((self.0 & 15) as u8).checked_sub(1)
    }

    pub(crate) fn len(self) -> u32 {
        (64 - self.0.leading_zeros()).div_ceil(4)
    }

    pub(crate) fn bottom_up(self) -> impl DoubleEndedIterator<Item = u8> {
        (0..self.len()).rev().map(move |i| (self.0 >> (4 * i) & 15) as u8 - 1)
    }

    pub(crate) fn contains(self, tile: u8) -> bool {
        self.bottom_up().any(|t| t == tile)
    }
}

impl FromIterator<u8> for Stack {
    /// Tiles from the bottom up.
    fn from_iter<I: IntoIterator<Item = u8>>(tiles: I) -> Self {
        let mut stack = Self::default();
        tiles.into_iter().for_each(|t| stack.push(t));
        stack
    }
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.bottom_up()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_come_back_in_order() {
        let mut stack: Stack = (0..15).collect();
        assert_eq!(stack.len(), 15);
        assert!(stack.bottom_up().eq(0..15));
        assert!(stack.contains(7) && !Stack::default().contains(0));
        for tile in (0..15).rev() {
            assert_eq!(stack.top(), Some(tile));
            assert_eq!(stack.pop(), Some(tile));
        }
        assert_eq!(stack.pop(), None);
        assert_eq!(stack, Stack::default());
    }
}

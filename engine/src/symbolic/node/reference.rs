//! References to sets: node number, self-mirrored bit, flip bit.

/// Reference to a stored set or to its flip. Equal sets have equal references.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Ref(u32);

impl Ref {
    /// The empty set.
    pub(crate) const EMPTY: Ref = Ref(2);

    /// The most sets of a kind.
    pub(crate) const MAX_SETS: usize = 1 << 30;

    /// A reference to the set with a number, which is below [`Self::MAX_SETS`], or to its flip.
    #[inline(always)]
    pub(crate) fn new(id: u32, self_mirrored: bool, flipped: bool) -> Ref {
        debug_assert!(!(self_mirrored && flipped));
        Ref(id << 2 | u32::from(self_mirrored) << 1 | u32::from(flipped))
    }

    /// The number of the stored set.
    #[inline(always)]
    pub(crate) fn id(self) -> usize {
        (self.0 >> 2) as usize
    }

    /// Whether the set equals its flip.
    #[inline(always)]
    pub(crate) fn is_self_mirrored(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether it refers to the flip of the stored set.
    #[inline(always)]
    pub(crate) fn is_flipped(self) -> bool {
        self.0 & 1 != 0
    }

    /// The flip of the set.
    #[inline(always)]
    pub(crate) fn flip(self) -> Ref {
        Ref(self.0 ^ (!(self.0 >> 1) & 1))
    }

    /// The flip of the set if `flip`, otherwise the set.
    #[inline(always)]
    pub(crate) fn flip_if(self, flip: bool) -> Ref {
        Ref(self.0 ^ (!(self.0 >> 1) & u32::from(flip)))
    }

    /// The reference as a word.
    #[inline(always)]
    pub(crate) fn word(self) -> u32 {
        self.0
    }

    /// The reference with a word, the inverse of [`Self::word`].
    #[inline(always)]
    pub(crate) fn from_word(word: u32) -> Ref {
        Ref(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flipping_twice_is_the_identity_and_self_mirrored_sets_stay() {
        let plain = Ref::new(7, false, false);
        assert_eq!(plain.flip(), Ref::new(7, false, true));
        assert_eq!(plain.flip().flip(), plain);
        let self_mirrored = Ref::new(7, true, false);
        assert_eq!(self_mirrored.flip(), self_mirrored);
        assert_eq!(Ref::EMPTY.flip(), Ref::EMPTY);
        assert!(Ref::EMPTY < plain && plain < plain.flip());
        assert_eq!(plain.flip_if(false), plain);
        assert_eq!(Ref::from_word(plain.flip().word()), plain.flip());
    }
}

//! References to sets: a number, whether the set is its own flip, whether its flip is meant.

/// A set, or its flip. Equal sets have equal references.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Ref(u32);

impl Ref {
    /// The empty set.
    pub(crate) const EMPTY: Ref = Ref(2);

    /// The most sets there can be of a kind.
    pub(crate) const MOST: usize = 1 << 30;

    /// The set of a number below [`Self::MOST`], or its flip.
    #[inline(always)]
    pub(crate) fn new(id: u32, symmetric: bool, flipped: bool) -> Ref {
        debug_assert!(!(symmetric && flipped));
        Ref(id << 2 | u32::from(symmetric) << 1 | u32::from(flipped))
    }

    /// The number.
    #[inline(always)]
    pub(crate) fn id(self) -> usize {
        (self.0 >> 2) as usize
    }

    /// Whether the set is its own flip.
    #[inline(always)]
    pub(crate) fn is_symmetric(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether the flip of what is stored is meant.
    #[inline(always)]
    pub(crate) fn is_flipped(self) -> bool {
        self.0 & 1 != 0
    }

    /// The set's flip.
    #[inline(always)]
    pub(crate) fn flip(self) -> Ref {
        Ref(self.0 ^ (!(self.0 >> 1) & 1))
    }

    /// The set's flip if `flip`, else the set.
    #[inline(always)]
    pub(crate) fn flip_if(self, flip: bool) -> Ref {
        Ref(self.0 ^ (!(self.0 >> 1) & u32::from(flip)))
    }

    /// The reference in one word.
    #[inline(always)]
    pub(crate) fn word(self) -> u32 {
        self.0
    }

    /// Undoes [`Self::word`].
    #[inline(always)]
    pub(crate) fn of_word(word: u32) -> Ref {
        Ref(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flip_undoes_itself_and_leaves_symmetric_sets_alone() {
        let plain = Ref::new(7, false, false);
        assert_eq!(plain.flip(), Ref::new(7, false, true));
        assert_eq!(plain.flip().flip(), plain);
        let symmetric = Ref::new(7, true, false);
        assert_eq!(symmetric.flip(), symmetric);
        assert_eq!(Ref::EMPTY.flip(), Ref::EMPTY);
        assert!(Ref::EMPTY < plain && plain < plain.flip());
        assert_eq!(plain.flip_if(false), plain);
        assert_eq!(Ref::of_word(plain.flip().word()), plain.flip());
    }
}

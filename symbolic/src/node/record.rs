//! A node: what hangs below one configuration.

use strata_space::nested::MAX_MOVES;

use crate::index::space::ClassId;

/// Bits of a node's mask of exits.
pub(crate) const MASK_BITS: u32 = 10;

/// A node's number of states when there are as many or more.
pub(crate) const MANY: u32 = u32::MAX;

/// Contents of nodes begin at multiples of so many bytes.
pub(crate) const UNIT: usize = 2;

/// Bytes of a set of exits that is with the content.
pub(crate) const EXIT: usize = size_of::<u32>();

/// Number of bits of every mask of moves: the baseline instruction set has no instruction for it.
const COUNT: [u8; 1 << MAX_MOVES] = {
    let mut count = [0; 1 << MAX_MOVES];
    let mut mask = 0;
    while mask < count.len() {
        count[mask] = (mask as u32).count_ones() as u8;
        mask += 1;
    }
    count
};

#[inline(always)]
pub(crate) fn moves_in(mask: u16) -> usize {
    COUNT[usize::from(mask) % COUNT.len()].into()
}

/// Sets of exits that are part of the node; the others are with its children.
pub(crate) const NEAR: usize = 2;

/// A set of states of two layers below one configuration: the current ones and those before. 32
/// bytes, half of a line of the processor's cache: everything that looking at a child needs.
#[derive(Copy, Clone, Default)]
pub(crate) struct Node {
    /// The fingerprint of what came in when `next` was found.
    pub(crate) incoming: u64,
    /// What became of it then; 0 if nothing is known.
    pub(crate) next: u32,
    /// Where its bytes begin, in units: further sets of exits, then the list of what is below it; in
    /// a leaf two sets of leaf states.
    pub(crate) bytes: u32,
    /// Class, mask of exits.
    pub(crate) meta: u32,
    /// Current states, if less than [`MANY`].
    pub(crate) states: u32,
    /// Sets of exits, by move; 0 if not known yet.
    pub(crate) near: [u32; NEAR],
}

impl Node {
    /// The moves by which something larger may move, a bit each.
    #[inline(always)]
    pub(crate) fn exits(&self) -> u16 {
        (self.meta & ((1 << MASK_BITS) - 1)) as u16
    }

    /// Whether the current set is empty.
    #[inline(always)]
    pub(crate) fn is_hollow(&self) -> bool {
        self.states == 0
    }

    #[inline(always)]
    pub(crate) fn class(&self) -> ClassId {
        self.meta >> MASK_BITS
    }

    /// Number of sets of exits that are with the content.
    #[inline(always)]
    pub(crate) fn far(&self) -> usize {
        moves_in(self.exits()).saturating_sub(NEAR)
    }

    /// Where its bytes begin.
    #[inline(always)]
    pub(crate) fn begin(&self) -> usize {
        self.bytes as usize * UNIT
    }

    /// Where its content begins.
    #[inline(always)]
    pub(crate) fn content(&self) -> usize {
        self.begin() + self.far() * EXIT
    }
}

/// Sets of leaf states of two layers.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct LeafSets {
    pub(crate) current: u64,
    pub(crate) previous: u64,
}

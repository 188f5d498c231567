//! A node: what hangs below one configuration.

use strata_space::nested::MAX_MOVES;

use crate::levels::ClassId;

/// Bits of a node's mask of exits.
pub(crate) const MASK_BITS: u32 = 10;

/// Where a node's mask says that its current set is empty.
pub(crate) const HOLLOW: u32 = 1 << MASK_BITS;

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
pub(crate) const NEAR: usize = 3;

/// A set of states of two layers below one configuration: the current ones and those before. 32
/// bytes, half of a line of the processor's cache: everything that looking at a child needs.
#[derive(Copy, Clone, Default)]
pub(crate) struct Node {
    /// The fingerprint of what came in when `next` was found.
    pub(crate) incoming: u64,
    /// What became of it then; 0 if nothing is known.
    pub(crate) next: u32,
    /// Where its words begin: further sets of exits, then the set of its configurations (two words)
    /// and what is below each, in order; in a leaf two sets of leaf states (two words each).
    pub(crate) words: u32,
    /// Class, hollow, mask of exits.
    pub(crate) meta: u32,
    /// Sets of exits, by move; 0 if not known yet.
    pub(crate) near: [u32; NEAR],
}

impl Node {
    /// The moves by which something larger may move, a bit each.
    #[inline(always)]
    pub(crate) fn exits(&self) -> u16 {
        (self.meta & (HOLLOW - 1)) as u16
    }

    /// Whether the current set is empty.
    #[inline(always)]
    pub(crate) fn is_hollow(&self) -> bool {
        self.meta & HOLLOW != 0
    }

    #[inline(always)]
    pub(crate) fn class(&self) -> ClassId {
        self.meta >> (MASK_BITS + 1)
    }

    /// Number of words of exits before the others.
    #[inline(always)]
    pub(crate) fn far(&self) -> usize {
        moves_in(self.exits()).saturating_sub(NEAR)
    }

    /// Where its content begins.
    #[inline(always)]
    pub(crate) fn content(&self) -> usize {
        self.words as usize + self.far()
    }
}

/// Sets of leaf states of two layers.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct LeafSets {
    pub(crate) current: u64,
    pub(crate) previous: u64,
}

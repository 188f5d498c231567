//! Node records.

use strata_space::nested::MAX_MOVE_KINDS;

use crate::symbolic::index::space::ClassId;

/// Number of bits of a node's mask of exit moves.
pub(crate) const EXIT_MASK_BITS: u32 = 10;

/// Value of a node's state count if the count is stored in `LargeCounts`.
pub(crate) const LARGE: u32 = u32::MAX;

/// Number of bytes in a unit. Contents begin at multiples of it.
pub(crate) const CONTENT_UNIT: usize = 2;

/// Number of bytes of an exit set's reference in the content.
pub(crate) const EXIT_BYTES: usize = size_of::<u32>();

/// Population counts of all move masks: the baseline instruction set has no instruction for it.
const MOVE_COUNTS: [u8; 1 << MAX_MOVE_KINDS] = {
    let mut count = [0; 1 << MAX_MOVE_KINDS];
    let mut mask = 0;
    while mask < count.len() {
        count[mask] = (mask as u32).count_ones() as u8;
        mask += 1;
    }
    count
};

/// Number of moves in a mask.
#[inline(always)]
pub(crate) fn count_moves(mask: u16) -> usize {
    MOVE_COUNTS[usize::from(mask) % MOVE_COUNTS.len()].into()
}

/// Number of exit sets that are stored in the record. The others precede the content.
pub(crate) const INLINE_EXITS: usize = 2;

/// A set of states of two layers, current and previous, below one configuration.
///
/// A record has 32 bytes, half a cache line, and everything that a step reads of a child.
#[derive(Copy, Clone, Default)]
pub(crate) struct Node {
    /// Fingerprint of the incoming sets of the memoised step.
    pub(crate) incoming: u64,
    /// Successor of the memoised step, as a word; 0 if there is none.
    pub(crate) next: u32,
    /// Offset, in units, of the node's bytes: the exit sets that are not inline, then the content.
    pub(crate) begin: u32,
    /// Class, and mask of exit moves.
    pub(crate) meta: u32,
    /// Number of current states, up to [`LARGE`].
    pub(crate) states: u32,
    /// The first exit sets, by move; 0 if not derived yet.
    pub(crate) inline_exits: [u32; INLINE_EXITS],
}

impl Node {
    /// The exit moves, as a bit mask.
    #[inline(always)]
    pub(crate) fn exit_moves(&self) -> u16 {
        (self.meta & ((1 << EXIT_MASK_BITS) - 1)) as u16
    }

    /// Whether there are no current states.
    #[inline(always)]
    pub(crate) fn has_no_states(&self) -> bool {
        self.states == 0
    }

    #[inline(always)]
    pub(crate) fn class(&self) -> ClassId {
        self.meta >> EXIT_MASK_BITS
    }

    /// Number of exit sets stored with the content.
    #[inline(always)]
    pub(crate) fn overflow_exits(&self) -> usize {
        count_moves(self.exit_moves()).saturating_sub(INLINE_EXITS)
    }

    /// Offset of the node's bytes, in bytes.
    #[inline(always)]
    pub(crate) fn begin_byte(&self) -> usize {
        self.begin as usize * CONTENT_UNIT
    }

    /// Offset of the node's content, in bytes.
    #[inline(always)]
    pub(crate) fn content_byte(&self) -> usize {
        self.begin_byte() + self.overflow_exits() * EXIT_BYTES
    }
}

/// Leaf states of two layers, as bit masks.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct LeafSets {
    pub(crate) current: u64,
    pub(crate) previous: u64,
}

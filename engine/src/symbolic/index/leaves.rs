//! Tables of the leaf states that do not depend on classes: images, exits and weights.

use strata_space::Weight;
use strata_space::nested::MAX_MOVE_KINDS;

use crate::symbolic::index::bits::bits;

/// Images, exits and weights, by leaf state.
#[derive(Clone)]
pub(crate) struct LeafTable {
    pub(super) flip: Vec<u8>,
    pub(super) exchange: Vec<u8>,
    pub(super) after_exit: Vec<[u8; MAX_MOVE_KINDS as usize]>,
    /// Weight of each leaf state and of its flip.
    pub(crate) weights: Vec<[Weight; 2]>,
}

impl LeafTable {
    pub(crate) fn flip(&self, set: u64) -> u64 {
        bits(set).fold(0, |flip, leaf| flip | 1 << self.flip[leaf])
    }

    pub(crate) fn exchange(&self, set: u64) -> u64 {
        bits(set).fold(0, |image, leaf| image | 1 << self.exchange[leaf])
    }

    pub(crate) fn after_exit(&self, leaf: usize, kind: usize) -> u8 {
        self.after_exit[leaf][kind]
    }

    pub(crate) fn is_self_mirrored(&self, leaf: usize) -> bool {
        usize::from(self.flip[leaf]) == leaf
    }
}

//! Leaves.

use strata_space::Weight;
use strata_space::nested::MAX_MOVES;

use crate::index::bits::bits;

/// Leaf states: what does not depend on the class.
#[derive(Clone)]
pub(crate) struct Leaves {
    pub(super) flip: Vec<u8>,
    pub(super) exchange: Vec<u8>,
    pub(super) leave: Vec<[u8; MAX_MOVES as usize]>,
    /// Each one's own weight and its flip's.
    pub(crate) weights: Vec<[Weight; 2]>,
}

impl Leaves {
    pub(crate) fn flip(&self, set: u64) -> u64 {
        bits(set).fold(0, |flip, leaf| flip | 1 << self.flip[leaf])
    }

    pub(crate) fn exchange(&self, set: u64) -> u64 {
        bits(set).fold(0, |image, leaf| image | 1 << self.exchange[leaf])
    }

    pub(crate) fn leave(&self, leaf: usize, mv: usize) -> u8 {
        self.leave[leaf][mv]
    }

    pub(crate) fn is_fixed(&self, leaf: usize) -> bool {
        usize::from(self.flip[leaf]) == leaf
    }
}

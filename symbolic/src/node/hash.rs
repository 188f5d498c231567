//! Hash.

use crate::index::bits::Configs;
use crate::index::space::ClassId;
use crate::node::record::LeafSets;

/// A strong mix of one word into another.
#[inline(always)]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX2: u64 = 0xa076_1d64_78bd_642f;

/// The hash of a class and a node's content, or a set's.
#[inline]
pub(crate) fn hash(class: ClassId, configs: Configs, below: &[u32]) -> u64 {
    let mut hash = fold(configs.0 ^ MIX, u64::from(class) ^ MIX2);
    let mut pairs = below.chunks_exact(2);
    for pair in &mut pairs {
        let word = u64::from(pair[0]) | u64::from(pair[1]) << 32;
        hash = fold(hash ^ word, MIX);
    }
    for word in pairs.remainder() {
        hash = fold(hash ^ u64::from(*word), MIX2);
    }
    fold(hash ^ MIX2, MIX)
}

/// The hash of a leaf node.
pub(crate) fn leaf_hash(class: ClassId, sets: LeafSets) -> u64 {
    fold(fold(sets.current ^ MIX, u64::from(class) ^ MIX2) ^ sets.previous, MIX)
}

/// The hash of a set of exits of the leaf.
pub(crate) fn leaf_exits_hash(set: u64) -> u64 {
    fold(set ^ MIX, MIX2)
}

//! Hashes of contents.

use crate::symbolic::index::bits::ConfigSet;
use crate::symbolic::index::space::ClassId;
use crate::symbolic::node::record::LeafSets;

/// Mixes two words into one, by folding their product.
#[inline(always)]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX2: u64 = 0xa076_1d64_78bd_642f;

/// Hash of a class and a list of children.
#[inline]
pub(crate) fn hash_list(class: ClassId, configs: ConfigSet, children: &[u32]) -> u64 {
    let mut hash = mix(configs.0 ^ MIX, u64::from(class) ^ MIX2);
    let mut pairs = children.chunks_exact(2);
    for pair in &mut pairs {
        let word = u64::from(pair[0]) | u64::from(pair[1]) << 32;
        hash = mix(hash ^ word, MIX);
    }
    for word in pairs.remainder() {
        hash = mix(hash ^ u64::from(*word), MIX2);
    }
    mix(hash ^ MIX2, MIX)
}

/// Hash of a class and a leaf's states.
pub(crate) fn hash_leaf(class: ClassId, sets: LeafSets) -> u64 {
    mix(mix(sets.current ^ MIX, u64::from(class) ^ MIX2) ^ sets.previous, MIX)
}

/// Hash of a leaf exit set.
pub(crate) fn hash_leaf_exits(set: u64) -> u64 {
    mix(set ^ MIX, MIX2)
}

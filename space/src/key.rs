//! Integers that are keys of states.

use std::fmt::Debug;
use std::hash::Hash;

use crate::digest::{Weight, mix};

/// An integer type for the keys of a [`KeySpace`](crate::KeySpace): `u64` or `u128`.
pub trait Key: Copy + Ord + Hash + Debug + Send + Sync + private::Sealed + 'static {
    /// Bits of the type.
    const BITS: u32;

    /// The key as the widest type.
    fn widen(self) -> u128;

    /// The key without its `bits` low bits, at most 31, and these.
    fn split(self, bits: u32) -> (u128, u32);

    /// The inverse of [`Self::split`].
    fn join(high: u128, low: u32, bits: u32) -> Self;

    /// The hash of a key as its weight. Equal numbers of either type have equal weights.
    fn weight(self) -> Weight {
        let wide = self.widen();
        let (high, low) = ((wide >> u64::BITS) as u64, wide as u64);
        Weight::hash(if high == 0 { low } else { mix(high) ^ low })
    }
}

impl Key for u64 {
    const BITS: u32 = u64::BITS;

    #[inline]
    fn widen(self) -> u128 {
        self.into()
    }

    #[inline]
    fn split(self, bits: u32) -> (u128, u32) {
        ((self >> bits).into(), self as u32 & ((1 << bits) - 1))
    }

    #[inline]
    fn join(high: u128, low: u32, bits: u32) -> u64 {
        (high as u64) << bits | u64::from(low)
    }
}

impl Key for u128 {
    const BITS: u32 = u128::BITS;

    #[inline]
    fn widen(self) -> u128 {
        self
    }

    #[inline]
    fn split(self, bits: u32) -> (u128, u32) {
        (self >> bits, self as u32 & ((1 << bits) - 1))
    }

    #[inline]
    fn join(high: u128, low: u32, bits: u32) -> u128 {
        high << bits | u128::from(low)
    }
}

mod private {
    pub trait Sealed {}

    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_depend_on_all_bits_and_not_on_the_type() {
        assert_eq!(7_u64.weight(), 7_u128.weight());
        assert_eq!(u64::MAX.weight(), u128::from(u64::MAX).weight());
        let mut all: Vec<_> = (0..128).map(|bit| (1_u128 << bit).weight().0).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 128);
    }
}

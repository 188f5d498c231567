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

    /// The low bits of an integer.
    fn truncate(wide: u128) -> Self;

    /// Maps the keys of `bits` bits to themselves, one to one, such that keys with something in common
    /// lie anywhere. `bits` is at least 1.
    fn spread(self, bits: u32) -> Self;

    /// The inverse of [`Self::spread`].
    fn gather(self, bits: u32) -> Self;

    /// The hash of a key as its weight. Equal numbers of either type have equal weights.
    #[inline]
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
    fn truncate(wide: u128) -> u64 {
        wide as u64
    }

    #[inline]
    fn spread(self, bits: u32) -> u64 {
        let mask = u64::MAX >> (u64::BITS - bits);
        let first = self.wrapping_mul(FACTOR as u64) & mask;
        (first ^ first >> (bits / 2 + 1)).wrapping_mul(FACTOR as u64) & mask
    }

    #[inline]
    fn gather(self, bits: u32) -> u64 {
        const BACK: u64 = inverse(FACTOR) as u64;
        let mask = u64::MAX >> (u64::BITS - bits);
        let first = self.wrapping_mul(BACK) & mask;
        (first ^ first >> (bits / 2 + 1)).wrapping_mul(BACK) & mask
    }
}

impl Key for u128 {
    const BITS: u32 = u128::BITS;

    #[inline]
    fn widen(self) -> u128 {
        self
    }

    #[inline]
    fn truncate(wide: u128) -> u128 {
        wide
    }

    #[inline]
    fn spread(self, bits: u32) -> u128 {
        let mask = u128::MAX >> (u128::BITS - bits);
        let first = self.wrapping_mul(FACTOR) & mask;
        (first ^ first >> (bits / 2 + 1)).wrapping_mul(FACTOR) & mask
    }

    #[inline]
    fn gather(self, bits: u32) -> u128 {
        const BACK: u128 = inverse(FACTOR);
        let mask = u128::MAX >> (u128::BITS - bits);
        let first = self.wrapping_mul(BACK) & mask;
        (first ^ first >> (bits / 2 + 1)).wrapping_mul(BACK) & mask
    }
}

/// An odd factor: a product with it depends on all lower bits.
const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// The inverse of an odd number modulo 2^128.
const fn inverse(odd: u128) -> u128 {
    // An odd number is its own inverse modulo 8, and each step doubles the number of right bits.
    let (mut found, mut bits) = (odd, 3);
    while bits < u128::BITS {
        found = found.wrapping_mul(2_u128.wrapping_sub(odd.wrapping_mul(found)));
        bits *= 2;
    }
    found
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
    fn keys_of_any_width_are_spread_one_to_one() {
        for bits in 1..=128 {
            let mask = u128::MAX >> (128 - bits);
            let numbers = (0..200).flat_map(|i| [i, mask ^ i, mask / 3 + i, i << 100]);
            for key in numbers.map(|key| key & mask) {
                let far = key.spread(bits);
                assert_eq!((far & mask, far.gather(bits)), (far, key));
                if let Some(far) = (bits <= 64).then(|| (key as u64).spread(bits)) {
                    assert_eq!((far & mask as u64, far.gather(bits)), (far, key as u64));
                }
            }
        }
        let mut all: Vec<u64> = (0..1 << 12).map(|key: u64| key.spread(12)).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1 << 12));
    }

    #[test]
    fn neighbouring_keys_are_spread_evenly() {
        for shift in [0, 20, 40] {
            let mut regions = [0_u32; 16];
            for key in 0..1600_u64 {
                regions[((key << shift).spread(60) >> 56) as usize] += 1;
            }
            assert!(regions.iter().all(|count| (50..150).contains(count)), "{regions:?}");
        }
    }

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

//! Integers that are keys of states.

use std::fmt::Debug;
use std::hash::Hash;

use crate::digest::{Digest, Weight, mix};
use crate::key192::Key192;

/// An integer type for the keys of a [`KeySpace`](crate::KeySpace): `u64`, `u128` or [`Key192`].
pub trait Key: Copy + Ord + Hash + Debug + Send + Sync + private::Sealed + 'static {
    /// Bits of the type.
    const BITS: u32;

    /// Splits the key at bit `low_bits`, which is at most 128: returns (high part, low part). Of the
    /// high part, only the lowest 128 bits are returned.
    fn split(self, low_bits: u32) -> (u128, u128);

    /// Joins the parts of a key: the inverse of [`Self::split`]. Bits that do not fit are lost.
    fn join(high: u128, low: u128, low_bits: u32) -> Self;

    /// Hashes a key of `bits` bits to `bits` bits, one to one: similar keys are spread over the whole
    /// range. `bits` is at least 1. Equal numbers of any type have equal images.
    fn spread(self, bits: u32) -> Self;

    /// The inverse of [`Self::spread`].
    fn gather(self, bits: u32) -> Self;

    /// A 64-bit word that depends on all bits of the key. Equal numbers of any type have equal words.
    fn word(self) -> u64;

    /// The hash of a key as its weight. Equal numbers of any type have equal weights.
    #[inline]
    fn weight(self) -> Weight {
        Weight::hash(self.word())
    }

    /// The sum of the weights of keys.
    #[inline]
    fn digest(keys: &[Self]) -> Digest {
        Weight::sum_of_hashes(keys.iter().map(|key| key.word()))
    }
}

impl Key for u64 {
    const BITS: u32 = u64::BITS;

    #[inline]
    fn split(self, low_bits: u32) -> (u128, u128) {
        let low = self & !u64::MAX.unbounded_shl(low_bits);
        (self.unbounded_shr(low_bits).into(), low.into())
    }

    #[inline]
    fn join(high: u128, low: u128, low_bits: u32) -> u64 {
        (high as u64).unbounded_shl(low_bits) | low as u64
    }

    #[inline]
    fn spread(self, bits: u32) -> u64 {
        let mask = u64::MAX >> (u64::BITS - bits);
        let first = self.wrapping_mul(FACTOR.low() as u64) & mask;
        (first ^ first >> (bits / 2 + 1)).wrapping_mul(FACTOR.low() as u64) & mask
    }

    #[inline]
    fn gather(self, bits: u32) -> u64 {
        const BACK: u64 = inverse(FACTOR).low() as u64;
        let mask = u64::MAX >> (u64::BITS - bits);
        let first = self.wrapping_mul(BACK) & mask;
        (first ^ first >> (bits / 2 + 1)).wrapping_mul(BACK) & mask
    }

    #[inline]
    fn word(self) -> u64 {
        self
    }
}

impl Key for u128 {
    const BITS: u32 = u128::BITS;

    #[inline]
    fn split(self, low_bits: u32) -> (u128, u128) {
        (self.unbounded_shr(low_bits), self & !u128::MAX.unbounded_shl(low_bits))
    }

    #[inline]
    fn join(high: u128, low: u128, low_bits: u32) -> u128 {
        high.unbounded_shl(low_bits) | low
    }

    #[inline]
    fn spread(self, bits: u32) -> u128 {
        let mask = u128::MAX >> (u128::BITS - bits);
        let first = self.wrapping_mul(FACTOR.low()) & mask;
        (first ^ first >> (bits / 2 + 1)).wrapping_mul(FACTOR.low()) & mask
    }

    #[inline]
    fn gather(self, bits: u32) -> u128 {
        const BACK: u128 = inverse(FACTOR).low();
        let mask = u128::MAX >> (u128::BITS - bits);
        let first = self.wrapping_mul(BACK) & mask;
        (first ^ first >> (bits / 2 + 1)).wrapping_mul(BACK) & mask
    }

    #[inline]
    fn word(self) -> u64 {
        let (high, low) = ((self >> u64::BITS) as u64, self as u64);
        if high == 0 { low } else { mix(high) ^ low }
    }
}

impl Key for Key192 {
    const BITS: u32 = Key192::BITS;

    #[inline]
    fn split(self, low_bits: u32) -> (u128, u128) {
        ((self >> low_bits).low(), self.low() & !u128::MAX.unbounded_shl(low_bits))
    }

    #[inline]
    fn join(high: u128, low: u128, low_bits: u32) -> Key192 {
        (Key192::from(high) << low_bits) + Key192::from(low)
    }

    #[inline]
    fn spread(self, bits: u32) -> Key192 {
        let mask = Key192::mask(bits);
        let first = (self * FACTOR) & mask;
        ((first ^ first >> (bits / 2 + 1)) * FACTOR) & mask
    }

    #[inline]
    fn gather(self, bits: u32) -> Key192 {
        const BACK: Key192 = inverse(FACTOR);
        let mask = Key192::mask(bits);
        let first = (self * BACK) & mask;
        ((first ^ first >> (bits / 2 + 1)) * BACK) & mask
    }

    #[inline]
    fn word(self) -> u64 {
        match self.high() {
            0 => self.low().word(),
            high => {
                let middle = (self.low() >> u64::BITS) as u64;
                mix(mix(high) ^ middle) ^ self.low() as u64
            }
        }
    }
}

/// An odd factor: a product with it depends on all lower bits.
const FACTOR: Key192 =
    Key192::new(0x8c6b_2e19_f0a4_d357, 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);

/// The inverse of an odd number modulo 2^192.
const fn inverse(odd: Key192) -> Key192 {
    // An odd number is its own inverse modulo 8, and each step doubles the number of correct bits.
    let (mut found, mut bits) = (odd, 3);
    while bits < Key192::BITS {
        found = found.times(Key192::new(0, 2).minus(odd.times(found)));
        bits *= 2;
    }
    found
}

mod private {
    pub trait Sealed {}

    impl Sealed for u64 {}
    impl Sealed for u128 {}
    impl Sealed for crate::key192::Key192 {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check<K: Key>(key: K, bits: u32) {
        let far = key.spread(bits);
        assert_eq!((far.gather(bits), key.gather(bits).spread(bits)), (key, key), "{bits} bits");
    }

    proptest! {
        #[test]
        fn keys_of_any_width_are_spread_one_to_one(high: u64, low: u128, bits in 1_u32..=192) {
            let key = Key192::new(high, low) & Key192::mask(bits);
            for key in [key, Key192::mask(bits) - key, key >> (bits / 2)] {
                check(key, bits);
                prop_assert!(key.spread(bits) <= Key192::mask(bits));
                let far = key.spread(bits);
                if bits <= 128 {
                    check(key.low(), bits);
                    prop_assert_eq!(Key192::from(key.low().spread(bits)), far);
                }
                if bits <= 64 {
                    check(key.low() as u64, bits);
                    prop_assert_eq!(Key192::from((key.low() as u64).spread(bits)), far);
                }
            }
        }

        #[test]
        fn join_is_the_inverse_of_split(high: u64, low: u128, low_bits in 64_u32..=128) {
            let key = Key192::new(high, low);
            let (first, second) = key.split(low_bits);
            prop_assert_eq!(Key192::join(first, second, low_bits), key);
            prop_assert_eq!(second.unbounded_shr(low_bits), 0);
            for low_bits in [low_bits - 64, low_bits] {
                let (first, second) = low.split(low_bits);
                prop_assert_eq!(u128::join(first, second, low_bits), low);
                prop_assert_eq!(second.unbounded_shr(low_bits), 0);
                let (first, second) = high.split(low_bits);
                prop_assert_eq!(u64::join(first, second, low_bits), high);
                prop_assert_eq!((first, second), u128::from(high).split(low_bits));
                prop_assert_eq!((first, second), Key192::from(high).split(low_bits));
            }
        }
    }

    #[test]
    fn a_spread_of_few_bits_is_a_permutation() {
        let mut all: Vec<u64> = (0..1 << 12).map(|key: u64| key.spread(12)).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1 << 12));
    }

    #[test]
    fn neighbouring_keys_are_spread_evenly() {
        for shift in [0, 20, 40] {
            let [mut regions, mut wide] = [[0_u32; 16]; 2];
            for key in 0..1600_u64 {
                regions[((key << shift).spread(60) >> 56) as usize] += 1;
                let far = (Key192::from(key) << (3 * shift)).spread(192);
                wide[(far >> 188).low() as usize] += 1;
            }
            for regions in [regions, wide] {
                assert!(regions.iter().all(|count| (50..150).contains(count)), "{regions:?}");
            }
        }
    }

    #[test]
    fn weights_depend_on_all_bits_and_not_on_the_type() {
        assert_eq!(7_u64.weight(), 7_u128.weight());
        assert_eq!(u64::MAX.weight(), u128::from(u64::MAX).weight());
        assert_eq!(u128::MAX.weight(), Key192::from(u128::MAX).weight());
        let mut all: Vec<_> = (0..192).map(|bit| (Key192::from(1_u64) << bit).weight().0).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 192);
    }
}

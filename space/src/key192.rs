//! Integers of 192 bits.

use std::fmt;
use std::ops::{Add, BitAnd, BitXor, Mul, Shl, Shr, Sub};

/// An integer of 192 bits, as the key of a state.
///
/// `+`, `-` and `*` are modulo 2^192.
///
/// ```
/// use strata_space::Key192;
///
/// let key = Key192::from(u128::MAX) * Key192::from(10_u64) + Key192::from(3_u64);
/// assert_eq!((key.high(), key.low()), (9, u128::MAX - 6));
/// let ten = Key192::from(10_u64);
/// assert_eq!(key.divided_by(ten), (Key192::from(u128::MAX), Key192::from(3_u64)));
/// assert_eq!(key >> 128, Key192::from(9_u64));
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key192 {
    high: u64,
    low: u128,
}

impl Key192 {
    /// Bits of an integer.
    pub const BITS: u32 = u64::BITS + u128::BITS;

    /// The greatest integer.
    pub const MAX: Key192 = Key192::new(u64::MAX, u128::MAX);

    /// The integer `high` · 2^128 + `low`.
    #[inline]
    #[must_use]
    pub const fn new(high: u64, low: u128) -> Key192 {
        Key192 { high, low }
    }

    /// The 64 high bits.
    #[inline]
    #[must_use]
    pub const fn high(self) -> u64 {
        self.high
    }

    /// The 128 low bits.
    #[inline]
    #[must_use]
    pub const fn low(self) -> u128 {
        self.low
    }

    #[inline]
    pub(crate) const fn times(self, other: Key192) -> Key192 {
        let [a0, a1] = [self.low as u64, (self.low >> 64) as u64];
        let [b0, b1] = [other.low as u64, (other.low >> 64) as u64];
        // Bits 128 to 191 of the product of the low parts.
        let low = a0 as u128 * b0 as u128;
        let [first, second] = [a0 as u128 * b1 as u128, a1 as u128 * b0 as u128];
        let middle = (low >> 64) + (first as u64 as u128) + (second as u64 as u128);
        let carried = (middle >> 64) as u64;
        let high = carried
            .wrapping_add((first >> 64) as u64)
            .wrapping_add((second >> 64) as u64)
            .wrapping_add(a1.wrapping_mul(b1))
            .wrapping_add(self.high.wrapping_mul(b0))
            .wrapping_add(a0.wrapping_mul(other.high));
        Key192 { high, low: self.low.wrapping_mul(other.low) }
    }

    #[inline]
    pub(crate) const fn minus(self, other: Key192) -> Key192 {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Key192 { high: self.high.wrapping_sub(other.high).wrapping_sub(borrow as u64), low }
    }

    /// Quotient and remainder.
    ///
    /// # Panics
    /// If `divisor` is 0.
    #[must_use]
    pub fn divided_by(self, divisor: Key192) -> (Key192, Key192) {
        match (self.high, divisor.high, u64::try_from(divisor.low)) {
            (0, 0, _) => {
                (Key192::from(self.low / divisor.low), Key192::from(self.low % divisor.low))
            }
            (_, 0, Ok(short)) => self.divided_by_short(short),
            _ => self.divided_by_long(divisor),
        }
    }

    fn divided_by_short(self, divisor: u64) -> (Key192, Key192) {
        // Digits of 64 bits, the highest first.
        let divisor = u128::from(divisor);
        let (high, rest) = (u128::from(self.high) / divisor, u128::from(self.high) % divisor);
        let next = rest << 64 | self.low >> 64;
        let (middle, rest) = (next / divisor, next % divisor);
        let next = rest << 64 | self.low & u128::from(u64::MAX);
        let quotient = Key192 { high: high as u64, low: (middle << 64) | (next / divisor) };
        (quotient, Key192::from(next % divisor))
    }

    /// For divisors that are not 0.
    fn divided_by_long(self, divisor: Key192) -> (Key192, Key192) {
        let (mut quotient, mut rest) = (Key192::default(), self);
        // One bit of the quotient at a time, the highest first.
        let mut left = self.length().checked_sub(divisor.length());
        while let Some(shift) = left {
            let multiple = divisor << shift;
            if multiple <= rest {
                rest = rest - multiple;
                quotient = quotient + (Key192::from(1_u64) << shift);
            }
            left = shift.checked_sub(1);
        }
        (quotient, rest)
    }

    /// Number of bits, without leading zeros.
    fn length(self) -> u32 {
        match self.high {
            0 => u128::BITS - self.low.leading_zeros(),
            high => Key192::BITS - high.leading_zeros(),
        }
    }

    /// The integer whose lowest `bits` bits are set.
    #[inline]
    pub(crate) fn mask(bits: u32) -> Key192 {
        Key192::MAX >> (Key192::BITS - bits)
    }
}

impl From<u64> for Key192 {
    #[inline]
    fn from(low: u64) -> Key192 {
        Key192 { high: 0, low: low.into() }
    }
}

impl From<u128> for Key192 {
    #[inline]
    fn from(low: u128) -> Key192 {
        Key192 { high: 0, low }
    }
}

impl Add for Key192 {
    type Output = Key192;

    #[inline]
    fn add(self, other: Key192) -> Key192 {
        let (low, carry) = self.low.overflowing_add(other.low);
        Key192 { high: self.high.wrapping_add(other.high).wrapping_add(carry.into()), low }
    }
}

impl Sub for Key192 {
    type Output = Key192;

    #[inline]
    fn sub(self, other: Key192) -> Key192 {
        self.minus(other)
    }
}

impl Mul for Key192 {
    type Output = Key192;

    #[inline]
    fn mul(self, other: Key192) -> Key192 {
        self.times(other)
    }
}

impl BitAnd for Key192 {
    type Output = Key192;

    #[inline]
    fn bitand(self, other: Key192) -> Key192 {
        Key192 { high: self.high & other.high, low: self.low & other.low }
    }
}

impl BitXor for Key192 {
    type Output = Key192;

    #[inline]
    fn bitxor(self, other: Key192) -> Key192 {
        Key192 { high: self.high ^ other.high, low: self.low ^ other.low }
    }
}

/// Shifts by any number of bits; bits shifted beyond 192 are lost.
impl Shl<u32> for Key192 {
    type Output = Key192;

    #[inline]
    fn shl(self, bits: u32) -> Key192 {
        let from_low = match bits.checked_sub(u128::BITS) {
            None => self.low.unbounded_shr(u128::BITS - bits) as u64,
            Some(more) => self.low.unbounded_shl(more) as u64,
        };
        Key192 { high: self.high.unbounded_shl(bits) | from_low, low: self.low.unbounded_shl(bits) }
    }
}

/// Shifts by any number of bits.
impl Shr<u32> for Key192 {
    type Output = Key192;

    #[inline]
    fn shr(self, bits: u32) -> Key192 {
        let high = u128::from(self.high);
        let from_high = match bits.checked_sub(u128::BITS) {
            None => high.unbounded_shl(u128::BITS - bits),
            Some(more) => high.unbounded_shr(more),
        };
        Key192 {
            high: self.high.unbounded_shr(bits),
            low: self.low.unbounded_shr(bits) | from_high,
        }
    }
}

/// In hexadecimal digits.
impl fmt::Debug for Key192 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x}_{:032x}", self.high, self.low)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Digits of 32 bits, the lowest first.
    fn digits(key: Key192) -> [u64; 6] {
        [0, 1, 2, 3, 4, 5].map(|digit| {
            let word = if digit < 4 { key.low >> (32 * digit) } else { 0 };
            let high = if digit < 4 { 0 } else { key.high >> (32 * (digit - 4)) };
            (word as u64 | high) & 0xffff_ffff
        })
    }

    fn of(digits: [u64; 6]) -> Key192 {
        let low = (0..4).map(|digit| u128::from(digits[digit]) << (32 * digit)).sum();
        Key192 { high: digits[5] << 32 | digits[4], low }
    }

    /// Sums of products of digits, with carries.
    fn carried(sums: [u128; 6]) -> Key192 {
        let mut carry = 0;
        of(sums.map(|sum| {
            let all = sum + carry;
            carry = all >> 32;
            all as u64 & 0xffff_ffff
        }))
    }

    fn key() -> impl Strategy<Value = Key192> {
        (any::<u64>(), any::<u128>(), 0_u32..193)
            .prop_map(|(high, low, shift)| Key192 { high, low } >> shift)
    }

    proptest! {
        #[test]
        fn sums_and_products_equal_those_of_digit_arithmetic(a in key(), b in key()) {
            let (x, y) = (digits(a), digits(b));
            prop_assert_eq!(of(x), a);
            let mut product = [0_u128; 6];
            for (i, j) in (0..6).flat_map(|i| (0..6 - i).map(move |j| (i, j))) {
                product[i + j] += u128::from(x[i] * y[j]);
            }
            prop_assert_eq!(a * b, carried(product));
            let sum: [u128; 6] = std::array::from_fn(|i| u128::from(x[i] + y[i]));
            prop_assert_eq!(a + b, carried(sum));
            prop_assert_eq!(a + b - b, a);
            prop_assert_eq!(a.cmp(&b), x.iter().rev().cmp(y.iter().rev()));
        }

        #[test]
        fn shifts_move_bits(key in key(), bits in 0_u32..200) {
            let bit = |key: Key192, at: u32| {
                if at >= 192 { 0 } else { digits(key)[at as usize / 32] >> (at % 32) & 1 }
            };
            for at in 0..192 {
                prop_assert_eq!(bit(key >> bits, at), bit(key, at + bits));
                prop_assert_eq!(bit(key << bits, at + bits), if at + bits < 192 { bit(key, at) } else { 0 });
                prop_assert!(at >= bits || bit(key << bits, at) == 0);
            }
        }

        #[test]
        fn quotient_times_divisor_plus_remainder_is_the_dividend(key in key(), divisor in key()) {
            for divisor in [divisor, divisor >> 64, divisor >> 128, key, Key192::MAX] {
                if divisor == Key192::default() {
                    continue;
                }
                let (quotient, rest) = key.divided_by(divisor);
                prop_assert!(rest < divisor);
                prop_assert_eq!(quotient * divisor + rest, key);
                // The product does not wrap modulo 2^192.
                prop_assert!(quotient <= key && quotient * divisor <= key);
            }
        }
    }
}

//! Integer types in which ranks are computed. The narrowest type that fits is the fastest.

use strata_space::{Key, Key192};

/// An integer type for ranks.
pub trait Word: Copy + PartialOrd {
    /// Converts a number, which must fit.
    fn of(wide: Key192) -> Self;

    /// The number as the widest integer.
    fn to_wide(self) -> Key192;

    /// The low 64 bits.
    fn low(self) -> u64;

    /// `self * factor + more`, which must fit.
    #[must_use]
    fn times(self, factor: Self, more: Self) -> Self;

    /// Quotient and remainder.
    fn divide(self, by: Self) -> (Self, Self);

    /// `self - other`, which must not be negative.
    #[must_use]
    fn minus(self, other: Self) -> Self;

    /// Of this number of arrangements of `left` pieces, how many begin with one of `count` pieces.
    #[must_use]
    fn part(self, count: u64, left: u64) -> Self;

    /// Converts a small number.
    #[inline]
    fn small(value: u8) -> Self {
        Self::of(Key192::from(u64::from(value)))
    }
}

/// A type of ranks as keys: `u128`, or [`Key192`] for more than 128 bits.
pub trait RankKey: Key + Word {}

impl RankKey for u128 {}

impl RankKey for Key192 {}

impl Word for u64 {
    #[inline]
    fn of(wide: Key192) -> u64 {
        wide.low() as u64
    }

    #[inline]
    fn to_wide(self) -> Key192 {
        self.into()
    }

    #[inline]
    fn low(self) -> u64 {
        self
    }

    #[inline]
    fn times(self, factor: u64, more: u64) -> u64 {
        self * factor + more
    }

    #[inline]
    fn divide(self, by: u64) -> (u64, u64) {
        (self / by, self % by)
    }

    #[inline]
    fn minus(self, other: u64) -> u64 {
        self - other
    }

    #[inline]
    fn part(self, count: u64, left: u64) -> u64 {
        match self.checked_mul(count) {
            Some(product) => product / left,
            None => (u128::from(self) * u128::from(count) / u128::from(left)) as u64,
        }
    }
}

impl Word for u128 {
    #[inline]
    fn of(wide: Key192) -> u128 {
        wide.low()
    }

    #[inline]
    fn to_wide(self) -> Key192 {
        self.into()
    }

    #[inline]
    fn low(self) -> u64 {
        self as u64
    }

    #[inline]
    fn times(self, factor: u128, more: u128) -> u128 {
        self * factor + more
    }

    #[inline]
    fn divide(self, by: u128) -> (u128, u128) {
        (self / by, self % by)
    }

    #[inline]
    fn minus(self, other: u128) -> u128 {
        self - other
    }

    #[inline]
    fn part(self, count: u64, left: u64) -> u128 {
        let (count, left) = (u128::from(count), u128::from(left));
        // The product may not fit, and is a multiple of `left`.
        self / left * count + self % left * count / left
    }
}

impl Word for Key192 {
    #[inline]
    fn of(wide: Key192) -> Key192 {
        wide
    }

    #[inline]
    fn to_wide(self) -> Key192 {
        self
    }

    #[inline]
    fn low(self) -> u64 {
        Key192::low(self) as u64
    }

    #[inline]
    fn times(self, factor: Key192, more: Key192) -> Key192 {
        self * factor + more
    }

    #[inline]
    fn divide(self, by: Key192) -> (Key192, Key192) {
        self.divided_by(by)
    }

    #[inline]
    fn minus(self, other: Key192) -> Key192 {
        self - other
    }

    #[inline]
    fn part(self, count: u64, left: u64) -> Key192 {
        let (count, left) = (Key192::from(count), Key192::from(left));
        let (quotient, rest) = self.divided_by(left);
        quotient * count + (rest * count).divided_by(left).0
    }
}

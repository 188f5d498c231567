//! Fast division of many numbers by one divisor.

/// A divisor with its reciprocal, since multiplication is faster than division.
#[derive(Copy, Clone, Debug)]
pub(super) struct Divisor {
    value: u64,
    /// (2^64 - 1) / value.
    reciprocal: u64,
}

impl Divisor {
    /// The divisor `value`; 0 counts as 1.
    pub(super) fn new(value: u32) -> Divisor {
        let value = u64::from(value.max(1));
        Divisor { value, reciprocal: u64::MAX / value }
    }

    pub(super) fn value(self) -> u64 {
        self.value
    }

    /// The quotient and the remainder.
    #[inline]
    pub(super) fn divide(self, number: u64) -> (u64, u64) {
        let product = u128::from(number) * u128::from(self.reciprocal);
        // The quotient, or one less, as the reciprocal is less than one too small.
        let quotient = (product >> u64::BITS) as u64;
        let rest = number - quotient * self.value;
        let less = u64::from(rest >= self.value);
        (quotient + less, rest - less * self.value)
    }

    /// Replaces each number by its quotient, and passes the remainder to `write` with the number's place.
    #[inline]
    pub(super) fn take_off<T>(
        self,
        numbers: &mut [u64],
        places: impl IntoIterator<Item = T>,
        write: impl Fn(u32, T),
    ) {
        for (number, place) in numbers.iter_mut().zip(places) {
            let (quotient, rest) = self.divide(*number);
            *number = quotient;
            write(rest as u32, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quotients_and_remainders_are_exact(
            number: u64, shift in 0_u32..64, value in 1_u32.., small in 0_u32..32, near in 0_u64..3,
        ) {
            let value = (value >> small).max(1);
            let multiple = (number >> shift) / u64::from(value) * u64::from(value);
            for number in [number >> shift, multiple, multiple.saturating_sub(near), u64::MAX - near] {
                let expected = (number / u64::from(value), number % u64::from(value));
                prop_assert_eq!(Divisor::new(value).divide(number), expected);
            }
        }
    }
}

//! Order-independent digests of layers: sums of pseudo-random weights modulo two primes.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The two moduli of a digest: the primes 2^61 - 1 and 2^61 - 31.
pub const MODULI: [u64; 2] = [(1 << 61) - FOLD[0], (1 << 61) - FOLD[1]];

/// 2^61 modulo each of [`MODULI`].
const FOLD: [u64; 2] = [1, 31];

const LOW: u128 = (1 << 61) - 1;

/// The weight of a position: an element of the ring Z/p x Z/q of the two [`MODULI`].
///
/// By default the weight is a hash of the position's key. The weight of a Panex position is the product of
/// the weights of its levels' configurations: a factor of the region times a factor of the local part.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Default)]
pub struct Weight(pub [u64; 2]);

/// The digest of a layer, or of a part of it: the sum of the weights of its positions.
///
/// The order of the positions does not matter, and the digests of disjoint parts add up.
///
/// ```
/// use strata_space::{Digest, Weight};
///
/// let digest = |keys: &[u64]| keys.iter().map(|key| Weight::hash(*key)).sum::<Digest>();
/// assert_eq!(digest(&[7, 1, 4]), digest(&[4, 7, 1]));
/// assert_eq!(digest(&[7, 1, 4]), digest(&[7]) + digest(&[1, 4]));
/// assert_ne!(digest(&[7, 1, 4]), digest(&[7, 1, 5]));
/// ```
pub type Digest = Weight;

impl Weight {
    /// The empty sum.
    pub const ZERO: Weight = Weight([0, 0]);
    /// The empty product.
    pub const ONE: Weight = Weight([1, 1]);

    /// A pseudo-random weight of a word.
    #[inline]
    pub fn hash(word: u64) -> Weight {
        let [first, second] = hashes(word);
        Weight([reduce(first, 0), reduce(second, 1)])
    }

    /// The sum of the weights [`Self::hash`] of words.
    #[inline]
    pub(crate) fn sum_of_hashes(words: impl Iterator<Item = u64>) -> Digest {
        let mut sums = [0; 2];
        for word in words {
            let [first, second] = hashes(word);
            sums[0] += u128::from(first);
            sums[1] += u128::from(second);
        }
        Weight::reduce(sums)
    }

    /// Reduces two integer sums of weights, one for each modulus, each below 2^122.
    #[inline]
    pub fn reduce(sums: [u128; 2]) -> Weight {
        Weight([fold(sums[0], 0), fold(sums[1], 1)])
    }
}

/// Two hashes of a word, 64 bits each.
#[inline]
fn hashes(word: u64) -> [u64; 2] {
    let first = mix(word.wrapping_add(0x9e37_79b9_7f4a_7c15));
    [first, mix(first ^ 0xd1b5_4a32_d192_ed03)]
}

/// The finaliser of splitmix64: a bijection in which every bit affects all bits.
#[inline]
pub fn mix(word: u64) -> u64 {
    let a = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    b ^ (b >> 31)
}

/// `value` modulo `MODULI[which]`.
#[inline]
fn reduce(value: u64, which: usize) -> u64 {
    let once = (value >> 61) * FOLD[which] + (value & LOW as u64);
    if once >= MODULI[which] { once - MODULI[which] } else { once }
}

/// `value` modulo `MODULI[which]`, for values below 2^122.
#[inline]
fn fold(value: u128, which: usize) -> u64 {
    let fold = u128::from(FOLD[which]);
    let once = (value >> 61) * fold + (value & LOW);
    let twice = ((once >> 61) * fold + (once & LOW)) as u64;
    if twice >= MODULI[which] { twice - MODULI[which] } else { twice }
}

impl Add for Weight {
    type Output = Weight;
    #[inline]
    fn add(self, other: Weight) -> Weight {
        let sum = |i: usize| {
            let sum = self.0[i] + other.0[i];
            if sum >= MODULI[i] { sum - MODULI[i] } else { sum }
        };
        Weight([sum(0), sum(1)])
    }
}

impl AddAssign for Weight {
    #[inline]
    fn add_assign(&mut self, other: Weight) {
        *self = *self + other;
    }
}

impl Mul for Weight {
    type Output = Weight;
    #[inline]
    fn mul(self, other: Weight) -> Weight {
        let product = |i: usize| fold(u128::from(self.0[i]) * u128::from(other.0[i]), i);
        Weight([product(0), product(1)])
    }
}

impl Neg for Weight {
    type Output = Weight;
    fn neg(self) -> Weight {
        let negative = |i: usize| if self.0[i] == 0 { 0 } else { MODULI[i] - self.0[i] };
        Weight([negative(0), negative(1)])
    }
}

impl Sum for Weight {
    fn sum<I: Iterator<Item = Weight>>(items: I) -> Weight {
        // Sums of integers are reduced once at the end, which is faster than reducing each term.
        let add = |sums: [u128; 2], Weight([first, second])| {
            [sums[0] + u128::from(first), sums[1] + u128::from(second)]
        };
        Weight::reduce(items.fold([0; 2], add))
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.0[0], self.0[1])
    }
}

/// As 32 hexadecimal digits.
impl Serialize for Weight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From 32 hexadecimal digits, lower case, of residues.
impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_plain = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let value = Some(&text).filter(|text| is_plain && text.len() == 32);
        let value = value.and_then(|text| u128::from_str_radix(text, 16).ok());
        let value = value.ok_or_else(|| D::Error::custom("a digest is not 32 hex digits"))?;
        let residues = [(value >> 64) as u64, value as u64];
        match residues.iter().zip(MODULI).find(|(residue, modulus)| *residue >= modulus) {
            None => Ok(Weight(residues)),
            // Sums of larger values would be silently wrong.
            Some(_) => Err(D::Error::custom(format!("{text} is not a digest of residues"))),
        }
    }
}

impl fmt::Debug for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weight() -> impl Strategy<Value = Weight> {
        (0..MODULI[0], 0..MODULI[1]).prop_map(|(a, b)| Weight([a, b]))
    }

    proptest! {
        #[test]
        fn arithmetic_is_modular(a in weight(), b in weight(), c in weight()) {
            for (i, modulus) in MODULI.into_iter().enumerate() {
                let p = u128::from(modulus);
                let [x, y] = [u128::from(a.0[i]), u128::from(b.0[i])];
                prop_assert_eq!(u128::from((a * b).0[i]), x * y % p);
                prop_assert_eq!(u128::from((a + b).0[i]), (x + y) % p);
            }
            prop_assert_eq!((a + b) * c, a * c + b * c);
            prop_assert_eq!(a + -a, Weight::ZERO);
        }

        #[test]
        fn the_sum_of_hashes_equals_the_sum_of_single_hashes(words in prop::collection::vec(any::<u64>(), 0..20)) {
            let sum: Digest = words.iter().map(|word| Weight::hash(*word)).sum();
            prop_assert_eq!(Weight::sum_of_hashes(words.into_iter()), sum);
        }

        #[test]
        fn reduce_is_modular(sums in prop::array::uniform2(0..1u128 << 100)) {
            let reduced = Weight::reduce(sums);
            for (i, modulus) in MODULI.into_iter().enumerate() {
                prop_assert_eq!(u128::from(reduced.0[i]), sums[i] % u128::from(modulus));
            }
        }
    }

    #[test]
    fn reduction_equals_the_remainder_of_division() {
        for (which, modulus) in MODULI.into_iter().enumerate() {
            let near =
                (0..8).flat_map(|times| [-1, 0, 1].map(|more| times * i128::from(modulus) + more));
            let words = near.filter_map(|word| u64::try_from(word).ok());
            for word in words.chain([u64::MAX, 1 << 61, (1 << 61) - 1]) {
                assert_eq!(reduce(word, which), word % modulus, "{word}");
            }
        }
    }

    #[test]
    fn the_greatest_elements_add_and_multiply_modularly() {
        let top = Weight([MODULI[0] - 1, MODULI[1] - 1]);
        assert_eq!(top + Weight::ONE, Weight::ZERO);
        assert_eq!(top * top, Weight::ONE);
    }
}

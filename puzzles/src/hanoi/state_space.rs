//! Towers of Hanoi as a space of keys.

use std::sync::Arc;

use strata_space::{Digest, KeySpace, Seed, SpaceError, Weight};

/// `discs` discs on `pegs` pegs, all on peg 0 at the start.
///
/// The key holds the peg of every disc, two bits each, or three for more than four pegs, the largest
/// disc highest, so that a region is an arrangement of the large discs.
#[derive(Clone, Debug)]
pub struct Hanoi {
    pub(super) discs: u32,
    pub(super) pegs: u32,
    pub(super) exhaust: bool,
    /// By group of [`GROUP_BITS`] bits of a key, the weight of each value.
    weights: Arc<[Vec<Weight>]>,
}

/// Maximum number of bits that hold one disc's peg.
const MAX_PEG_BITS: u32 = 3;

/// Bits of a key whose weight is looked up at once: those of four or six discs.
const GROUP_BITS: u32 = 12;

impl Hanoi {
    /// Maximum number of discs: a key of 63 bits has up to three bits for each.
    pub const MAX_DISCS: u32 = 63 / MAX_PEG_BITS;
    /// Maximum number of pegs: three bits hold a disc's peg.
    pub const MAX_PEGS: u32 = 1 << MAX_PEG_BITS;

    /// A puzzle with its tower on peg 0. With `exhaust` the whole space is listed, otherwise the
    /// search stops when the tower stands on the last peg.
    ///
    /// # Errors
    /// If there are no discs, more than [`Self::MAX_DISCS`], or pegs outside
    /// 3..=[`Self::MAX_PEGS`].
    pub fn new(discs: u32, pegs: u32, exhaust: bool) -> Result<Hanoi, SpaceError> {
        SpaceError::check("discs", discs, 1, Self::MAX_DISCS)?;
        SpaceError::check("pegs", pegs, 3, Self::MAX_PEGS)?;
        let mut hanoi = Hanoi { discs, pegs, exhaust, weights: Arc::new([]) };
        hanoi.weights = hanoi.group_weights();
        Ok(hanoi)
    }

    fn group_weights(&self) -> Arc<[Vec<Weight>]> {
        let group = GROUP_BITS / self.peg_bits();
        let weight = |first: u32, word: u64| {
            let discs = first..(first + group).min(self.discs);
            let discs = discs.map(|disc| disc_weight(disc, self.peg(word, disc - first)));
            discs.fold(Weight::ONE, |product, disc| product * disc)
        };
        let groups = (0..self.discs).step_by(group as usize);
        groups.map(|first| (0..1 << GROUP_BITS).map(|word| weight(first, word)).collect()).collect()
    }

    /// Bits that hold one disc's peg.
    fn peg_bits(&self) -> u32 {
        if self.pegs <= 4 { 2 } else { MAX_PEG_BITS }
    }

    /// The peg of a disc; discs from 0, the smallest.
    pub(super) fn peg(&self, key: u64, disc: u32) -> u64 {
        let bits = self.peg_bits();
        key >> (bits * disc) & ((1 << bits) - 1)
    }

    /// The key of an arrangement, given the pegs of the discs, the smallest disc first.
    pub(super) fn key(&self, pegs: impl Iterator<Item = u64>) -> u64 {
        (0..).zip(pegs).fold(0, |key, (disc, peg)| key | peg << (self.peg_bits() * disc))
    }

    /// Number of discs.
    pub fn discs(&self) -> u32 {
        self.discs
    }

    /// Number of pegs.
    pub fn pegs(&self) -> u32 {
        self.pegs
    }

    /// Whether the whole space is listed.
    pub fn exhaust(&self) -> bool {
        self.exhaust
    }
}

/// A disc's part of a state's weight; discs from 0, the smallest.
pub(super) fn disc_weight(disc: u32, peg: u64) -> Weight {
    Weight::hash(u64::from(disc) << MAX_PEG_BITS | peg)
}

impl KeySpace for Hanoi {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }

    fn key_bits(&self) -> u32 {
        self.discs * self.peg_bits()
    }

    fn goal(&self) -> Option<u64> {
        let last = u64::from(self.pegs - 1);
        let goal = self.key((0..self.discs).map(|_| last));
        (!self.exhaust).then_some(goal)
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let bits = self.peg_bits();
        let all = (1_u64 << self.pegs) - 1;
        let mut open = all;
        for disc in 0..self.discs {
            let from = self.peg(key, disc);
            if open >> from & 1 == 0 {
                continue;
            }
            // Larger discs cannot come here.
            open ^= 1 << from;
            let mut left = open;
            while left != 0 {
                let to = u64::from(left.trailing_zeros());
                out.push(key ^ (from ^ to) << (bits * disc));
                left &= left - 1;
            }
            if open == 0 {
                break;
            }
        }
    }

    /// A state's weight is a product over discs, so that the symbolic engine can compute it level by level.
    fn digest(&self, keys: &[u64]) -> Digest {
        let weight = |key: &u64| {
            let words = (0..).step_by(GROUP_BITS as usize).map(|shift| key >> shift);
            let groups = self.weights.iter().zip(words);
            let weights = groups.map(|(weights, word)| weights[word as usize % (1 << GROUP_BITS)]);
            weights.fold(Weight::ONE, |product, group| product * group)
        };
        keys.iter().map(weight).sum()
    }

    fn text(&self, key: u64) -> String {
        let stack = |p: u64| {
            let discs = (0..self.discs).filter(|disc| self.peg(key, *disc) == p);
            let names: Vec<String> = discs.map(|disc| (disc + 1).to_string()).collect();
            if names.is_empty() { "-".into() } else { names.join(" ") }
        };
        (0..u64::from(self.pegs)).map(stack).collect::<Vec<_>>().join(" / ")
    }

    /// Pegs from the first, separated by slashes: the numbers of their discs, in any order, or a hyphen.
    fn parse(&self, text: &str) -> Option<u64> {
        let mut pegs = vec![None; self.discs as usize];
        let mut stacks = 0;
        for stack in text.split('/') {
            for disc in stack.split_whitespace().filter(|word| *word != "-") {
                let disc: usize = disc.parse().ok()?;
                let place = pegs.get_mut(disc.checked_sub(1)?)?;
                if place.replace(stacks).is_some() {
                    return None;
                }
            }
            stacks += 1;
        }
        let pegs: Vec<u64> = pegs.into_iter().collect::<Option<_>>()?;
        let is_complete = stacks == u64::from(self.pegs);
        is_complete.then(|| self.key(pegs.into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disc_never_lands_on_a_smaller_one() {
        let space = Hanoi::new(3, 3, true).unwrap();
        let mut out = Vec::new();
        space.successors(0, &mut out);
        let texts: Vec<String> = out.iter().map(|key| space.text(*key)).collect();
        assert_eq!(texts, ["2 3 / 1 / -", "2 3 / - / 1"]);
    }

    #[test]
    fn weights_are_products_over_discs() {
        for (discs, pegs) in [(1, 3), (13, 4), (6, 5), (21, 8)] {
            let space = Hanoi::new(discs, pegs, true).unwrap();
            for seed in 0..50 {
                let peg = |disc| strata_space::mix(seed << 8 | u64::from(disc)) % u64::from(pegs);
                let key = space.key((0..discs).map(peg));
                let weights = (0..discs).map(|disc| disc_weight(disc, peg(disc)));
                let expected = weights.fold(Weight::ONE, |product, disc| product * disc);
                assert_eq!(space.digest(&[key]), expected, "{discs} discs on {pegs} pegs");
                assert!(key >> space.key_bits() == 0);
            }
        }
    }

    #[test]
    fn bounds_are_checked() {
        assert!(Hanoi::new(0, 3, true).is_err());
        assert!(Hanoi::new(22, 3, true).is_err());
        assert!(Hanoi::new(21, 8, true).is_ok());
        assert!(Hanoi::new(3, 2, true).is_err());
    }
}

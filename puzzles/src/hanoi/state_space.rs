//! The puzzle as a space of keys.

use strata_space::{KeySpace, Seed, SpaceError, Weight};

/// `discs` discs on `pegs` pegs, all on peg 0 at the start.
///
/// The key holds the peg of every disc, three bits each, the largest disc highest, so that
/// a region is an arrangement of the large discs.
#[derive(Clone, Debug)]
pub struct Hanoi {
    pub(super) discs: u32,
    pub(super) pegs: u32,
    pub(super) exhaust: bool,
}

/// Bits that hold one disc's peg.
pub(super) const PEG_BITS: u32 = 3;

impl Hanoi {
    /// The most discs that the 63-bit key holds.
    pub const MAX_DISCS: u32 = 63 / PEG_BITS;
    /// The most pegs.
    pub const MAX_PEGS: u32 = 1 << PEG_BITS;

    /// A puzzle with its tower on peg 0. With `exhaust` the whole space is listed, otherwise the
    /// search stops when the tower stands on the last peg.
    ///
    /// # Errors
    /// If there are no discs, more than [`Self::MAX_DISCS`], or pegs outside
    /// 3..=[`Self::MAX_PEGS`].
    pub fn new(discs: u32, pegs: u32, exhaust: bool) -> Result<Hanoi, SpaceError> {
        SpaceError::check("discs", discs, 1, Self::MAX_DISCS)?;
        SpaceError::check("pegs", pegs, 3, Self::MAX_PEGS)?;
        Ok(Hanoi { discs, pegs, exhaust })
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
    Weight::hash(u64::from(disc) << PEG_BITS | peg)
}

pub(super) fn peg(key: u64, disc: u32) -> u64 {
    key >> (PEG_BITS * disc) & ((1 << PEG_BITS) - 1)
}

impl KeySpace for Hanoi {
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }

    fn key_bits(&self) -> u32 {
        self.discs * PEG_BITS
    }

    fn goal(&self) -> Option<u64> {
        let last = u64::from(self.pegs - 1);
        let goal = (0..self.discs).fold(0, |key, disc| key | last << (PEG_BITS * disc));
        (!self.exhaust).then_some(goal)
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let mut covered = 0u64;
        for disc in 0..self.discs {
            let from = peg(key, disc);
            if covered >> from & 1 == 0 {
                let open =
                    (0..u64::from(self.pegs)).filter(|to| *to != from && covered >> to & 1 == 0);
                out.extend(open.map(|to| key ^ (from ^ to) << (PEG_BITS * disc)));
            }
            covered |= 1 << from;
        }
    }

    /// A product over discs, so that the symbolic engine can compute it level by level.
    fn weight(&self, key: u64) -> Weight {
        let discs = (0..self.discs).map(|disc| disc_weight(disc, peg(key, disc)));
        discs.fold(Weight::ONE, |product, disc| product * disc)
    }

    fn text(&self, key: u64) -> String {
        let stack = |p: u64| {
            let discs = (0..self.discs).filter(|disc| peg(key, *disc) == p);
            let names: Vec<String> = discs.map(|disc| (disc + 1).to_string()).collect();
            if names.is_empty() { "-".into() } else { names.join(" ") }
        };
        (0..u64::from(self.pegs)).map(stack).collect::<Vec<_>>().join(" / ")
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
    fn bounds_are_checked() {
        assert!(Hanoi::new(0, 3, true).is_err());
        assert!(Hanoi::new(22, 3, true).is_err());
        assert!(Hanoi::new(21, 8, true).is_ok());
        assert!(Hanoi::new(3, 2, true).is_err());
    }
}

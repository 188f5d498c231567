//! Towers of Hanoi with any number of pegs: the simple space that shows the default path.

use strata_space::nested::{
    MAX_LEAF_STATES, MAX_MOVES, Nested, NestedFinish, NestedSpace, Row, Shift,
};
use strata_space::{KeySpace, Seed, SpaceError, Weight};

/// `discs` discs on `pegs` pegs, all on peg 0 at the start.
///
/// The key holds the peg of every disc, three bits each, the largest disc highest, so that
/// a region is an arrangement of the large discs.
#[derive(Clone, Debug)]
pub struct Hanoi {
    discs: u32,
    pegs: u32,
    exhaust: bool,
}

/// Bits that hold one disc's peg.
const PEG_BITS: u32 = 3;

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
fn weigh(disc: u32, peg: u64) -> Weight {
    Weight::hash(u64::from(disc) << PEG_BITS | peg)
}

fn peg(key: u64, disc: u32) -> u64 {
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

    /// A product over discs, so that it can be had from sets that are nested.
    fn weight(&self, key: u64) -> Weight {
        let discs = (0..self.discs).map(|disc| weigh(disc, peg(key, disc)));
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

/// Towers of Hanoi as a nested space: a configuration is a disc's peg, a move a pair of pegs between
/// which the smallest disc that may goes one way or the other.
#[derive(Debug)]
pub struct NestedHanoi {
    hanoi: Hanoi,
    leaf_discs: u32,
    /// By move.
    pairs: Vec<(u8, u8)>,
}

impl NestedHanoi {
    /// The nested form of a puzzle.
    ///
    /// # Errors
    /// If there are too many pairs of pegs.
    pub fn new(hanoi: Hanoi) -> Result<NestedHanoi, SpaceError> {
        let pegs = hanoi.pegs as u8;
        let pairs: Vec<(u8, u8)> =
            (0..pegs).flat_map(|a| (a + 1..pegs).map(move |b| (a, b))).collect();
        if pairs.len() > MAX_MOVES.into() {
            return Err(SpaceError::Conflict {
                name: "pegs".into(),
                why: format!("the symbolic engine takes up to 5, not {pegs}"),
            });
        }
        let fits = |discs: &u32| hanoi.pegs.pow(*discs) <= MAX_LEAF_STATES.into();
        let leaf_discs = (1..=hanoi.discs).take_while(fits).last().unwrap_or(1);
        Ok(NestedHanoi { hanoi, leaf_discs, pairs })
    }

    /// The peg of one of the leaf's discs.
    fn leaf_peg(&self, leaf: u8, disc: u32) -> u8 {
        (u32::from(leaf) / self.hanoi.pegs.pow(disc) % self.hanoi.pegs) as u8
    }

    fn nest(&self, key: u64) -> Nested<u8> {
        let configs = (self.leaf_discs..self.hanoi.discs).rev().map(|disc| peg(key, disc) as u8);
        let leaf = (0..self.leaf_discs).rev();
        let leaf = leaf.fold(0, |leaf, disc| leaf * self.hanoi.pegs as u8 + peg(key, disc) as u8);
        Nested { configs: configs.collect(), leaf }
    }

    fn key(&self, state: &Nested<u8>) -> u64 {
        let leaf = (0..self.leaf_discs).map(|disc| self.leaf_peg(state.leaf, disc));
        let pegs = leaf.chain(state.configs.iter().rev().copied());
        (0..).zip(pegs).fold(0, |key, (disc, peg)| key | u64::from(peg) << (PEG_BITS * disc))
    }

    /// Swaps the pegs 1 and 2, which fixes the start.
    fn flip_peg(peg: u8) -> u8 {
        match peg {
            1 => 2,
            2 => 1,
            other => other,
        }
    }
}

impl NestedSpace for NestedHanoi {
    /// The disc's peg.
    type Config = u8;

    /// The pegs with a larger disc, a bit each.
    type Class = u8;

    fn levels(&self) -> u8 {
        self.hanoi.discs as u8
    }

    fn leaf_levels(&self) -> u8 {
        self.leaf_discs as u8
    }

    fn leaf_states(&self) -> u8 {
        self.hanoi.pegs.pow(self.leaf_discs) as u8
    }

    fn moves(&self) -> u8 {
        self.pairs.len() as u8
    }

    fn root(&self) -> u8 {
        0
    }

    fn inner(&self, class: &u8, _: u8, peg: u8) -> u8 {
        class | 1 << peg
    }

    fn shift(&self, _: u8, peg: u8, mv: u8) -> Shift<u8> {
        match self.pairs[usize::from(mv)] {
            (from, to) if from == peg => Shift::Inside(to),
            (to, from) if from == peg => Shift::Inside(to),
            _ => Shift::Outside(peg),
        }
    }

    fn row(&self, class: &u8, leaf: u8) -> Row {
        let mut row = Row::default();
        for (mv, (a, b)) in self.pairs.iter().enumerate() {
            let on_either = |disc: &u32| [*a, *b].contains(&self.leaf_peg(leaf, *disc));
            match (0..self.leaf_discs).find(on_either) {
                Some(disc) => {
                    let from = self.leaf_peg(leaf, disc);
                    let to = a + b - from;
                    let place = self.hanoi.pegs.pow(disc) as u8;
                    row.inside |= 1 << (leaf - from * place + to * place);
                }
                None => row.exits |= u16::from(class & (1 << a | 1 << b) != 0) << mv,
            }
        }
        row
    }

    fn leave(&self, leaf: u8, _: u8) -> u8 {
        leaf
    }

    fn flip_config(&self, peg: u8) -> u8 {
        Self::flip_peg(peg)
    }

    fn flip_leaf(&self, leaf: u8) -> u8 {
        let discs = (0..self.leaf_discs).rev();
        discs.fold(0, |flip, disc| {
            flip * self.hanoi.pegs as u8 + Self::flip_peg(self.leaf_peg(leaf, disc))
        })
    }

    fn flip_class(&self, class: &u8) -> u8 {
        class & !0b110 | (class & 0b10) << 1 | (class & 0b100) >> 1
    }

    fn flip_move(&self, mv: u8) -> u8 {
        let (a, b) = self.pairs[usize::from(mv)];
        let (a, b) = (Self::flip_peg(a), Self::flip_peg(b));
        let flipped = (a.min(b), a.max(b));
        self.pairs.iter().position(|pair| *pair == flipped).map_or(mv, |mv| mv as u8)
    }

    /// There is no meeting: the goal is a state.
    fn exchange_config(&self, peg: u8) -> u8 {
        peg
    }

    fn exchange_leaf(&self, leaf: u8) -> u8 {
        leaf
    }

    fn weight(&self, level: u8, peg: u8) -> Weight {
        weigh(u32::from(level) - 1, peg.into())
    }

    fn leaf_weight(&self, leaf: u8) -> Weight {
        let discs = (0..self.leaf_discs).map(|disc| weigh(disc, self.leaf_peg(leaf, disc).into()));
        discs.fold(Weight::ONE, |product, disc| product * disc)
    }

    fn encode(&self, peg: u8) -> u128 {
        peg.into()
    }

    fn decode(&self, word: u128) -> Option<u8> {
        u8::try_from(word).ok().filter(|peg| u32::from(*peg) < self.hanoi.pegs)
    }

    fn start(&self) -> Nested<u8> {
        self.nest(0)
    }

    fn finish(&self) -> NestedFinish<u8> {
        self.hanoi
            .goal()
            .map_or(NestedFinish::Exhausted, |goal| NestedFinish::State(self.nest(goal)))
    }

    fn counts_orbits(&self) -> bool {
        false
    }

    fn text(&self, state: &Nested<u8>) -> String {
        self.hanoi.text(self.key(state))
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
    fn nested_keys_are_keys() {
        let space = NestedHanoi::new(Hanoi::new(5, 4, true).unwrap()).unwrap();
        for key in [0, 0o3210, 0o12323, 0o33333] {
            let nested = space.nest(key);
            assert_eq!(space.key(&nested), key);
            let levels = (space.leaf_levels() + 1..=space.levels()).rev().zip(&nested.configs);
            let weight = levels.fold(space.leaf_weight(nested.leaf), |weight, (level, peg)| {
                weight * space.weight(level, *peg)
            });
            assert_eq!(weight, space.hanoi.weight(key));
        }
        assert!(NestedHanoi::new(Hanoi::new(5, 6, true).unwrap()).is_err());
    }

    #[test]
    fn bounds_are_checked() {
        assert!(Hanoi::new(0, 3, true).is_err());
        assert!(Hanoi::new(22, 3, true).is_err());
        assert!(Hanoi::new(21, 8, true).is_ok());
        assert!(Hanoi::new(3, 2, true).is_err());
    }
}

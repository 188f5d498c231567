//! Towers of Hanoi as a nested space.

use strata_space::nested::{
    LeafMoves, MAX_LEAF_STATES, MAX_MOVE_KINDS, NestedSpace, NestedState, Shift,
};
use strata_space::{Finish, KeySpace, SpaceError, Weight};

use super::state_space::{Hanoi, disc_weight};

/// Towers of Hanoi as a nested space. A configuration is a disc's peg. A move kind is a pair of
/// pegs; the smaller of their top discs moves to the other peg.
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
        if pairs.len() > MAX_MOVE_KINDS.into() {
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

    fn nest(&self, key: u64) -> NestedState<u8> {
        let peg = |disc| self.hanoi.peg(key, disc) as u8;
        let configs = (self.leaf_discs..self.hanoi.discs).rev().map(peg);
        let leaf = (0..self.leaf_discs).rev();
        let leaf = leaf.fold(0, |leaf, disc| leaf * self.hanoi.pegs as u8 + peg(disc));
        NestedState { configs: configs.collect(), leaf }
    }

    fn key(&self, state: &NestedState<u8>) -> u64 {
        let leaf = (0..self.leaf_discs).map(|disc| self.leaf_peg(state.leaf, disc));
        let pegs = leaf.chain(state.configs.iter().rev().copied());
        self.hanoi.key(pegs.map(u64::from))
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

    fn move_kinds(&self) -> u8 {
        self.pairs.len() as u8
    }

    fn root_class(&self) -> u8 {
        0
    }

    fn inner_class(&self, class: &u8, _: u8, peg: u8) -> u8 {
        class | 1 << peg
    }

    fn shift(&self, _: u8, peg: u8, mv: u8) -> Shift<u8> {
        match self.pairs[usize::from(mv)] {
            (from, to) if from == peg => Shift::Inside(to),
            (to, from) if from == peg => Shift::Inside(to),
            _ => Shift::Outside(peg),
        }
    }

    fn leaf_moves(&self, class: &u8, leaf: u8) -> LeafMoves {
        let mut moves = LeafMoves::default();
        for (mv, (a, b)) in self.pairs.iter().enumerate() {
            let on_either = |disc: &u32| [*a, *b].contains(&self.leaf_peg(leaf, *disc));
            match (0..self.leaf_discs).find(on_either) {
                Some(disc) => {
                    let from = self.leaf_peg(leaf, disc);
                    let to = a + b - from;
                    let place = self.hanoi.pegs.pow(disc) as u8;
                    moves.inside |= 1 << (leaf - from * place + to * place);
                }
                None => moves.exits |= u16::from(class & (1 << a | 1 << b) != 0) << mv,
            }
        }
        moves
    }

    fn leaf_after_exit(&self, leaf: u8, _: u8) -> u8 {
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

    /// Unused: a search of this puzzle has a goal state, not a meeting of two searches.
    fn exchange_config(&self, peg: u8) -> u8 {
        peg
    }

    fn exchange_leaf(&self, leaf: u8) -> u8 {
        leaf
    }

    fn config_weight(&self, level: u8, peg: u8) -> Weight {
        disc_weight(u32::from(level) - 1, peg.into())
    }

    fn leaf_weight(&self, leaf: u8) -> Weight {
        let discs =
            (0..self.leaf_discs).map(|disc| disc_weight(disc, self.leaf_peg(leaf, disc).into()));
        discs.fold(Weight::ONE, |product, disc| product * disc)
    }

    fn encode_config(&self, peg: u8) -> u128 {
        peg.into()
    }

    fn decode_config(&self, word: u128) -> Option<u8> {
        u8::try_from(word).ok().filter(|peg| u32::from(*peg) < self.hanoi.pegs)
    }

    fn start(&self) -> NestedState<u8> {
        self.nest(0)
    }

    fn finish(&self) -> Finish<NestedState<u8>> {
        self.hanoi.goal().map_or(Finish::Exhausted, |goal| Finish::State(self.nest(goal)))
    }

    fn counts_orbits(&self) -> bool {
        false
    }

    fn text(&self, state: &NestedState<u8>) -> String {
        self.hanoi.text(self.key(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_states_have_the_keys_and_weights_of_the_space() {
        let space = NestedHanoi::new(Hanoi::new(5, 4, true).unwrap()).unwrap();
        for pegs in [[0; 5], [0, 1, 2, 3, 0], [3, 2, 3, 2, 1], [3; 5]] {
            let key = space.hanoi.key(pegs.into_iter());
            let nested = space.nest(key);
            assert_eq!(space.key(&nested), key);
            let levels = (space.leaf_levels() + 1..=space.levels()).rev().zip(&nested.configs);
            let weight = levels.fold(space.leaf_weight(nested.leaf), |weight, (level, peg)| {
                weight * space.config_weight(level, *peg)
            });
            assert_eq!(weight, space.hanoi.digest(&[key]));
        }
        assert!(NestedHanoi::new(Hanoi::new(5, 6, true).unwrap()).is_err());
    }
}

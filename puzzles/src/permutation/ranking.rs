//! Ranks: mixed-radix numbers of the states reachable from a start.
//!
//! Slots fall into orbits under the moves. Each orbit contributes the rank of its pieces as a permutation
//! of a multiset, and their turns as digits. If no move changes the sum of turns, the last turn follows
//! from the others and has no digit. Slots that no move changes are not part of a rank. States that are
//! unreachable but have the same pieces in each orbit have ranks, too.

use crate::group::{BigUint, Element};
use strata_space::Key192;

use super::definition::{Definition, State};
use super::orbit::{Orbit, orbits};
use super::word::{RankKey, Word};

/// Maximum number of bits of a rank.
pub(super) const MAX_BITS: u32 = Key192::BITS;

/// Maximum number of different pieces of an orbit with a table of factorials: 46! has 192 bits.
const MOST_DIFFERENT: u64 = 46;

/// Ranks of states with the pieces of a start in the same orbits.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    orbits: Vec<RankedOrbit>,
    start: State,
    bits: u32,
}

/// An orbit and the numbers of its states.
#[derive(Clone, Debug)]
struct RankedOrbit {
    orbit: Orbit,
    arrangements: Key192,
    turn_states: Key192,
    states: Key192,
    /// By slot of the orbit, the number of arrangements of the slots after it. Empty if pieces look
    /// alike.
    after: Vec<Key192>,
}

/// The number of arrangements of an orbit's pieces, and of the states of their turns.
fn sizes(orbit: &Orbit) -> (BigUint, BigUint) {
    let factorial = |n: u64| (1..=n).map(BigUint::from).product::<BigUint>();
    let alike: BigUint = orbit.pieces.iter().map(|piece| factorial(piece.count)).product();
    let arrangements = factorial(orbit.slots.len() as u64) / alike;
    let turns = orbit.pieces.iter().map(|piece| {
        BigUint::from(piece.period).pow(u32::try_from(piece.count).unwrap_or(u32::MAX))
    });
    let turns: BigUint = turns.product();
    let known = orbit.sum.map_or(1, |_| orbit.orientations);
    (arrangements, turns / known)
}

/// A number as a word, or the largest word if the number does not fit.
fn word(number: &BigUint) -> Key192 {
    let digits = number.to_u64_digits();
    let digit = |at: usize| digits.get(at).copied().unwrap_or_default();
    match digits.len() {
        0..=3 => Key192::new(digit(2), u128::from(digit(1)) << 64 | u128::from(digit(0))),
        _ => Key192::MAX,
    }
}

impl Ranking {
    /// The ranking for a start and moves; as an error, the number of bits that it would need, if these are
    /// more than `limit`. `limit` is at most [`MAX_BITS`].
    pub(super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[Element],
        limit: u32,
    ) -> Result<Ranking, u64> {
        let mut total = BigUint::from(1_u32);
        let mut ranked = Vec::new();
        for orbit in orbits(definition, start, moves) {
            let (arrangements, turn_states) = sizes(&orbit);
            let states = &arrangements * &turn_states;
            total *= &states;
            let [arrangements, turn_states, states] =
                [&arrangements, &turn_states, &states].map(word);
            let slots = orbit.slots.len() as u64;
            let mut after = Vec::new();
            if slots <= MOST_DIFFERENT && orbit.pieces.iter().all(|piece| piece.count == 1) {
                let mut factorials = vec![Key192::from(1_u64)];
                factorials.extend((1..slots).scan(Key192::from(1_u64), |product, factor| {
                    *product = *product * Key192::from(factor);
                    Some(*product)
                }));
                after.extend(factorials.into_iter().rev());
            }
            ranked.push(RankedOrbit { orbit, arrangements, turn_states, states, after });
        }
        // The number of states, too, has to fit.
        if total.bits() > limit.into() {
            return Err(total.bits());
        }
        Ok(Ranking { orbits: ranked, start: start.clone(), bits: (total - 1_u32).bits() as u32 })
    }

    /// Bits of the largest rank.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// The rank of the state after a move, if it has the pieces of the start in the same orbits.
    /// `counts` is a buffer that calls can share.
    pub(super) fn rank_after<K: RankKey>(
        &self,
        state: &State,
        element: &Element,
        counts: &mut Vec<u64>,
    ) -> Option<K> {
        let (images, turns) = (element.images(), element.turns());
        let kind = |slot: usize| state.kinds[usize::from(images[slot])];
        let turn = |slot: usize, period: u8| {
            let sum = u16::from(state.turns[usize::from(images[slot])]) + u16::from(turns[slot]);
            let period = u16::from(period);
            // This needs no division where pieces have as many turns as their slots.
            let rest = if sum < period { sum } else { sum - period };
            (if rest < period { rest } else { rest % period }) as u8
        };
        self.rank_by(kind, turn, counts)
    }

    fn rank_by<K: RankKey>(
        &self,
        kind: impl Fn(usize) -> u16 + Copy,
        turn: impl Fn(usize, u8) -> u8 + Copy,
        counts: &mut Vec<u64>,
    ) -> Option<K> {
        match self.bits {
            0..=SHORT_BITS => {
                self.rank_as::<u64>(kind, turn, counts).map(|rank| K::of(rank.to_wide()))
            }
            _ => self.rank_as::<K>(kind, turn, counts),
        }
    }

    fn rank_as<W: Word>(
        &self,
        kind: impl Fn(usize) -> u16 + Copy,
        turn: impl Fn(usize, u8) -> u8 + Copy,
        counts: &mut Vec<u64>,
    ) -> Option<W> {
        self.orbits.iter().try_fold(W::small(0), |total, orbit| {
            let rank = match orbit.width() {
                Width::Short => W::of(orbit.rank::<u64>(kind, turn, counts)?.to_wide()),
                Width::Middle => W::of(orbit.rank::<u128>(kind, turn, counts)?.to_wide()),
                Width::Wide => orbit.rank::<W>(kind, turn, counts)?,
            };
            Some(total.times(W::of(orbit.states), rank))
        })
    }

    /// The rank of a state that has the pieces of the start in the same orbits.
    pub(super) fn rank_of<K: RankKey>(&self, state: &State, counts: &mut Vec<u64>) -> Option<K> {
        let kind = |slot: usize| state.kinds[slot];
        let turn = |slot: usize, period: u8| state.turns[slot] % period;
        self.rank_by(kind, turn, counts)
    }

    /// The state of a rank.
    pub(super) fn state<K: RankKey>(&self, rank: K) -> State {
        match self.bits {
            0..=SHORT_BITS => self.state_as(rank.low()),
            _ => self.state_as(rank),
        }
    }

    fn state_as<W: Word>(&self, mut rank: W) -> State {
        let mut state = self.start.clone();
        for orbit in self.orbits.iter().rev() {
            let (rest, of_orbit) = rank.divide(W::of(orbit.states));
            match orbit.width() {
                Width::Short => orbit.unrank(of_orbit.low(), &mut state),
                Width::Middle => orbit.unrank(of_orbit.to_wide().low(), &mut state),
                Width::Wide => orbit.unrank(of_orbit, &mut state),
            }
            rank = rest;
        }
        state
    }
}

/// Maximum number of bits of the ranks that are computed with 64-bit words.
const SHORT_BITS: u32 = u64::BITS - 1;

/// The narrowest words in which the ranks of an orbit are computed.
#[derive(Copy, Clone)]
enum Width {
    Short,
    Middle,
    Wide,
}

impl RankedOrbit {
    #[inline]
    fn width(&self) -> Width {
        match (self.states.high(), self.states.low() >> SHORT_BITS) {
            (0, 0) => Width::Short,
            (0, _) => Width::Middle,
            _ => Width::Wide,
        }
    }

    /// Slots whose turns are digits of a rank.
    fn turned_slots(&self) -> &[usize] {
        match (self.orbit.sum, &*self.orbit.slots) {
            (Some(_), [turned @ .., _]) => turned,
            (_, slots) => slots,
        }
    }

    fn rank<W: Word>(
        &self,
        kind: impl Fn(usize) -> u16,
        turn: impl Fn(usize, u8) -> u8,
        counts: &mut Vec<u64>,
    ) -> Option<W> {
        let rank = match &*self.after {
            [] => self.rank_of_alike::<W>(&kind, counts)?,
            after => self.rank_of_different::<W>(&kind, after)?,
        };
        let mut turns = W::small(0);
        if self.turn_states > Key192::from(1_u64) {
            for slot in self.turned_slots() {
                let piece = self.orbit.index(kind(*slot))?;
                let period = self.orbit.pieces[usize::from(piece)].period;
                turns = turns.times(W::small(period), W::small(turn(*slot, period)));
            }
        }
        Some(rank.times(W::of(self.turn_states), turns))
    }

    /// The rank of the pieces, all of which differ, as a permutation.
    fn rank_of_different<W: Word>(
        &self,
        kind: impl Fn(usize) -> u16,
        after: &[Key192],
    ) -> Option<W> {
        let (mut rank, mut left) = (W::small(0), u64::MAX);
        for (slot, after) in self.orbit.slots.iter().zip(after) {
            let piece = self.orbit.index(kind(*slot))?;
            let bit = 1_u64.checked_shl(piece.into()).filter(|bit| left & bit != 0)?;
            let smaller = W::small((left & (bit - 1)).count_ones() as u8);
            rank = smaller.times(W::of(*after), rank);
            left ^= bit;
        }
        Some(rank)
    }

    /// The rank of the pieces, some of which look alike, as a permutation of a multiset.
    fn rank_of_alike<W: Word>(
        &self,
        kind: impl Fn(usize) -> u16,
        counts: &mut Vec<u64>,
    ) -> Option<W> {
        counts.clear();
        counts.extend(self.orbit.pieces.iter().map(|piece| piece.count));
        let (mut rank, mut size) = (W::small(0), W::of(self.arrangements));
        for (index, slot) in self.orbit.slots.iter().enumerate() {
            let left = (self.orbit.slots.len() - index) as u64;
            let piece = usize::from(self.orbit.index(kind(*slot))?);
            let count = *counts.get(piece)?;
            let smaller: u64 = counts[..piece].iter().sum();
            rank = size.part(smaller, left).times(W::small(1), rank);
            size = size.part(count, left);
            counts[piece] = count.checked_sub(1)?;
        }
        Some(rank)
    }

    fn unrank<W: Word>(&self, rank: W, state: &mut State) {
        let (rank, mut turns) = rank.divide(W::of(self.turn_states));
        match &*self.after {
            [] => self.unrank_alike(rank, state),
            after => self.unrank_different(rank, after, state),
        }
        let mut sum = 0;
        for slot in self.turned_slots().iter().rev() {
            let piece = self.orbit.index(state.kinds[*slot]).unwrap_or_default();
            let period = self.orbit.pieces[usize::from(piece)].period;
            let (rest, turn) = turns.divide(W::small(period));
            state.turns[*slot] = turn.low() as u8;
            sum += u32::from(state.turns[*slot]);
            turns = rest;
        }
        if let (Some(total), Some(last)) = (self.orbit.sum, self.orbit.slots.last()) {
            let orientations = u32::from(self.orbit.orientations);
            let rest = u32::from(total) + orientations - sum % orientations;
            state.turns[*last] = (rest % orientations) as u8;
        }
    }

    fn unrank_different<W: Word>(&self, mut rank: W, after: &[Key192], state: &mut State) {
        let mut left = u64::MAX;
        for (slot, after) in self.orbit.slots.iter().zip(after) {
            let mut larger = left;
            let (smaller, rest) = rank.divide(W::of(*after));
            for _ in 0..smaller.low() {
                larger &= larger - 1;
            }
            rank = rest;
            let piece = larger.trailing_zeros();
            state.kinds[*slot] = self.orbit.pieces[piece as usize].kind;
            left ^= 1 << piece;
        }
    }

    fn unrank_alike<W: Word>(&self, mut rank: W, state: &mut State) {
        let mut counts: Vec<u64> = self.orbit.pieces.iter().map(|piece| piece.count).collect();
        let mut size = W::of(self.arrangements);
        for (index, slot) in self.orbit.slots.iter().enumerate() {
            let left = (self.orbit.slots.len() - index) as u64;
            for (piece, count) in self.orbit.pieces.iter().zip(&mut counts) {
                let with = size.part(*count, left);
                if rank < with {
                    size = with;
                    *count -= 1;
                    state.kinds[*slot] = piece.kind;
                    break;
                }
                rank = rank.minus(with);
            }
        }
    }
}

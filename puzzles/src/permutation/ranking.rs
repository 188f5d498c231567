//! Ranks: numbers of the states that moves can make of a start, as mixed-radix numbers.
//!
//! Slots fall into orbits under the moves. In an orbit, the rank of the pieces is that of a
//! permutation of a multiset, and turns are digits. If no move changes the sum of turns, the last
//! turn follows from the others. Slots that no move changes are not part of a rank.

use strata_group::{BigUint, Element, Invariants};

use super::definition::{Definition, State};

/// Most bits of a rank.
pub(super) const MAX_BITS: u64 = u128::BITS as u64;

/// Integers with which ranks are computed: `u64` takes less time where it is enough.
trait Word: Copy + Into<u128> + From<u8> + PartialOrd {
    /// A number that is known to fit.
    fn of(wide: u128) -> Self;

    /// `self * factor + more`, which fits.
    fn times(self, factor: Self, more: Self) -> Self;

    /// Quotient and rest.
    fn divide(self, by: Self) -> (Self, Self);

    /// `self - other`, which is not negative.
    fn minus(self, other: Self) -> Self;

    /// Of this number of arrangements of `left` pieces, those that begin with one of `count` pieces.
    fn part(self, count: u64, left: u64) -> Self;
}

impl Word for u64 {
    #[inline]
    fn of(wide: u128) -> u64 {
        wide as u64
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
    fn of(wide: u128) -> u128 {
        wide
    }

    fn times(self, factor: u128, more: u128) -> u128 {
        self * factor + more
    }

    fn divide(self, by: u128) -> (u128, u128) {
        (self / by, self % by)
    }

    fn minus(self, other: u128) -> u128 {
        self - other
    }

    fn part(self, count: u64, left: u64) -> u128 {
        let (count, left) = (u128::from(count), u128::from(left));
        // The product may not fit, and is a multiple of `left`.
        self / left * count + self % left * count / left
    }
}

/// Most different pieces of an orbit whose numbers of arrangements are kept: 34! has 128 bits.
const MOST_DIFFERENT: u128 = 34;

/// Ranks of states with the pieces of a start in the same orbits.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    orbits: Vec<Orbit>,
    start: State,
    bits: u32,
}

/// Pieces that exchange slots.
#[derive(Clone, Debug)]
pub(super) struct Orbit {
    pub(super) slots: Vec<usize>,
    /// The different pieces of the orbit.
    pub(super) pieces: Vec<Piece>,
    /// By kind, the index of the piece; a large one if the orbit has no such piece.
    indices: Vec<usize>,
    /// Orientations of a slot, and the sum of all turns modulo them, if moves do not change it.
    pub(super) sum: Option<(u8, u8)>,
    arrangements: u128,
    turn_states: u128,
    /// Of different pieces, by slot of the orbit, the arrangements of the slots after it. Empty if
    /// some look alike.
    after: Vec<u128>,
}

/// Pieces of an orbit that look alike.
#[derive(Copy, Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: u16,
    pub(super) count: u64,
    pub(super) period: u8,
}

/// The numbers of an orbit's states, as exact as they may be.
fn sizes(orbit: &Orbit) -> (BigUint, BigUint) {
    let factorial = |n: u64| (1..=n).map(BigUint::from).product::<BigUint>();
    let alike: BigUint = orbit.pieces.iter().map(|piece| factorial(piece.count)).product();
    let arrangements = factorial(orbit.slots.len() as u64) / alike;
    let turns = orbit.pieces.iter().map(|piece| {
        BigUint::from(piece.period).pow(u32::try_from(piece.count).unwrap_or(u32::MAX))
    });
    let turns: BigUint = turns.product();
    let known = orbit.sum.map_or(1, |(orientations, _)| orientations);
    (arrangements, turns / known)
}

/// The orbits of slots that moves change, with the pieces of a start.
pub(super) fn orbits(definition: &Definition, start: &State, moves: &[Element]) -> Vec<Orbit> {
    let found = Invariants::of(&definition.shape, moves).orbits;
    found.into_iter().map(|found| Orbit::new(definition, start, found)).collect()
}

impl Ranking {
    /// The ranking for a start and moves, or the number of bits that it would need.
    pub(super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[Element],
    ) -> Result<Ranking, u64> {
        let mut total = BigUint::from(1_u32);
        let mut orbits = orbits(definition, start, moves);
        for orbit in &mut orbits {
            let (arrangements, turn_states) = sizes(orbit);
            total *= &arrangements * &turn_states;
            orbit.arrangements = u128::try_from(arrangements).unwrap_or(u128::MAX);
            orbit.turn_states = u128::try_from(turn_states).unwrap_or(u128::MAX);
            let slots = orbit.slots.len() as u128;
            if slots <= MOST_DIFFERENT && orbit.pieces.iter().all(|piece| piece.count == 1) {
                orbit.after = (0..slots).rev().map(|left| (1..=left).product()).collect();
            }
        }
        let bits = (total - 1_u32).bits();
        if bits > MAX_BITS {
            return Err(bits);
        }
        Ok(Ranking { orbits, start: start.clone(), bits: bits as u32 })
    }

    /// Bits of the largest rank.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// The rank of the state after a move, if it has the pieces of the start in the same orbits.
    /// `counts` is memory that calls can share.
    pub(super) fn rank_after(
        &self,
        state: &State,
        element: &Element,
        counts: &mut Vec<u64>,
    ) -> Option<u128> {
        let (images, turns) = (element.images(), element.turns());
        let kind = |slot: usize| state.kinds[usize::from(images[slot])];
        let turn = |slot: usize, period: u8| {
            let sum = u16::from(state.turns[usize::from(images[slot])]) + u16::from(turns[slot]);
            let period = u16::from(period);
            // Without a division where pieces have as many turns as their slots.
            let rest = if sum < period { sum } else { sum - period };
            (if rest < period { rest } else { rest % period }) as u8
        };
        self.rank_by(kind, turn, counts)
    }

    fn rank_by(
        &self,
        kind: impl Fn(usize) -> u16 + Copy,
        turn: impl Fn(usize, u8) -> u8 + Copy,
        counts: &mut Vec<u64>,
    ) -> Option<u128> {
        match self.bits {
            0..=63 => self.rank_as::<u64>(kind, turn, counts).map(u128::from),
            _ => self.rank_as::<u128>(kind, turn, counts),
        }
    }

    fn rank_as<W: Word>(
        &self,
        kind: impl Fn(usize) -> u16 + Copy,
        turn: impl Fn(usize, u8) -> u8 + Copy,
        counts: &mut Vec<u64>,
    ) -> Option<W> {
        self.orbits.iter().try_fold(W::from(0), |total, orbit| {
            Some(total.times(W::of(orbit.states()), orbit.rank::<W>(kind, turn, counts)?))
        })
    }

    /// The rank of a state that has the pieces of the start in the same orbits.
    pub(super) fn rank_of(&self, state: &State, counts: &mut Vec<u64>) -> Option<u128> {
        let kind = |slot: usize| state.kinds[slot];
        let turn = |slot: usize, period: u8| state.turns[slot] % period;
        self.rank_by(kind, turn, counts)
    }

    /// The state of a rank.
    pub(super) fn state(&self, rank: u128) -> State {
        match self.bits {
            0..=63 => self.state_as(rank as u64),
            _ => self.state_as(rank),
        }
    }

    fn state_as<W: Word>(&self, mut rank: W) -> State {
        let mut state = self.start.clone();
        for orbit in self.orbits.iter().rev() {
            let (rest, of_orbit) = rank.divide(W::of(orbit.states()));
            orbit.unrank(of_orbit, &mut state);
            rank = rest;
        }
        state
    }
}

impl Orbit {
    /// The orbit without its sizes.
    fn new(definition: &Definition, start: &State, found: strata_group::Orbit) -> Orbit {
        let set = definition.set_of(found.slots[0]);
        let mut pieces: Vec<Piece> = Vec::new();
        for slot in &found.slots {
            let kind = start.kinds[*slot];
            match pieces.iter_mut().find(|piece| piece.kind == kind) {
                Some(piece) => piece.count += 1,
                None => {
                    let of_kind = set.and_then(|set| set.kinds.get(usize::from(kind)));
                    let period = of_kind.map_or(1, |kind| kind.orientations);
                    pieces.push(Piece { kind, count: 1, period });
                }
            }
        }
        pieces.sort_unstable_by_key(|piece| piece.kind);
        let orientations = found.orientations;
        let is_fixed = orientations > 1
            && found.turn_step == orientations
            && pieces.iter().all(|piece| piece.period == orientations);
        let turns = found.slots.iter().map(|slot| u32::from(start.turns[*slot]));
        let sum = (turns.sum::<u32>() % u32::from(orientations)) as u8;
        let sum = is_fixed.then_some((orientations, sum));
        let mut indices = vec![usize::MAX; pieces.last().map_or(0, |last| last.kind.into()) + 1];
        for (index, piece) in pieces.iter().enumerate() {
            indices[usize::from(piece.kind)] = index;
        }
        Orbit {
            slots: found.slots,
            pieces,
            indices,
            sum,
            arrangements: 1,
            turn_states: 1,
            after: Vec::new(),
        }
    }

    /// Number of states.
    fn states(&self) -> u128 {
        self.arrangements.saturating_mul(self.turn_states)
    }

    /// Slots whose turns are digits of a rank.
    fn turned_slots(&self) -> &[usize] {
        match (self.sum, &*self.slots) {
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
        let mut turns = W::from(0);
        if self.turn_states > 1 {
            for slot in self.turned_slots() {
                let period = self.pieces[*self.indices.get(usize::from(kind(*slot)))?].period;
                turns = turns.times(period.into(), turn(*slot, period).into());
            }
        }
        Some(rank.times(W::of(self.turn_states), turns))
    }

    /// The rank of a permutation.
    fn rank_of_different<W: Word>(&self, kind: impl Fn(usize) -> u16, after: &[u128]) -> Option<W> {
        let (mut rank, mut left) = (W::from(0), u64::MAX);
        for (slot, after) in self.slots.iter().zip(after) {
            let piece = *self.indices.get(usize::from(kind(*slot)))?;
            let bit = 1_u64.checked_shl(piece as u32).filter(|bit| left & bit != 0)?;
            let smaller = W::from((left & (bit - 1)).count_ones() as u8);
            rank = smaller.times(W::of(*after), rank);
            left ^= bit;
        }
        Some(rank)
    }

    /// The rank of a permutation of a multiset.
    fn rank_of_alike<W: Word>(
        &self,
        kind: impl Fn(usize) -> u16,
        counts: &mut Vec<u64>,
    ) -> Option<W> {
        counts.clear();
        counts.extend(self.pieces.iter().map(|piece| piece.count));
        let (mut rank, mut size) = (W::from(0), W::of(self.arrangements));
        for (index, slot) in self.slots.iter().enumerate() {
            let left = (self.slots.len() - index) as u64;
            let piece = *self.indices.get(usize::from(kind(*slot)))?;
            let count = *counts.get(piece)?;
            let smaller: u64 = counts[..piece].iter().sum();
            rank = size.part(smaller, left).times(W::from(1), rank);
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
            let piece = self.indices[usize::from(state.kinds[*slot])];
            let period = self.pieces[piece].period;
            let (rest, turn) = turns.divide(period.into());
            state.turns[*slot] = turn.into() as u8;
            sum += u32::from(state.turns[*slot]);
            turns = rest;
        }
        if let (Some((orientations, total)), Some(last)) = (self.sum, self.slots.last()) {
            let orientations = u32::from(orientations);
            let rest = u32::from(total) + orientations - sum % orientations;
            state.turns[*last] = (rest % orientations) as u8;
        }
    }

    fn unrank_different<W: Word>(&self, mut rank: W, after: &[u128], state: &mut State) {
        let mut left = u64::MAX;
        for (slot, after) in self.slots.iter().zip(after) {
            let mut larger = left;
            let (smaller, rest) = rank.divide(W::of(*after));
            for _ in 0..smaller.into() {
                larger &= larger - 1;
            }
            rank = rest;
            let piece = larger.trailing_zeros();
            state.kinds[*slot] = self.pieces[piece as usize].kind;
            left ^= 1 << piece;
        }
    }

    fn unrank_alike<W: Word>(&self, mut rank: W, state: &mut State) {
        let mut counts: Vec<u64> = self.pieces.iter().map(|piece| piece.count).collect();
        let mut size = W::of(self.arrangements);
        for (index, slot) in self.slots.iter().enumerate() {
            let left = (self.slots.len() - index) as u64;
            for (piece, count) in self.pieces.iter().zip(&mut counts) {
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

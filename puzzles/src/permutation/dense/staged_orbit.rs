//! Arrangements of the pieces of one orbit, numbered in three stages.
//!
//! The first stage places some kinds of pieces, the second stage places others in the slots that are
//! left, the third stage places the remaining kinds. How a move changes the pieces of a stage does not
//! depend on later stages. How it moves the slots that are left is an [`Effect`] on the next stage.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::group::{BigUint, Element};

use super::super::definition::State;
use super::super::orbit::{Orbit, Piece};

/// Stages: blocks, rows, lanes.
pub(super) const STAGES: usize = 3;

/// An orbit with the kinds of each stage.
#[derive(Clone, Debug)]
pub(super) struct StagedOrbit {
    orbit: Orbit,
    stages: [Stage; STAGES],
}

/// The kinds that a stage places.
#[derive(Clone, Debug)]
struct Stage {
    first: usize,
    end: usize,
    /// Whether the turn of the last slot follows from the sum.
    is_last_implied: bool,
    /// Whether a later stage needs the sum.
    passes_sum: bool,
    arrangements: u64,
    turn_states: u64,
}

/// Content of a slot: the index of a piece, or `end` of the stage if a later stage fills the slot.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Cell {
    piece: u16,
    turn: u8,
}

/// The effect of a move on the slots that earlier stages leave.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Effect {
    /// By slot, the slot that its piece comes from.
    images: Vec<u16>,
    turns: Vec<u8>,
    /// The sum of the turns before the move; 0 if no turn follows from it.
    sum: u8,
}

/// The steps of a stage's numbers by some effects.
#[derive(Debug)]
pub(super) struct Steps {
    /// Effects on this stage.
    width: usize,
    /// By number and effect, the next number and the index of the effect on the next stage.
    next: Vec<(u32, u32)>,
    /// Effects on the next stage.
    pub(super) effects: Vec<Effect>,
}

impl Orbit {
    /// The number of different pieces.
    pub(super) fn kinds(&self) -> usize {
        self.pieces.len()
    }

    /// The number of ways to place kinds in the slots that the kinds before them leave.
    pub(super) fn states(&self, first: usize, end: usize) -> Option<u64> {
        let (arrangements, turns) = self.factors(first, end);
        u64::try_from(arrangements * turns).ok()
    }

    /// Arrangements of kinds, and of their turns.
    fn factors(&self, first: usize, end: usize) -> (BigUint, BigUint) {
        let factorial = |n: u64| (1..=n).map(BigUint::from).product::<BigUint>();
        let count = |pieces: &[Piece]| pieces.iter().map(|piece| piece.count).sum::<u64>();
        let (placed, rest) = (&self.pieces[first..end], count(&self.pieces[end..]));
        let alike: BigUint = placed.iter().map(|piece| factorial(piece.count)).product();
        let arrangements = factorial(count(placed) + rest) / (alike * factorial(rest));
        let turns = placed.iter().map(|piece| BigUint::from(piece.period).pow(piece.count as u32));
        let turns: BigUint = turns.product();
        let is_implied = self.sum.is_some() && first < end && rest == 0;
        (arrangements, if is_implied { turns / self.orientations } else { turns })
    }

    /// Splits the kinds into stages: those from each cut on belong to the next stage. None if there are too
    /// many arrangements.
    pub(super) fn staged(self, [rows, lanes]: [usize; STAGES - 1]) -> Option<StagedOrbit> {
        let kinds = self.pieces.len();
        let stage = |(first, end): (usize, usize)| {
            let (arrangements, turn_states) = self.factors(first, end);
            Some(Stage {
                first,
                end,
                is_last_implied: self.sum.is_some() && first < end && end == kinds,
                passes_sum: self.sum.is_some() && end < kinds,
                arrangements: u64::try_from(arrangements).ok()?,
                turn_states: u64::try_from(turn_states).ok()?,
            })
        };
        let stages = [stage((0, rows))?, stage((rows, lanes))?, stage((lanes, kinds))?];
        Some(StagedOrbit { orbit: self, stages })
    }

    /// The effect of a move on the orbit; None if the move does not keep the orbit.
    pub(super) fn effect(&self, element: &Element) -> Option<Effect> {
        let images = self.slots.iter().map(|slot| {
            let from = usize::from(*element.images().get(*slot)?);
            self.slots.binary_search(&from).ok().map(|index| index as u16)
        });
        let turns = self.slots.iter().map(|slot| element.turns().get(*slot).copied());
        Some(Effect {
            images: images.collect::<Option<_>>()?,
            turns: turns.collect::<Option<_>>()?,
            sum: self.sum.unwrap_or(0),
        })
    }
}

impl Stage {
    fn states(&self) -> Option<u64> {
        self.arrangements.checked_mul(self.turn_states)
    }

    fn counts(&self, pieces: &[Piece]) -> Vec<u64> {
        let rest = pieces[self.end..].iter().map(|piece| piece.count).sum();
        let placed = pieces[self.first..self.end].iter().map(|piece| piece.count);
        placed.chain([rest]).collect()
    }

    fn places(&self, cell: Cell) -> bool {
        usize::from(cell.piece) < self.end
    }

    /// The number of an arrangement of the slots that earlier stages leave.
    fn rank(&self, pieces: &[Piece], cells: &[Cell]) -> Option<u64> {
        let mut counts = self.counts(pieces);
        let mut open: u64 = counts[..self.end - self.first].iter().sum();
        let (mut rank, mut size, mut turns) = (0, self.arrangements, 0);
        for (cell, left) in cells.iter().zip((1..=cells.len() as u64).rev()) {
            let symbol = usize::from(cell.piece).min(self.end).checked_sub(self.first)?;
            let count = counts[symbol];
            let smaller: u64 = counts[..symbol].iter().sum();
            rank += part(size, smaller, left);
            size = part(size, count, left);
            counts[symbol] = count.checked_sub(1)?;
            if self.places(*cell) {
                open -= 1;
                if open > 0 || !self.is_last_implied {
                    let period = pieces[usize::from(cell.piece)].period;
                    turns = turns * u64::from(period) + u64::from(cell.turn % period);
                }
            }
        }
        Some(rank * self.turn_states + turns)
    }

    /// The arrangement of a number. Slots of later stages have the piece `end`.
    fn unrank(&self, pieces: &[Piece], number: u64, sum: u8, orientations: u8) -> Vec<Cell> {
        let (mut rank, mut turns) = (number / self.turn_states, number % self.turn_states);
        let mut counts = self.counts(pieces);
        let slots: u64 = counts.iter().sum();
        let mut size = self.arrangements;
        let mut cells = Vec::with_capacity(slots as usize);
        for left in (1..=slots).rev() {
            for (symbol, count) in (self.first..).zip(&mut counts) {
                let with = part(size, *count, left);
                if rank < with {
                    (size, *count) = (with, *count - 1);
                    cells.push(Cell { piece: symbol as u16, turn: 0 });
                    break;
                }
                rank -= with;
            }
        }
        let mut placed = cells.iter_mut().filter(|cell| self.places(**cell)).rev();
        let implied = if self.is_last_implied { placed.next() } else { None };
        let mut total = 0;
        for cell in placed {
            let period = u64::from(pieces[usize::from(cell.piece)].period);
            cell.turn = (turns % period) as u8;
            turns /= period;
            total += u16::from(cell.turn);
        }
        if let Some(cell) = implied {
            let orientations = u16::from(orientations);
            cell.turn =
                ((u16::from(sum) + orientations - total % orientations) % orientations) as u8;
        }
        cells
    }
}

impl StagedOrbit {
    /// The number of states of a stage.
    pub(super) fn states(&self, stage: usize) -> Option<u64> {
        self.stages[stage].states()
    }

    /// The pieces of the orbit.
    pub(super) fn orbit(&self) -> &Orbit {
        &self.orbit
    }

    /// The numbers of a state; None if it has other pieces, or another sum of turns.
    pub(super) fn numbers(&self, state: &State) -> Option<[u64; STAGES]> {
        let Orbit { slots, sum, orientations, pieces, .. } = &self.orbit;
        let cells = slots.iter().map(|slot| {
            let piece = self.orbit.index(*state.kinds.get(*slot)?)?;
            Some(Cell { piece, turn: *state.turns.get(*slot)? })
        });
        let mut cells: Vec<Cell> = cells.collect::<Option<_>>()?;
        let turns: u32 = cells.iter().map(|cell| u32::from(cell.turn)).sum();
        if sum.is_some_and(|sum| turns % u32::from(*orientations) != u32::from(sum)) {
            return None;
        }
        let mut numbers = [0; STAGES];
        for (number, stage) in numbers.iter_mut().zip(&self.stages) {
            *number = stage.rank(pieces, &cells)?;
            cells.retain(|cell| !stage.places(*cell));
        }
        Some(numbers)
    }

    /// Writes the pieces with these numbers into a state.
    pub(super) fn write(&self, numbers: [u64; STAGES], state: &mut State) {
        let Orbit { slots, pieces, sum, orientations, .. } = &self.orbit;
        let (mut open, mut sum) = (slots.clone(), sum.unwrap_or(0));
        for (stage, number) in self.stages.iter().zip(numbers) {
            let cells = stage.unrank(pieces, number, sum, *orientations);
            for (slot, cell) in open.iter().zip(&cells).filter(|(_, cell)| stage.places(**cell)) {
                state.kinds[*slot] = pieces[usize::from(cell.piece)].kind;
                state.turns[*slot] = cell.turn;
            }
            sum = self.sum_after(stage, &cells, sum);
            let mut left = cells.iter().map(|cell| !stage.places(*cell));
            open.retain(|_| left.next().unwrap_or(false));
        }
    }

    /// The sum of the turns that later stages hold; 0 if no turn follows from it.
    fn sum_after(&self, stage: &Stage, cells: &[Cell], sum: u8) -> u8 {
        if !stage.passes_sum {
            return 0;
        }
        let orientations = u32::from(self.orbit.orientations);
        let turns: u32 = cells.iter().map(|cell| u32::from(cell.turn)).sum();
        ((u32::from(sum) + orientations - turns % orientations) % orientations) as u8
    }

    /// The arrangement of a stage after a move, and the effect on the next stage.
    fn after(&self, stage: &Stage, cells: &[Cell], effect: &Effect) -> (Vec<Cell>, Effect) {
        let mut numbers = Vec::with_capacity(cells.len());
        let mut rest = 0;
        for cell in cells {
            numbers.push(rest);
            rest += u16::from(!stage.places(*cell));
        }
        let mut next = Effect {
            images: Vec::with_capacity(rest.into()),
            turns: Vec::with_capacity(rest.into()),
            sum: self.sum_after(stage, cells, effect.sum),
        };
        let moved = effect.images.iter().zip(&effect.turns).map(|(image, turn)| {
            let mut cell = cells[usize::from(*image)];
            if stage.places(cell) {
                let period = u16::from(self.orbit.pieces[usize::from(cell.piece)].period);
                cell.turn = ((u16::from(cell.turn) + u16::from(*turn)) % period) as u8;
            } else {
                next.images.push(numbers[usize::from(*image)]);
                next.turns.push(*turn);
            }
            cell
        });
        (moved.collect(), next)
    }

    /// The steps of all numbers of a stage by effects on it.
    pub(super) fn steps(&self, stage: usize, effects: &[Effect]) -> Option<Steps> {
        let stage = &self.stages[stage];
        let states = stage.states()? as usize;
        let mut steps = Steps {
            width: effects.len(),
            next: Vec::with_capacity(states * effects.len()),
            effects: Vec::new(),
        };
        let mut known: HashMap<Effect, u32> = HashMap::new();
        let (pieces, orientations) = (&self.orbit.pieces, self.orbit.orientations);
        for number in 0..states as u64 {
            let mut last: Option<(u8, Vec<Cell>)> = None;
            for effect in effects {
                let known_cells = last.take().filter(|(sum, _)| *sum == effect.sum);
                let cells = match known_cells {
                    Some((_, cells)) => cells,
                    None => stage.unrank(pieces, number, effect.sum, orientations),
                };
                let (after, inner) = self.after(stage, &cells, effect);
                last = Some((effect.sum, cells));
                let index = match known.entry(inner) {
                    Entry::Occupied(entry) => *entry.get(),
                    Entry::Vacant(entry) => {
                        let index = steps.effects.len() as u32;
                        steps.effects.push(entry.key().clone());
                        *entry.insert(index)
                    }
                };
                steps.next.push((stage.rank(pieces, &after)? as u32, index));
            }
        }
        Some(steps)
    }
}

impl Steps {
    /// The next number, and the index of the effect on the next stage.
    #[inline]
    pub(super) fn of(&self, effect: usize, number: usize) -> (u32, u32) {
        self.next[number * self.width + effect]
    }
}

/// Of `size` arrangements of `left` pieces, the number of those that begin with one of `count` pieces.
fn part(size: u64, count: u64, left: u64) -> u64 {
    match size.checked_mul(count) {
        Some(product) => product / left,
        None => (u128::from(size) * u128::from(count) / u128::from(left)) as u64,
    }
}

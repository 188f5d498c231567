//! Successors of many states of a region, computed on columns of coordinates.
//!
//! A column holds one coordinate of all states. States are unpacked digit by digit, and the numbers of
//! successors are summed term by term: the tables of a digit or move stay in the cache for all states.

use strata_space::{Key, SuccessorSink};

use super::packing::{Coordinates, Digit, DigitForm, Move};

/// States whose successors are computed together.
const BATCH: usize = 1024;

/// The contribution of some coordinates to the low part of a key.
#[derive(Copy, Clone, Debug)]
enum Term {
    /// A coordinate without the lowest `shift` bits.
    Plain { coordinate: usize, shift: u32, factor: u64 },
    /// The three coordinates of an orbit: the first, and the others without the lowest `shift` bits.
    Groups { orbit: usize, first_factor: u64, rest_factor: u64, shift: u32 },
}

impl Coordinates {
    /// Passes each successor of each key of a list to `to`.
    pub(in super::super) fn successors<K: Key>(&self, keys: &[K], to: &mut impl SuccessorSink<K>) {
        let (actions, terms) = (self.actions(), self.terms());
        let (mut columns, mut lows) = (Vec::new(), Vec::new());
        for region in keys.chunk_by(|a, b| self.split(*a).0 == self.split(*b).0) {
            for part in region.chunks(BATCH) {
                let (high, _) = self.split(part[0]);
                lows.clear();
                lows.extend(part.iter().map(|key| self.split(*key).1));
                columns.resize(self.count() * part.len(), 0);
                self.unpack(high, &mut lows, &mut columns);
                for mv in 0..self.moves.len() {
                    let high = self.region_after((actions, mv), &columns, part.len());
                    lows.fill(0);
                    terms
                        .iter()
                        .for_each(|term| self.add_term((actions, mv), *term, &columns, &mut lows));
                    to.add_run(self.join(high, 0), &lows);
                }
            }
        }
    }

    /// The terms of the low part of a key.
    fn terms(&self) -> Vec<Term> {
        let mut terms: Vec<Term> = Vec::new();
        let mut factor = 1;
        // The factor of a digit is the product of the value counts of the digits after it.
        for digit in self.local.iter().rev() {
            terms.push(match digit.form {
                DigitForm::Plain { coordinate } => Term::Plain { coordinate, shift: 0, factor },
                DigitForm::Half { orbit } => {
                    let coordinate = self.orbits[orbit].places_at;
                    Term::Plain { coordinate, shift: 1, factor }
                }
                DigitForm::First { orbit } => {
                    Term::Groups { orbit, first_factor: factor, rest_factor: 0, shift: 0 }
                }
                DigitForm::Rest { orbit } => {
                    Term::Groups { orbit, first_factor: 0, rest_factor: factor, shift: 0 }
                }
                DigitForm::HalfRest { orbit } => {
                    Term::Groups { orbit, first_factor: 0, rest_factor: factor, shift: 1 }
                }
            });
            factor *= digit.divisor.value();
        }
        terms.sort_by_key(|term| match term {
            Term::Groups { orbit, .. } => (0, *orbit),
            Term::Plain { coordinate, .. } => (1, *coordinate),
        });
        terms.dedup_by(|second, first| first.join(*second));
        terms
    }

    /// Adds a term of each state's successor by a move to the successor's number.
    fn add_term(&self, mv: Move<'_>, term: Term, columns: &[u16], numbers: &mut [u64]) {
        let states = numbers.len();
        let of = |coordinate: usize| &columns[coordinate * states..][..states];
        let (actions, mv) = mv;
        let action = |coordinate: usize| &actions[coordinate][mv][..];
        match term {
            Term::Plain { coordinate, shift, factor } => {
                let action = action(coordinate);
                for (number, value) in numbers.iter_mut().zip(of(coordinate)) {
                    *number += u64::from(action[usize::from(*value)] >> shift) * factor;
                }
            }
            Term::Groups { orbit, first_factor, rest_factor, shift } => {
                let (at, Some(groups)) = self.groups(orbit) else { return };
                let values = [0, 1, 2].map(|group| of(at + group));
                let actions = [0, 1, 2].map(|group| action(at + group));
                let numbering = groups.numbering();
                let factors = numbering.factors(first_factor, rest_factor, shift);
                numbering.add_all(&factors, values, actions, numbers);
            }
        }
    }

    /// Writes the columns of the coordinates of states of one region, given by the low parts of their keys,
    /// which are consumed.
    pub(super) fn unpack(&self, high: u64, lows: &mut [u64], columns: &mut [u16]) {
        let states = lows.len();
        // The region first: digits come after those that they depend on.
        self.unpack_region(high, states, columns);
        for digit in self.local.iter().rev() {
            self.unpack_digit(*digit, lows, columns);
        }
        for constraint in self.parities.iter() {
            let orbit = &self.orbits[constraint.determined];
            let last = orbit.end() - 1;
            for state in 0..states {
                let is_odd = |orbit: usize| self.orbits[orbit].is_odd(columns, state, states);
                if is_odd(constraint.determined) != constraint.is_odd(is_odd) {
                    // Swaps the last two pieces.
                    columns[last * states + state] ^= 1;
                }
            }
        }
    }

    /// Writes the columns of the coordinates of a region, which are the same for all states.
    pub(super) fn unpack_region(&self, mut high: u64, states: usize, columns: &mut [u16]) {
        for digit in self.region.iter().rev() {
            let (quotient, rest) = digit.divisor.divide(high);
            high = quotient;
            let (coordinate, value) = match digit.form {
                DigitForm::First { orbit } => match self.groups(orbit) {
                    (at, Some(groups)) => (at, groups.numbering().first(rest as u32)),
                    (at, None) => (at, 0),
                },
                DigitForm::Plain { coordinate } => (coordinate, rest as u16),
                // Other digits occur in the low part only.
                _ => continue,
            };
            columns[coordinate * states..][..states].fill(value);
        }
    }

    /// Takes a digit off numbers and writes its coordinates.
    fn unpack_digit(&self, digit: Digit, numbers: &mut [u64], columns: &mut [u16]) {
        let states = numbers.len();
        let divisor = digit.divisor;
        let column = |coordinate: usize| coordinate * states..(coordinate + 1) * states;
        match digit.form {
            DigitForm::Plain { coordinate } => {
                let values = &mut columns[column(coordinate)];
                divisor.take_off(numbers, values, |rest, value| *value = rest as u16);
            }
            DigitForm::Half { orbit } => {
                let values = &mut columns[column(self.orbits[orbit].places_at)];
                divisor.take_off(numbers, values, |rest, value| *value = rest as u16 * 2);
            }
            DigitForm::First { orbit } => {
                let (at, Some(groups)) = self.groups(orbit) else { return };
                let values = &mut columns[column(at)];
                divisor.take_off(numbers, values, |rest, value| {
                    *value = groups.numbering().first(rest);
                });
            }
            DigitForm::Rest { orbit } | DigitForm::HalfRest { orbit } => {
                let (at, Some(groups)) = self.groups(orbit) else { return };
                let shift = u32::from(matches!(digit.form, DigitForm::HalfRest { .. }));
                let (firsts, others) = columns[at * states..].split_at_mut(states);
                let (seconds, thirds) = others.split_at_mut(states);
                let (numbering, values) =
                    (groups.numbering(), firsts.iter().zip(seconds).zip(thirds));
                divisor.take_off(numbers, values, |rest, ((first, second), third)| {
                    (*second, *third) = numbering.second_and_third(*first, rest << shift);
                });
            }
        }
    }
}

impl Term {
    /// Merges another term into this one if both are of the same three coordinates. Returns whether they
    /// are.
    fn join(&mut self, other: Term) -> bool {
        let Term::Groups { orbit, first_factor, rest_factor, shift } = self else { return false };
        match other {
            Term::Groups { orbit: same, first_factor: a, rest_factor: b, shift: c }
                if same == *orbit =>
            {
                *first_factor += a;
                *rest_factor += b;
                *shift += c;
                true
            }
            _ => false,
        }
    }
}

//! Constraints of parity and orientation that all members of a group satisfy.

use num_bigint::BigUint;

use crate::element::{Element, gcd};
use crate::shape::Shape;

/// Slots that exchange their pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orbit {
    /// The slots, ascending.
    pub slots: Vec<usize>,
    /// Orientations of each slot.
    pub orientations: u8,
    /// The sum of all turns of a member is a multiple of this divisor of `orientations`: 1 if there
    /// is no constraint, `orientations` if the sum is fixed.
    pub turn_step: u8,
}

/// A parity that a member has in one orbit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// Of the permutation of the orbit with this index.
    Permutation(usize),
    /// Of the sum of turns in the orbit with this index.
    Turns(usize),
}

/// A constraint: these parities are even together, in every member.
pub type Parity = Vec<Term>;

/// Orbits of a group, and the constraints that its generators satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariants {
    /// Orbits in which something is moved or turned, by their first slot.
    pub orbits: Vec<Orbit>,
    /// Independent constraints of parity.
    pub parities: Vec<Parity>,
}

impl Invariants {
    /// The constraints of the group that elements generate. Elements of other shapes are ignored.
    pub fn of(shape: &Shape, generators: &[Element]) -> Invariants {
        let generators: Vec<&Element> =
            generators.iter().filter(|generator| shape.has(generator)).collect();
        let orbits: Vec<Orbit> = orbits(shape, &generators)
            .into_iter()
            .filter(|slots| generators.iter().any(|g| slots.iter().any(|slot| !g.fixes(*slot))))
            .map(|slots| orbit(shape, &generators, slots))
            .collect();
        let parities = parities(&orbits, &generators);
        Invariants { orbits, parities }
    }

    /// Arrangements that keep every piece in its orbit.
    pub fn arrangements(&self) -> BigUint {
        let each = self.orbits.iter().map(|orbit| {
            let slots = orbit.slots.len() as u32;
            let permutations: BigUint = (1..=slots).map(BigUint::from).product();
            permutations * BigUint::from(orbit.orientations).pow(slots)
        });
        each.product()
    }

    /// Arrangements that satisfy all constraints: at least the order of the group.
    pub fn permitted(&self) -> BigUint {
        let steps = self.orbits.iter().map(|orbit| BigUint::from(orbit.turn_step));
        let index: BigUint = steps.product();
        self.arrangements() / (index << self.parities.len())
    }
}

/// The orbits of slots, fixed slots included.
fn orbits(shape: &Shape, generators: &[&Element]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; shape.slots()];
    let mut orbits = Vec::new();
    for first in 0..shape.slots() {
        if seen[first] {
            continue;
        }
        seen[first] = true;
        let mut orbit = vec![first];
        let mut next = 0;
        while let Some(slot) = orbit.get(next).copied() {
            for generator in generators {
                let image = usize::from(generator.images()[slot]);
                if !seen[image] {
                    seen[image] = true;
                    orbit.push(image);
                }
            }
            next += 1;
        }
        orbit.sort_unstable();
        orbits.push(orbit);
    }
    orbits
}

fn turn_sum(element: &Element, slots: &[usize]) -> u64 {
    slots.iter().map(|slot| u64::from(element.turns()[*slot])).sum()
}

fn orbit(shape: &Shape, generators: &[&Element], slots: Vec<usize>) -> Orbit {
    let orientations = shape.orientations()[slots[0]];
    let sums = generators.iter().map(|generator| turn_sum(generator, &slots));
    let turn_step = sums.fold(u64::from(orientations), gcd) as u8;
    Orbit { slots, orientations, turn_step }
}

/// Whether the permutation of an orbit is odd.
fn is_odd(element: &Element, slots: &[usize]) -> bool {
    let cycles = element.cycles();
    let inside = cycles.iter().filter(|(cycle, _)| slots.binary_search(&cycle[0]).is_ok());
    inside.filter(|(cycle, _)| cycle.len() % 2 == 0).count() % 2 == 1
}

/// A basis of the sets of terms that are even together in every generator.
fn parities(orbits: &[Orbit], generators: &[&Element]) -> Vec<Parity> {
    let mut terms = Vec::new();
    for (index, orbit) in orbits.iter().enumerate() {
        if orbit.slots.len() > 1 {
            terms.push(Term::Permutation(index));
        }
        // A step that is even says already that the sum is.
        if orbit.orientations.is_multiple_of(2) && !orbit.turn_step.is_multiple_of(2) {
            terms.push(Term::Turns(index));
        }
    }
    // Rows of terms; each has the parities of its generators and the terms that were added to it.
    let parity = |term: &Term, generator: &Element| match *term {
        Term::Permutation(index) => is_odd(generator, &orbits[index].slots),
        Term::Turns(index) => turn_sum(generator, &orbits[index].slots) % 2 == 1,
    };
    let mut rows: Vec<(Vec<bool>, Vec<bool>)> = (0..terms.len())
        .map(|row| {
            let odd = generators.iter().map(|generator| parity(&terms[row], generator)).collect();
            (odd, (0..terms.len()).map(|term| term == row).collect())
        })
        .collect();
    let mut done = 0;
    for generator in 0..generators.len() {
        let Some(pivot) = (done..rows.len()).find(|row| rows[*row].0[generator]) else { continue };
        rows.swap(done, pivot);
        let (odd, sum) = rows[done].clone();
        for row in rows.iter_mut().skip(done + 1).filter(|row| row.0[generator]) {
            row.0.iter_mut().zip(&odd).for_each(|(bit, other)| *bit ^= other);
            row.1.iter_mut().zip(&sum).for_each(|(bit, other)| *bit ^= other);
        }
        done += 1;
    }
    let even = rows.into_iter().skip(done).map(|(_, sum)| sum);
    let named = |sum: Vec<bool>| {
        let terms = terms.iter().zip(sum);
        terms.filter(|(_, included)| *included).map(|(term, _)| *term).collect()
    };
    even.map(named).collect()
}

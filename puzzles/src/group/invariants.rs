//! Constraints of parity and orientation that all members of a group satisfy.

use num_bigint::BigUint;

use crate::group::element::{Element, gcd};
use crate::group::shape::Shape;

/// An orbit: slots whose pieces the generators exchange.
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

/// A parity of a member in one orbit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// The parity of the permutation of the orbit with this index.
    Permutation(usize),
    /// The parity of the sum of turns in the orbit with this index.
    Turns(usize),
}

/// A constraint: in every member, the sum of these parities is even.
pub type Parity = Vec<Term>;

/// Orbits of a group, and the constraints that its generators satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariants {
    /// Orbits in which a generator moves or turns a piece, in the order of their first slots.
    pub orbits: Vec<Orbit>,
    /// Linearly independent constraints of parity.
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
        let parities = parities(shape, &orbits, &generators);
        Invariants { orbits, parities }
    }

    /// The number of arrangements that keep every piece in its orbit.
    pub fn arrangements(&self) -> BigUint {
        let each = self.orbits.iter().map(|orbit| {
            let slots = orbit.slots.len() as u32;
            let permutations: BigUint = (1..=slots).map(BigUint::from).product();
            permutations * BigUint::from(orbit.orientations).pow(slots)
        });
        each.product()
    }

    /// The number of arrangements that satisfy all constraints: an upper bound of the group's order.
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

/// By orbit, whether an element's permutation of it is odd. `orbit_of` has the orbit of each slot.
fn odd_orbits(element: &Element, orbit_of: &[Option<usize>], orbits: usize) -> Vec<bool> {
    let mut odd = vec![false; orbits];
    let mut seen = vec![false; orbit_of.len()];
    for (first, orbit) in orbit_of.iter().enumerate() {
        let (mut slot, mut length) = (first, 0_usize);
        while !std::mem::replace(&mut seen[slot], true) {
            length += 1;
            slot = usize::from(element.images()[slot]);
        }
        if let Some(orbit) = orbit.filter(|_| length > 0 && length.is_multiple_of(2)) {
            odd[orbit] = !odd[orbit];
        }
    }
    odd
}

/// A row of a system of linear equations over bits, packed into words.
#[derive(Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }

    fn flip(&mut self, at: usize) {
        self.0[at / 64] ^= 1 << (at % 64);
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn add(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word ^= other);
    }
}

/// A basis of the sets of terms whose sum is even in every generator.
fn parities(shape: &Shape, orbits: &[Orbit], generators: &[&Element]) -> Vec<Parity> {
    let mut terms = Vec::new();
    for (index, orbit) in orbits.iter().enumerate() {
        if orbit.slots.len() > 1 {
            terms.push(Term::Permutation(index));
        }
        // An even step of turns already implies that their sum is even.
        if orbit.orientations.is_multiple_of(2) && !orbit.turn_step.is_multiple_of(2) {
            terms.push(Term::Turns(index));
        }
    }
    let mut orbit_of = vec![None; shape.slots()];
    for (index, orbit) in orbits.iter().enumerate() {
        orbit.slots.iter().for_each(|slot| orbit_of[*slot] = Some(index));
    }
    // Rows of terms; each has the parities of its generators and the terms that were added to it.
    let empty = || (Bits::new(generators.len()), Bits::new(terms.len()));
    let mut rows: Vec<(Bits, Bits)> = terms.iter().map(|_| empty()).collect();
    rows.iter_mut().enumerate().for_each(|(row, (_, sum))| sum.flip(row));
    for (number, generator) in generators.iter().enumerate() {
        let odd = odd_orbits(generator, &orbit_of, orbits.len());
        for (term, (row, _)) in terms.iter().zip(&mut rows) {
            let is_odd = match *term {
                Term::Permutation(index) => odd[index],
                Term::Turns(index) => turn_sum(generator, &orbits[index].slots) % 2 == 1,
            };
            if is_odd {
                row.flip(number);
            }
        }
    }
    let mut done = 0;
    for generator in 0..generators.len() {
        let pivot = (done..rows.len()).find(|row| rows[*row].0.has(generator));
        let Some(pivot) = pivot else { continue };
        rows.swap(done, pivot);
        let (odd, sum) = rows[done].clone();
        for row in rows.iter_mut().skip(done + 1).filter(|row| row.0.has(generator)) {
            row.0.add(&odd);
            row.1.add(&sum);
        }
        done += 1;
    }
    let named = |sum: &Bits| {
        let included = (0..terms.len()).filter(|term| sum.has(*term));
        included.map(|term| terms[term]).collect()
    };
    rows[done..].iter().map(|(_, sum)| named(sum)).collect()
}

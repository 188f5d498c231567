//! Mixed-radix numbers of a group's members, by the levels of its stabiliser chain.

use std::ops::Range;

use num_bigint::BigUint;

use crate::group::chain::StabiliserChain;
use crate::group::element::Element;
use crate::group::shape::Shape;

/// Mark of a point outside an orbit.
const OUTSIDE: u32 = u32::MAX;

/// A point of a base slot: a slot and a turn.
pub(crate) type Point = (u16, u8);

/// By slot, its rank in the order of the base slots. With points compared by this rank, the identity is the
/// least member: it brings each base slot's own point, with turn 0, to the slot.
struct Ranks(Vec<usize>);

impl Ranks {
    fn new(chain: &StabiliserChain) -> Ranks {
        let mut ranks = vec![usize::MAX; chain.shape().slots()];
        for (rank, level) in chain.levels().iter().enumerate() {
            ranks[level.base()] = rank;
        }
        Ranks(ranks)
    }

    /// The sort key of a point.
    fn of(&self, (slot, turn): Point) -> (usize, u8) {
        (self.0[usize::from(slot)], turn)
    }
}

/// One digit of a number: a level's transversal, sorted by the point that is brought to the base slot.
#[derive(Clone, Debug)]
struct Digit {
    base: usize,
    orientations: u8,
    /// By point, the digit.
    digits: Vec<u32>,
    representatives: Vec<Element>,
    inverses: Vec<Element>,
}

/// Mixed-radix numbers of members. A member is a product of one representative for each level, the first
/// level's on the left; the first level has the most significant digit. The identity has the number 0.
///
/// A representative is the least member of its coset, compared by the points that it brings to the base
/// slots in their order. Numbers therefore depend on the group and the base slots, not on how the chain
/// was found, and the products of moves with representatives have few different remainders.
///
/// Levels with one representative are left out.
#[derive(Clone, Debug)]
pub(crate) struct Radix {
    shape: Shape,
    digits: Vec<Digit>,
}

impl Digit {
    fn new(
        shape: &Shape,
        base: usize,
        mut representatives: Vec<Element>,
        ranks: &Ranks,
    ) -> Option<Digit> {
        let point = |element: &Element| (element.images()[base], element.turns()[base]);
        representatives.sort_by_key(|element| ranks.of(point(element)));
        let orientations = shape.orientations()[base];
        let mut digits = vec![OUTSIDE; shape.slots() * usize::from(orientations)];
        for (digit, representative) in (0..).zip(&representatives) {
            let (slot, turn) = point(representative);
            digits[usize::from(slot) * usize::from(orientations) + usize::from(turn)] = digit;
        }
        let inverses: Option<Vec<Element>> =
            representatives.iter().map(|element| element.inverse(shape)).collect();
        Some(Digit { base, orientations, digits, representatives, inverses: inverses? })
    }

    /// The representative with which a product has the least point at the base slot.
    fn least_of_product(&self, element: &Element, ranks: &Ranks) -> Option<&Element> {
        self.representatives.iter().min_by_key(|representative| {
            let point = (representative.images()[self.base], representative.turns()[self.base]);
            ranks.of(compose(element, point, self.orientations))
        })
    }

    #[inline]
    fn of(&self, (slot, turn): Point) -> Option<u32> {
        let at = usize::from(slot) * usize::from(self.orientations) + usize::from(turn);
        self.digits.get(at).copied().filter(|digit| *digit != OUTSIDE)
    }
}

/// The point of `(a · b)` at a base slot, where `b` brings the slot to `point`.
#[inline]
pub(crate) fn compose(a: &Element, point: Point, orientations: u8) -> Point {
    let slot = usize::from(point.0);
    let sum = u16::from(point.1) + u16::from(a.turns()[slot]);
    let orientations = u16::from(orientations);
    (a.images()[slot], if sum >= orientations { sum - orientations } else { sum } as u8)
}

impl Radix {
    /// Steps of [`Self::new`]: each representative is divided by those of the levels after its own.
    pub(crate) fn steps(chain: &StabiliserChain) -> u64 {
        let (mut steps, mut after) = (0_u64, 0_u64);
        for level in chain.levels().iter().rev().filter(|level| level.len() > 1) {
            let own = level.len() as u64;
            steps = steps.saturating_add(own.saturating_mul(after));
            after += own + chain.shape().slots() as u64;
        }
        steps
    }

    /// The numbers of the members of a chain's group; None if the chain is not of its shape.
    pub(crate) fn new(chain: &StabiliserChain) -> Option<Radix> {
        let (shape, ranks) = (chain.shape(), Ranks::new(chain));
        // From the last level to the first: the least member of a coset is found from the later digits.
        let mut digits: Vec<Digit> = Vec::new();
        for level in chain.levels().iter().rev().filter(|level| level.len() > 1) {
            let least = level.representatives().iter().map(|of_chain| {
                digits.iter().rev().try_fold(of_chain.clone(), |least, digit| {
                    least.times(digit.least_of_product(&least, &ranks)?, shape)
                })
            });
            let least = least.collect::<Option<Vec<Element>>>()?;
            digits.push(Digit::new(shape, level.base(), least, &ranks)?);
        }
        digits.reverse();
        Some(Radix { shape: shape.clone(), digits })
    }

    /// Estimated steps of a product of members and of reading `digits` of its digits.
    pub(crate) fn product_steps(&self, digits: usize) -> u64 {
        (self.shape.slots() + digits * digits) as u64
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of members.
    pub(crate) fn order(&self) -> BigUint {
        self.digits.iter().map(|digit| BigUint::from(digit.representatives.len())).product()
    }

    /// The base slot of a digit.
    pub(crate) fn slot(&self, digit: usize) -> usize {
        self.digits[digit].base
    }

    /// The number of digits.
    pub(crate) fn len(&self) -> usize {
        self.digits.len()
    }

    /// The number of values of a digit.
    pub(crate) fn base(&self, digit: usize) -> usize {
        self.digits[digit].representatives.len()
    }

    /// The representative for a value of a digit.
    pub(crate) fn representative(&self, digit: usize, value: usize) -> &Element {
        &self.digits[digit].representatives[value]
    }

    /// The inverse of the representative for a value of a digit.
    pub(crate) fn inverse(&self, digit: usize, value: usize) -> &Element {
        &self.digits[digit].inverses[value]
    }

    /// Reads the digits in a range of a member that fixes the base slots before the range. `image` returns
    /// the member's points at base slots. Returns false if the element is not a member.
    #[inline]
    pub(crate) fn read(
        &self,
        range: Range<usize>,
        image: impl Fn(usize, u8) -> Point,
        out: &mut [u32],
    ) -> bool {
        for at in range.clone() {
            let digit = &self.digits[at];
            let mut point = image(digit.base, digit.orientations);
            for (value, before) in out[range.start..at].iter().zip(&self.digits[range.start..]) {
                point = compose(&before.inverses[*value as usize], point, digit.orientations);
            }
            match digit.of(point) {
                Some(value) => out[at] = value,
                None => return false,
            }
        }
        true
    }

    /// The number of these digits, which begin with the digit `from`.
    #[inline]
    pub(crate) fn number(&self, from: usize, values: &[u32]) -> u64 {
        let digits = self.digits[from..].iter().zip(values);
        digits.fold(0, |number, (digit, value)| {
            number * digit.representatives.len() as u64 + u64::from(*value)
        })
    }

    /// The member of a number over the digits from `from` up to `to`.
    pub(crate) fn member(&self, from: usize, to: usize, mut number: u64) -> Option<Element> {
        let mut product = self.shape.identity();
        for digit in self.digits[from..to].iter().rev() {
            let base = digit.representatives.len() as u64;
            let representative = &digit.representatives[(number % base) as usize];
            product = representative.times(&product, &self.shape)?;
            number /= base;
        }
        Some(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::chain::Effort;

    #[test]
    fn representatives_are_the_least_of_their_cosets() {
        let shape = Shape::new(vec![2; 5]).unwrap();
        let cycle = shape.element(&[1, 2, 3, 4, 0], &[0, 1, 0, 0, 0]).unwrap();
        let flip = shape.element(&[2, 1, 0, 3, 4], &[1, 0, 0, 0, 1]).unwrap();
        let chain = StabiliserChain::new(&shape, &[cycle, flip], Effort::default()).unwrap();
        let radix = Radix::new(&chain).unwrap();
        let points = |element: &Element| -> Vec<Point> {
            let bases = radix.digits.iter().map(|digit| digit.base);
            bases.map(|slot| (element.images()[slot], element.turns()[slot])).collect()
        };
        for digit in 0..radix.len() {
            let after: u64 = (digit + 1..radix.len()).map(|d| radix.base(d) as u64).product();
            for value in 0..radix.base(digit) {
                let representative = radix.representative(digit, value);
                let members = (0..after).map(|number| {
                    let member = radix.member(digit + 1, radix.len(), number).unwrap();
                    points(&representative.times(&member, &shape).unwrap())
                });
                assert_eq!(members.min().unwrap(), points(representative));
            }
        }
    }

    #[test]
    fn all_members_have_different_numbers_and_are_found_by_them() {
        let shape = Shape::new(vec![2, 2, 2, 3, 3]).unwrap();
        let turn = shape.element(&[1, 2, 0, 4, 3], &[0, 1, 0, 1, 0]).unwrap();
        let swap = shape.element(&[1, 0, 2, 3, 4], &[1, 1, 0, 0, 0]).unwrap();
        let chain = StabiliserChain::new(&shape, &[turn, swap], Effort::default()).unwrap();
        let radix = Radix::new(&chain).unwrap();
        let order: u64 = (0..radix.len()).map(|digit| radix.base(digit) as u64).product();
        assert_eq!(chain.order(), order.into());
        let mut digits = vec![0; radix.len()];
        for number in 0..order {
            let member = radix.member(0, radix.len(), number).unwrap();
            assert!(chain.contains(&member));
            let image = |slot: usize, _| (member.images()[slot], member.turns()[slot]);
            assert!(radix.read(0..radix.len(), image, &mut digits));
            assert_eq!(radix.number(0, &digits), number);
        }
        assert!(radix.member(0, radix.len(), 0).unwrap().is_identity());
        let stranger = shape.element(&[0, 1, 2, 3, 4], &[1, 0, 0, 0, 0]).unwrap();
        assert!(!chain.contains(&stranger));
        let image = |slot: usize, _| (stranger.images()[slot], stranger.turns()[slot]);
        assert!(!radix.read(0..radix.len(), image, &mut digits));
    }
}

//! Members of a group that symmetries fix, found by backtracking over a stabiliser chain.
//!
//! A symmetry s fixes a member g if s g s⁻¹ = g. The point that g brings to the image of a slot is then
//! the image of the point that it brings to the slot. The base of the chain therefore follows the cycles
//! of s: in each cycle, the search branches at the first slot only, and the other slots are determined.

use std::cmp::Ordering;

use num_bigint::BigUint;
use strata_space::Work;
use strata_space::dense::FixedPositions;

use crate::group::chain::{Effort, Level, StabiliserChain};
use crate::group::element::Element;
use crate::group::error::GroupError;
use crate::group::radix::{Point, compose};
use crate::group::shape::Shape;
use crate::group::symmetry::{Products, Symmetry};

/// Maximum number of states that are listed, of 12 bytes each.
const MOST_STATES: usize = 1 << 20;

/// Maximum number of representatives that are tried, for all symmetries together.
const MOST_STEPS: u64 = 1 << 24;

/// Minimum number of pairs that are merged.
const LEAST_MERGED: usize = 1 << 16;

/// A group, by its moves and its order.
#[derive(Copy, Clone)]
pub(crate) struct Group<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) moves: &'a [Element],
    pub(crate) order: &'a BigUint,
    /// Limits of the chain for each symmetry.
    pub(crate) effort: Effort,
}

/// The positions that symmetries of the moves fix, by state number. `number` returns the number of a
/// member's state. None if there are too many positions, a chain exceeds its limits, or the symmetries
/// are not a group with the identity first.
///
/// # Errors
/// If a move is of another shape, or `number` returns None.
pub(crate) fn fixed_positions(
    group: Group<'_>,
    symmetries: &[Symmetry],
    number: impl Fn(&Element) -> Option<u64>,
) -> Result<Option<FixedPositions>, GroupError> {
    let Some(products) = Products::new(symmetries) else { return Ok(None) };
    let (mut steps, mut pairs) = (MOST_STEPS, Pairs::default());
    // Layers are closed under symmetries, so conjugate symmetries fix equally many positions of a layer.
    // Symmetries that commute with one permute the members that it fixes; one of each orbit is listed.
    for (index, commuting) in products.classes() {
        let symmetry = &symmetries[usize::from(index)];
        let others: Vec<&Symmetry> =
            commuting.iter().map(|other| &symmetries[usize::from(*other)]).collect();
        let mut add = |member: &Element| {
            let fixing = fixing_least(member, &others, group.shape)?;
            let Some(fixing) = fixing else { return Ok(()) };
            let number = number(member).ok_or(Stop::Wrong)?;
            // The number of conjugates of the symmetry, times the number of members in the orbit.
            pairs.add(number, symmetries.len() as u32 / fixing)
        };
        match each_fixed(group, symmetry, &mut steps, &mut add)? {
            Ok(()) => {}
            Err(Stop::Limit) => return Ok(None),
            Err(Stop::Wrong) => return Err(GroupError::NotMember { what: "a fixed position" }),
        }
    }
    let fixed = FixedPositions::new(symmetries.len() as u32, pairs.found);
    Ok(fixed.filter(|fixed| fixed.len() <= MOST_STATES))
}

/// The number of `symmetries` that fix a member; None if the member is not the least of its images.
fn fixing_least(
    member: &Element,
    symmetries: &[&Symmetry],
    shape: &Shape,
) -> Result<Option<u32>, Stop> {
    let mut fixing = 0;
    for symmetry in symmetries {
        match symmetry.conjugate(member, shape).ok_or(Stop::Wrong)?.cmp(member) {
            Ordering::Less => return Ok(None),
            Ordering::Equal => fixing += 1,
            Ordering::Greater => {}
        }
    }
    Ok(Some(fixing))
}

/// Why an enumeration ends early.
enum Stop {
    /// There are too many members, or a chain exceeds its limits.
    Limit,
    /// An element is not of the group or of its shape.
    Wrong,
}

/// Pairs of a state's number and a count. Equal numbers are merged whenever the list has doubled.
#[derive(Default)]
struct Pairs {
    found: Vec<(u64, u32)>,
    merged: usize,
}

impl Pairs {
    fn add(&mut self, number: u64, count: u32) -> Result<(), Stop> {
        self.found.push((number, count));
        if self.found.len() < (2 * self.merged).max(LEAST_MERGED) {
            return Ok(());
        }
        self.found.sort_unstable_by_key(|(number, _)| *number);
        let mut exceeds = false;
        self.found.dedup_by(|(number, count), (kept, sum)| {
            let is_same = number == kept;
            if is_same {
                exceeds |= sum.checked_add(*count).is_none();
                *sum = sum.saturating_add(*count);
            }
            is_same
        });
        self.merged = self.found.len();
        if exceeds || self.merged > MOST_STATES { Err(Stop::Limit) } else { Ok(()) }
    }
}

/// Calls `visit` with each member that a symmetry fixes. `steps` is the work that is left.
///
/// # Errors
/// If a move is of another shape.
fn each_fixed(
    group: Group<'_>,
    symmetry: &Symmetry,
    steps: &mut u64,
    visit: &mut dyn FnMut(&Element) -> Result<(), Stop>,
) -> Result<Result<(), Stop>, GroupError> {
    let Group { shape, moves, order, effort } = group;
    let cycles = cycles(symmetry, shape, moves);
    let base: Vec<usize> = cycles.iter().flatten().copied().collect();
    let order = Some(order.clone());
    let chain = match StabiliserChain::with_base(
        shape,
        moves,
        (&base, order),
        effort,
        &Work::unlimited(),
    ) {
        Ok(chain) if chain.is_verified() => chain,
        // The chain can take more with this base than with the search's. Orbits are optional, so they are
        // left uncounted.
        Ok(_) | Err(GroupError::Memory { .. } | GroupError::Work { .. }) => {
            return Ok(Err(Stop::Limit));
        }
        Err(error) => return Err(error),
    };
    let ends = cycles.iter().flat_map(|cycle| {
        let before = std::iter::once(None).chain(cycle.iter().copied().map(Some));
        let last = cycle.len() - 1;
        cycle.iter().zip(before).enumerate().map(move |(at, (_, before))| Place {
            before,
            closes: (at == last).then_some(cycle[0]),
        })
    });
    let places: Vec<(Place, &Level)> = ends.zip(chain.levels()).collect();
    let mut search = Search { shape, symmetry, places, steps, visit };
    Ok(search.extend(0, &shape.identity(), &shape.identity()))
}

/// The cycles of a symmetry among the slots that moves change.
fn cycles(symmetry: &Symmetry, shape: &Shape, moves: &[Element]) -> Vec<Vec<usize>> {
    let is_moved = |slot: &usize| moves.iter().any(|element| !element.fixes(*slot));
    let mut is_known = vec![false; shape.slots()];
    let mut cycles = Vec::new();
    for first in (0..shape.slots()).filter(is_moved) {
        let (mut cycle, mut slot) = (Vec::new(), first);
        while !std::mem::replace(&mut is_known[slot], true) {
            cycle.push(slot);
            slot = usize::from(symmetry.images()[slot]);
        }
        if !cycle.is_empty() {
            cycles.push(cycle);
        }
    }
    cycles
}

/// A base slot's place in its cycle.
#[derive(Copy, Clone)]
struct Place {
    /// The preceding slot of the cycle, whose image this slot is; None for the first slot.
    before: Option<usize>,
    /// For the last slot, the first slot of the cycle, which is the last one's image.
    closes: Option<usize>,
}

/// Backtracking over the levels of a chain.
struct Search<'a> {
    shape: &'a Shape,
    symmetry: &'a Symmetry,
    /// By level.
    places: Vec<(Place, &'a Level)>,
    steps: &'a mut u64,
    visit: &'a mut dyn FnMut(&Element) -> Result<(), Stop>,
}

impl Search<'_> {
    /// Extends a product of representatives of the levels before `at`. `inverse` is its inverse.
    fn extend(&mut self, at: usize, product: &Element, inverse: &Element) -> Result<(), Stop> {
        let Some((place, level)) = self.places.get(at).copied() else {
            let image = self.symmetry.conjugate(product, self.shape);
            return if image.as_ref() == Some(product) { (self.visit)(product) } else { Ok(()) };
        };
        let Some(before) = place.before else {
            return (0..level.len())
                .try_for_each(|number| self.choose(at, number, product, inverse));
        };
        let wanted = self.image(product, before);
        let orientations = self.shape.orientations()[level.base()];
        let (slot, turn) = compose(inverse, wanted, orientations);
        match level.number(slot, turn) {
            Some(number) => self.choose(at, number, product, inverse),
            None => Ok(()),
        }
    }

    /// Extends a product by a representative of a level.
    fn choose(
        &mut self,
        at: usize,
        number: usize,
        product: &Element,
        inverse: &Element,
    ) -> Result<(), Stop> {
        *self.steps = self.steps.checked_sub(1).ok_or(Stop::Limit)?;
        let (place, level) = self.places[at];
        let factor = level.pair(number).ok_or(Stop::Wrong)?;
        let product = product.times(factor.0, self.shape).ok_or(Stop::Wrong)?;
        let point = |slot: usize| (product.images()[slot], product.turns()[slot]);
        let is_open = |first: usize| self.image(&product, level.base()) != point(first);
        if place.closes.is_some_and(is_open) {
            return Ok(());
        }
        let inverse = factor.1.times(inverse, self.shape).ok_or(Stop::Wrong)?;
        self.extend(at + 1, &product, &inverse)
    }

    /// The point that a member fixed by the symmetry brings to the image of a slot.
    fn image(&self, member: &Element, slot: usize) -> Point {
        let point = (member.images()[slot], member.turns()[slot]);
        self.symmetry.image(point, (slot, self.shape.orientations()[slot]))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::group::radix::Radix;
    use crate::group::symmetry::{Pieces, SymmetryLimits};

    /// Checks that the chain finds the members that each symmetry fixes. Returns their numbers.
    fn check(shape: &Shape, moves: &[Element]) -> Vec<usize> {
        let chain = StabiliserChain::new(shape, moves, Effort::default()).unwrap();
        let radix = Radix::new(&chain).unwrap();
        let (order, mut counts) = (chain.order(), Vec::new());
        let group = Group { shape, moves, order: &order, effort: Effort::default() };
        let members: Vec<Element> = (0..u64::try_from(&order).unwrap())
            .map(|number| radix.member(0, radix.len(), number).unwrap())
            .collect();
        let pieces = Pieces::different(shape);
        for symmetry in Symmetry::all(shape, moves, &pieces, SymmetryLimits::default()).unwrap() {
            let is_fixed =
                |member: &&Element| symmetry.conjugate(member, shape).as_ref() == Some(*member);
            let expected: BTreeSet<&Element> = members.iter().filter(is_fixed).collect();
            let (mut found, mut steps) = (Vec::new(), u64::MAX);
            let mut visit = |member: &Element| {
                found.push(member.clone());
                Ok(())
            };
            assert!(each_fixed(group, &symmetry, &mut steps, &mut visit).unwrap().is_ok());
            assert_eq!(found.len(), expected.len());
            assert_eq!(found.iter().collect::<BTreeSet<_>>(), expected);
            counts.push(found.len());
        }
        counts
    }

    /// Swaps of neighbours in a ring of six.
    fn ring() -> (Shape, [Element; 6]) {
        let shape = Shape::plain(6).unwrap();
        let swap = |at: usize| {
            let mut images = [0, 1, 2, 3, 4, 5];
            images.swap(at, (at + 1) % 6);
            shape.permutation(&images).unwrap()
        };
        let moves = [0, 1, 2, 3, 4, 5].map(swap);
        (shape, moves)
    }

    #[test]
    fn members_that_symmetries_of_a_ring_fix_are_found() {
        let (shape, moves) = ring();
        let mut counts = check(&shape, &moves);
        counts.sort_unstable();
        // The centralisers of the dihedral group in the symmetric group: of rotations by 1, 2 and 3, of
        // reflections that fix two slots and none, and of the identity.
        assert_eq!(counts, [6, 6, 16, 16, 16, 18, 18, 48, 48, 48, 48, 720]);
    }

    #[test]
    fn members_with_turns_that_mirror_images_fix_are_found() {
        // Two rings of three slots with a common one, whose pieces are turned.
        let shape = Shape::new(vec![3; 5]).unwrap();
        let left = shape.element(&[1, 2, 0, 3, 4], &[1, 2, 0, 0, 0]).unwrap();
        let right = shape.element(&[0, 1, 4, 2, 3], &[0, 0, 0, 2, 1]).unwrap();
        let inverses = [&left, &right].map(|element| element.inverse(&shape).unwrap());
        let moves = [[left, right], inverses].concat();
        let counts = check(&shape, &moves);
        assert!(counts.len() > 1, "{counts:?}");
        assert!(counts[1..].iter().all(|count| *count > 1), "{counts:?}");
    }

    #[test]
    fn a_chain_beyond_its_limits_leaves_orbits_unknown() {
        let (shape, moves) = ring();
        let pieces = Pieces::different(&shape);
        let symmetries = Symmetry::all(&shape, &moves, &pieces, SymmetryLimits::default()).unwrap();
        let order = BigUint::from(720_u32);
        let found = |effort| {
            let group = Group { shape: &shape, moves: &moves, order: &order, effort };
            fixed_positions(group, &symmetries, |_| Some(0)).unwrap()
        };
        let whole = Effort::default();
        assert!(found(whole).is_some());
        assert_eq!(found(Effort { steps: 1, ..whole }), None);
        assert_eq!(found(Effort { bytes: 1, ..whole }), None);
    }

    #[test]
    fn too_many_states_are_not_listed() {
        let mut pairs = Pairs::default();
        let all = (0..=2 * MOST_STATES as u64).map(|number| pairs.add(number % 7, 1));
        assert!(all.into_iter().all(|added| added.is_ok()));
        assert!(pairs.found.len() < 2 * LEAST_MERGED);
        let mut pairs = Pairs::default();
        assert!((0..4 * MOST_STATES as u64).any(|number| pairs.add(number, 1).is_err()));
        assert!(pairs.found.len() <= 3 * MOST_STATES);
    }
}

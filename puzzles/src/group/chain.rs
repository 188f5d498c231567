//! Stabiliser chains: order of, and membership in, the group that some elements generate.

use num_bigint::BigUint;
use strata_space::{Work, WorkError};

use crate::group::element::{Element, add};
use crate::group::error::GroupError;
use crate::group::random::RandomMembers;
use crate::group::shape::Shape;

/// Random members in a row that must belong to the chain before it is verified.
const QUIET: usize = 30;

/// Mark of a point outside an orbit.
const OUTSIDE: u32 = u32::MAX;

/// Limits of the construction of a chain.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Steps of work, of about a nanosecond each: a product of two elements takes one step per slot.
    pub steps: u64,
    /// Bytes of all transversals.
    pub bytes: usize,
}

impl Default for Effort {
    /// Some seconds and 256 MiB.
    fn default() -> Effort {
        Effort { steps: 3_000_000_000, bytes: 256 << 20 }
    }
}

/// A base and strong generating set, with all transversals.
///
/// The members that fix the base slots before slot `i` bring several points (a slot and a turn) to base
/// slot `i`. Level `i` holds one such member for each point. The chain is found from random members
/// (Schreier and Sims, with Leon's random method), and then verified with all Schreier generators, so
/// that its order is exact.
#[derive(Clone, Debug)]
pub struct StabiliserChain {
    shape: Shape,
    levels: Vec<Level>,
    /// Each with the number of levels whose base slots it fixes.
    strong: Vec<(usize, Element)>,
    is_verified: bool,
    budget: Budget,
}

/// One level of a chain: the transversal of a base slot.
#[derive(Clone, Debug)]
pub struct Level {
    base: usize,
    width: usize,
    /// By point, the number of its representative.
    numbers: Vec<u32>,
    representatives: Vec<Element>,
    inverses: Vec<Element>,
}

/// Work and memory that are left.
#[derive(Clone, Debug)]
struct Budget {
    effort: Effort,
    steps: u64,
    bytes: usize,
    /// The caller's budget, which other work shares.
    work: Work,
    /// Steps that are not yet charged to the caller's budget.
    unpaid: u64,
}

/// A limit was reached: that of the chain's own effort (None), or that of the caller's work.
struct Exhausted(Option<WorkError>);

impl Exhausted {
    /// The error of work that cannot end with a result.
    fn into_error(self, limit: u64) -> GroupError {
        self.0.map_or(GroupError::Work { limit }, GroupError::Stopped)
    }
}

/// Steps of a look-up of a point in an orbit.
const LOOK_UP: usize = 4;

/// Steps after which they are charged to the caller's budget.
const UNPAID: u64 = 1 << 16;

impl Budget {
    fn new(effort: Effort, work: &Work) -> Budget {
        let Effort { steps, bytes } = effort;
        Budget { effort, steps, bytes, work: work.clone(), unpaid: 0 }
    }

    #[inline]
    fn work(&mut self, steps: usize) -> Result<(), Exhausted> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(Exhausted(None))?;
        self.unpaid += steps as u64;
        if self.unpaid < UNPAID { Ok(()) } else { self.pay() }
    }

    #[cold]
    fn pay(&mut self) -> Result<(), Exhausted> {
        let unpaid = std::mem::take(&mut self.unpaid);
        self.work.spend(unpaid).map_err(|error| Exhausted(Some(error)))
    }

    fn take(&mut self, bytes: usize) -> Result<(), GroupError> {
        let limit = self.effort.bytes;
        self.bytes = self.bytes.checked_sub(bytes).ok_or(GroupError::Memory { limit })?;
        Ok(())
    }
}

impl Level {
    fn new(shape: &Shape, base: usize) -> Level {
        let width = usize::from(shape.orientations()[base]);
        Level {
            base,
            width,
            numbers: vec![OUTSIDE; shape.slots() * width],
            representatives: Vec::new(),
            inverses: Vec::new(),
        }
    }

    /// The base slot.
    pub fn base(&self) -> usize {
        self.base
    }

    /// The length of the orbit: the number of representatives in the transversal.
    pub fn len(&self) -> usize {
        self.representatives.len()
    }

    /// Whether there are no representatives. Always false, since the identity is one.
    pub fn is_empty(&self) -> bool {
        self.representatives.is_empty()
    }

    /// The members of the transversal, the identity first.
    pub fn representatives(&self) -> &[Element] {
        &self.representatives
    }

    /// The representative that brings `image`, turned by `turn`, to the base slot.
    pub fn representative(&self, image: u16, turn: u8) -> Option<&Element> {
        self.number(image, turn).and_then(|number| self.representatives.get(number))
    }

    /// The number of the representative that brings `image`, turned by `turn`, to the base slot.
    pub(crate) fn number(&self, image: u16, turn: u8) -> Option<usize> {
        let number = self.numbers.get(usize::from(image) * self.width + usize::from(turn))?;
        (*number != OUTSIDE).then_some(*number as usize)
    }

    /// The representative with a number, and its inverse.
    pub(crate) fn pair(&self, number: usize) -> Option<(&Element, &Element)> {
        self.representatives.get(number).zip(self.inverses.get(number))
    }

    fn number_of(&self, element: &Element) -> Option<usize> {
        self.number(*element.images().get(self.base)?, *element.turns().get(self.base)?)
    }

    /// The point that the product of a member and a representative brings to the base slot.
    fn image(&self, member: &Element, number: usize, orientations: &[u8]) -> Option<(u16, u8)> {
        let representative = self.representatives.get(number)?;
        let slot = usize::from(representative.images()[self.base]);
        let turn = add(
            member.turns()[slot],
            representative.turns()[self.base],
            *orientations.get(self.base)?,
        );
        Some((member.images()[slot], turn))
    }

    fn push(&mut self, representative: Element, inverse: Element) {
        let point = usize::from(representative.images()[self.base]) * self.width
            + usize::from(representative.turns()[self.base]);
        if let Some(number) = self.numbers.get_mut(point) {
            *number = self.representatives.len() as u32;
            self.representatives.push(representative);
            self.inverses.push(inverse);
        }
    }
}

impl StabiliserChain {
    /// The chain of the group that these elements generate. The base slots are those that any of
    /// them moves or turns, ascending.
    ///
    /// If the verification exceeds the limit of steps, [`Self::is_verified`] is false.
    ///
    /// # Errors
    /// If an element is not of the shape, the transversals exceed the limit of memory, or the search for
    /// them exceeds the limit of steps.
    pub fn new(
        shape: &Shape,
        generators: &[Element],
        effort: Effort,
    ) -> Result<StabiliserChain, GroupError> {
        StabiliserChain::within(shape, generators, effort, &Work::unlimited())
    }

    /// As [`Self::new`], with the steps also charged to `work`. There is no result if `work` is exhausted.
    ///
    /// # Errors
    /// As [`Self::new`]; [`GroupError::Stopped`] if the work has no steps left or is cancelled.
    pub fn within(
        shape: &Shape,
        generators: &[Element],
        effort: Effort,
        work: &Work,
    ) -> Result<StabiliserChain, GroupError> {
        StabiliserChain::with_base(shape, generators, (&[], None), effort, work)
    }

    /// The chain of the same group with these base slots first. `generators` generate the group. If
    /// this chain is verified, its order verifies the new one, too.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn rebased(
        &self,
        generators: &[Element],
        first: &[usize],
        work: &Work,
    ) -> Result<StabiliserChain, GroupError> {
        let order = self.is_verified.then(|| self.order());
        let effort = self.budget.effort;
        StabiliserChain::with_base(&self.shape, generators, (first, order), effort, work)
    }

    /// The chain of the group that these elements generate, with base slots that come first, and the order
    /// of the group if it is known.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn with_base(
        shape: &Shape,
        generators: &[Element],
        (first, order): (&[usize], Option<BigUint>),
        effort: Effort,
        work: &Work,
    ) -> Result<StabiliserChain, GroupError> {
        if generators.iter().any(|generator| !shape.has(generator)) {
            return Err(GroupError::OtherShape);
        }
        let moved = |slot: &usize| generators.iter().any(|generator| !generator.fixes(*slot));
        let rest = (0..shape.slots()).filter(|slot| !first.contains(slot));
        let bases: Vec<usize> = first.iter().copied().chain(rest).filter(moved).collect();
        let budget = Budget::new(effort, work);
        let mut chain = StabiliserChain {
            shape: shape.clone(),
            levels: Vec::new(),
            strong: Vec::new(),
            is_verified: false,
            budget,
        };
        for base in bases {
            chain.budget.take(shape.slots() * usize::from(shape.orientations()[base]) * 4)?;
            chain.levels.push(Level::new(shape, base));
            chain.add_representative(chain.levels.len() - 1, shape.identity())?;
        }
        let found = chain.find(generators, order.as_ref())?;
        found.map_err(|exhausted| exhausted.into_error(effort.steps))?;
        // Each level's orbit is part of the group's, so a chain with the group's order is complete.
        chain.is_verified = order.is_some_and(|order| chain.order() == order);
        if chain.is_verified {
            return Ok(chain);
        }
        match chain.verify()? {
            // A chain that used up its own effort is a lower bound.
            Ok(()) | Err(Exhausted(None)) => Ok(chain),
            Err(exhausted) => Err(exhausted.into_error(effort.steps)),
        }
    }

    /// Adds Schreier generators until all of them are members.
    fn verify(&mut self) -> Result<Result<(), Exhausted>, GroupError> {
        loop {
            let residue = match self.check() {
                Ok(Some(residue)) => residue,
                Ok(None) => return Ok(Ok(())),
                Err(exhausted) => return Ok(Err(exhausted)),
            };
            if let Err(exhausted) = self.insert(residue)? {
                return Ok(Err(exhausted));
            }
        }
    }

    /// The exact order of the group, if [`Self::is_verified`]; otherwise a lower bound.
    pub fn order(&self) -> BigUint {
        self.levels.iter().map(|level| BigUint::from(level.len())).product()
    }

    /// Whether all Schreier generators were checked, so that order and membership are exact.
    pub fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// The shape of the elements.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The levels, with their transversals.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Whether an element is a member. If the chain is not verified, a member may be denied.
    pub fn contains(&self, element: &Element) -> bool {
        let is_sifted = |(_, rest, _): (usize, Element, usize)| rest.is_identity();
        self.shape.has(element) && self.sift(element.clone(), 0).is_some_and(is_sifted)
    }

    /// Divides an element by representatives from a level on. Returns the level at which the division ends,
    /// the remainder and the steps taken; None if the element is of another shape.
    fn sift(&self, mut element: Element, from: usize) -> Option<(usize, Element, usize)> {
        let mut steps = 0;
        for (at, level) in self.levels.iter().enumerate().skip(from) {
            steps += 1;
            let Some(number) = level.number_of(&element) else {
                return Some((at, element, steps));
            };
            if number > 0 {
                steps += self.shape.slots();
                element = level.inverses.get(number)?.times(&element, &self.shape)?;
            }
        }
        Some((self.levels.len(), element, steps))
    }

    fn sift_within_budget(
        &mut self,
        element: Element,
        from: usize,
    ) -> Result<(usize, Element), Exhausted> {
        let (at, rest, steps) = self.sift(element, from).ok_or(Exhausted(None))?;
        self.budget.work(steps)?;
        Ok((at, rest))
    }

    fn add_representative(&mut self, at: usize, element: Element) -> Result<(), GroupError> {
        // Two elements of three bytes a slot, and their headers.
        self.budget.take(2 * (3 * self.shape.slots() + size_of::<Element>()))?;
        let inverse = element.inverse(&self.shape).ok_or(GroupError::OtherShape)?;
        if let Some(level) = self.levels.get_mut(at) {
            level.push(element, inverse);
        }
        Ok(())
    }

    /// Adds generators and random members until the order is reached, or until [`QUIET`] random members in
    /// a row are members of the chain already.
    fn find(
        &mut self,
        generators: &[Element],
        order: Option<&BigUint>,
    ) -> Result<Result<(), Exhausted>, GroupError> {
        for generator in generators {
            if let Err(exhausted) = self.insert(generator.clone())? {
                return Ok(Err(exhausted));
            }
        }
        if generators.is_empty() {
            return Ok(Ok(()));
        }
        let shape = self.shape.clone();
        let mut members = RandomMembers::new(&shape, generators);
        let mut quiet = 0;
        while quiet < QUIET && order.is_none_or(|order| self.order() != *order) {
            let known = self.strong.len();
            if let Err(exhausted) = self.insert(members.next())? {
                return Ok(Err(exhausted));
            }
            quiet = if self.strong.len() == known { quiet + 1 } else { 0 };
        }
        Ok(Ok(()))
    }

    /// Makes the chain contain an element: the remainder of its division becomes a strong generator.
    fn insert(&mut self, element: Element) -> Result<Result<(), Exhausted>, GroupError> {
        let (at, rest) = match self.sift_within_budget(element, 0) {
            Ok((_, rest)) if rest.is_identity() => return Ok(Ok(())),
            Ok(sifted) => sifted,
            Err(exhausted) => return Ok(Err(exhausted)),
        };
        self.budget.take(3 * self.shape.slots() + size_of::<Element>())?;
        self.strong.push((at, rest));
        for level in 0..=at.min(self.levels.len().saturating_sub(1)) {
            if let Err(exhausted) = self.grow(level)? {
                return Ok(Err(exhausted));
            }
        }
        Ok(Ok(()))
    }

    /// Closes the orbit of a level under its strong generators.
    fn grow(&mut self, at: usize) -> Result<Result<(), Exhausted>, GroupError> {
        let mut number = 0;
        while number < self.levels[at].len() {
            for strong in 0..self.strong.len() {
                let (fixed, member) = &self.strong[strong];
                if *fixed < at {
                    continue;
                }
                let level = &self.levels[at];
                let image = level.image(member, number, self.shape.orientations());
                let known = image.and_then(|(slot, turn)| level.number(slot, turn));
                let product = match known {
                    Some(_) => None,
                    None => member.times(&level.representatives[number], &self.shape),
                };
                let steps = if product.is_some() { 2 * self.shape.slots() } else { LOOK_UP };
                if let Err(exhausted) = self.budget.work(steps) {
                    return Ok(Err(exhausted));
                }
                if let Some(product) = product {
                    self.add_representative(at, product)?;
                }
            }
            number += 1;
        }
        Ok(Ok(()))
    }

    /// Sifts all Schreier generators, from the lowest level up. Returns one that is not a member of
    /// the levels below its own. If there is none, the chain is verified.
    fn check(&mut self) -> Result<Option<Element>, Exhausted> {
        for at in (0..self.levels.len()).rev() {
            for number in 0..self.levels[at].len() {
                for strong in 0..self.strong.len() {
                    if self.strong[strong].0 < at {
                        continue;
                    }
                    self.budget.work(2 * self.shape.slots())?;
                    let Some(generator) = self.schreier_generator(at, number, strong) else {
                        continue;
                    };
                    let (_, rest) = self.sift_within_budget(generator, at + 1)?;
                    if !rest.is_identity() {
                        return Ok(Some(rest));
                    }
                }
            }
        }
        self.is_verified = true;
        Ok(None)
    }

    /// A strong generator times a representative, divided by the representative of its point; None
    /// if that is the identity.
    fn schreier_generator(&self, at: usize, number: usize, strong: usize) -> Option<Element> {
        let (level, (_, member)) = (&self.levels[at], &self.strong[strong]);
        let product = member.times(&level.representatives[number], &self.shape)?;
        let target = level.number_of(&product)?;
        if level.representatives[target] == product {
            return None;
        }
        level.inverses[target].times(&product, &self.shape)
    }
}

//! Search for a large subgroup whose members fit the bits of a word.

use strata_space::Work;

use crate::group::element::Element;
use crate::group::error::GroupError;
use crate::group::radix::Radix;
use crate::group::random::Xorshift;

/// Maximum number of members of the subgroup.
pub(crate) const MOST: usize = 64;

/// Number of random subgroups that are tried.
const ATTEMPTS: usize = 400;

/// Number of members that are added to each subgroup, while it stays small enough.
const EXTENSIONS: usize = 10;

/// A subgroup of at most [`MOST`] members of the group of the digits from `from` on, which has `order`
/// members. It is the largest of several pseudorandom ones, the same in every run. Its first member is
/// the identity.
///
/// # Errors
/// [`GroupError::Stopped`] if the work has no steps left or is cancelled; `OtherShape` if the radix is of
/// another shape.
pub(crate) fn find(
    radix: &Radix,
    from: usize,
    order: u64,
    work: &Work,
) -> Result<Vec<Element>, GroupError> {
    let (mut digits, product) = (vec![0; radix.len()], radix.product_steps(radix.len() - from));
    let mut random = Xorshift::new();
    let mut best = vec![radix.shape().identity()];
    let mut closure = Closure::new(radix, from, order);
    for _ in 0..ATTEMPTS {
        let (mut generators, mut members) = (Vec::new(), vec![radix.shape().identity()]);
        for _ in 0..EXTENSIONS {
            let number = random.below(order as usize) as u64;
            let power = radix.member(from, radix.len(), number);
            let power = power.and_then(|candidate| small_power(radix, candidate));
            generators.push(power.ok_or(GroupError::OtherShape)?);
            work.spend(product.saturating_mul((generators.len() * members.len()) as u64))?;
            let found = closure.of(&generators, &mut digits).ok_or(GroupError::OtherShape)?;
            match found {
                Some(larger) => members = larger,
                None => drop(generators.pop()),
            }
        }
        if members.len() > best.len() {
            best = members;
        }
        if best.len() == MOST {
            break;
        }
    }
    Ok(best)
}

/// A power of an element with at most [`MOST`] different powers of its own.
fn small_power(radix: &Radix, element: Element) -> Option<Element> {
    let order = element.order(radix.shape());
    let order = order.iter_u64_digits().next().unwrap_or(1);
    let fits = |step: &u64| order.is_multiple_of(*step) && order / step <= MOST as u64;
    let step = (1..=order).find(fits)?;
    element.power(step, radix.shape())
}

/// Computes small groups from their generators, which are members of a larger group.
pub(crate) struct Closure<'a> {
    radix: &'a Radix,
    from: usize,
    /// By number, the last round in which the member was found.
    seen: Vec<u32>,
    round: u32,
}

impl<'a> Closure<'a> {
    /// For members of the group of the digits from `from` on, which has `order` members.
    pub(crate) fn new(radix: &'a Radix, from: usize, order: u64) -> Closure<'a> {
        Closure { radix, from, seen: vec![0; order as usize], round: 0 }
    }

    /// The group that elements generate; `Some(None)` if it has more than [`MOST`] members.
    pub(crate) fn of(
        &mut self,
        generators: &[Element],
        digits: &mut [u32],
    ) -> Option<Option<Vec<Element>>> {
        let shape = self.radix.shape();
        self.round += 1;
        let mut members = vec![shape.identity()];
        self.is_new(&members[0], digits);
        let mut next = 0;
        while next < members.len() {
            for generator in generators {
                let product = members[next].times(generator, shape)?;
                if !self.is_new(&product, digits) {
                    continue;
                }
                if members.len() == MOST {
                    return Some(None);
                }
                members.push(product);
            }
            next += 1;
        }
        Some(Some(members))
    }

    fn is_new(&mut self, member: &Element, digits: &mut [u32]) -> bool {
        let image = |slot: usize, _| (member.images()[slot], member.turns()[slot]);
        if !self.radix.read(self.from..self.radix.len(), image, digits) {
            return false;
        }
        let number = self.radix.number(self.from, &digits[self.from..]);
        let seen = &mut self.seen[number as usize];
        std::mem::replace(seen, self.round) != self.round
    }
}

//! Numbering of a group's members by block, row and lane.

use strata_space::Work;
use strata_space::dense::{DenseShape, LaneMap, RowStep};

use crate::group::chain::StabiliserChain;
use crate::group::element::Element;
use crate::group::error::GroupError;
use crate::group::lanes;
use crate::group::radix::{Radix, compose};
use crate::group::shape::Shape;

/// Maximum number of states of a block. Larger blocks need fewer table entries; the rows of smaller
/// blocks stay in the processor's caches.
const MOST_INNER: u64 = 20_000;

/// Maximum number of blocks. Block numbers are hashed with a tag in the highest byte.
const MOST_BLOCKS: u64 = 1 << 56;

/// A member by its numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemberNumber {
    /// The block: a coset of N in G.
    pub block: u64,
    /// The row: a coset of L in N.
    pub row: u16,
    /// The lane: a member of L.
    pub lane: u8,
}

/// Numbers of all members of the group that some elements generate.
///
/// The stabiliser chain has subgroups L <= N <= G. N fixes the fewest first base slots such that it
/// has at most 20,000 members. L has at most 64 members. A member is a product `l · r · s` of a member
/// l of L (its lane), of a representative r of a coset of L in N (its row) and of a representative s
/// of a coset of N in G (its block).
///
/// Blocks are sorted by where the piece of the first base slot is, then by the next ones. The
/// identity is row 0 and lane 0 of block 0. The numbers depend only on the group and the chain's base
/// slots.
#[derive(Clone, Debug)]
pub struct GroupNumbering {
    pub(crate) radix: Radix,
    /// The number of leading digits, which make up the number of the block.
    pub(crate) fixed: usize,
    blocks: u64,
    pub(crate) inner: u64,
    pub(crate) cosets: Cosets,
}

impl GroupNumbering {
    /// Numbers the group of a chain.
    ///
    /// # Errors
    /// If the chain is not verified, or there are more than 2^56 blocks.
    pub fn new(chain: &StabiliserChain) -> Result<GroupNumbering, GroupError> {
        GroupNumbering::within(chain, &Work::unlimited())
    }

    /// As [`Self::new`], with the steps charged to `work`.
    ///
    /// # Errors
    /// As [`Self::new`]; [`GroupError::Stopped`] if the work has no steps left or is cancelled.
    pub fn within(chain: &StabiliserChain, work: &Work) -> Result<GroupNumbering, GroupError> {
        if !chain.is_verified() {
            return Err(GroupError::NotVerified);
        }
        work.spend(Radix::steps(chain))?;
        let radix = Radix::new(chain).ok_or(GroupError::OtherShape)?;
        let (fixed, inner) = split(&radix);
        let lanes = lanes::find(&radix, fixed, inner, work)?;
        // The cost: a product for each digit of a row, and for each of its lanes.
        let digits = radix.len() - fixed;
        let products = inner.saturating_mul(digits as u64 + 1);
        work.spend(products.saturating_mul(radix.product_steps(digits)))?;
        GroupNumbering::of(radix, fixed, &lanes)
    }

    /// The numbering in which N has the digits from `fixed` on, and L is the subgroup of N with these
    /// members, the identity first.
    ///
    /// # Errors
    /// If there are more than 2^56 blocks.
    pub(crate) fn of(
        radix: Radix,
        fixed: usize,
        lanes: &[Element],
    ) -> Result<GroupNumbering, GroupError> {
        let inner: u64 = (fixed..radix.len()).map(|digit| radix.base(digit) as u64).product();
        let mut sizes = (0..fixed).map(|digit| radix.base(digit) as u64);
        let blocks = sizes.try_fold(1_u64, |product, size| product.checked_mul(size));
        let blocks = blocks.filter(|blocks| *blocks <= MOST_BLOCKS);
        let blocks = blocks.ok_or_else(|| GroupError::Blocks { order: radix.order(), inner })?;
        let cosets = Cosets::new(&radix, fixed, inner, lanes).ok_or(GroupError::OtherShape)?;
        Ok(GroupNumbering { radix, fixed, blocks, inner, cosets })
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Rows of a block.
    pub fn rows(&self) -> u32 {
        self.cosets.rows.len() as u32
    }

    /// Lanes of a row.
    pub fn lanes(&self) -> u32 {
        self.cosets.lanes.len() as u32
    }

    /// Blocks, rows and lanes of a dense space; None if there are 2^32 blocks or more.
    pub fn dense_shape(&self) -> Option<DenseShape> {
        let blocks = u32::try_from(self.blocks).ok()?;
        Some(DenseShape { blocks, rows: self.rows(), lanes: self.lanes() })
    }

    /// The number of a member; None if the element is not a member.
    pub fn number(&self, element: &Element) -> Option<MemberNumber> {
        if !self.shape().has(element) {
            return None;
        }
        let inverse = element.inverse(self.shape())?;
        let number = self.number_of_inverse(&inverse)?;
        // The points of base slots do not determine whether the element is a member.
        (self.inverse(number)? == inverse).then_some(number)
    }

    /// The number of the member whose inverse this is. It may be wrong if the element is not a member.
    pub fn number_of_inverse(&self, inverse: &Element) -> Option<MemberNumber> {
        let radix = &self.radix;
        if inverse.images().len() != self.shape().slots() {
            return None;
        }
        let mut digits = [0; MOST_DIGITS];
        let mut many = Vec::new();
        let digits = match digits.get_mut(..radix.len()) {
            Some(digits) => digits,
            None => {
                many.resize(radix.len(), 0);
                &mut many[..]
            }
        };
        let image = |slot: usize, _| (inverse.images()[slot], inverse.turns()[slot]);
        if !radix.read(0..radix.len(), image, digits) {
            return None;
        }
        let block = radix.number(0, &digits[..self.fixed]);
        let inner = radix.number(self.fixed, &digits[self.fixed..]);
        let (row, lane) = *self.cosets.places.get(inner as usize)?;
        Some(MemberNumber { block, row, lane })
    }

    /// The member with a number; None if there is no such member.
    pub fn element(&self, number: MemberNumber) -> Option<Element> {
        self.inverse(number)?.inverse(self.shape())
    }

    fn inverse(&self, number: MemberNumber) -> Option<Element> {
        if number.block >= self.blocks {
            return None;
        }
        let block = self.radix.member(0, self.fixed, number.block)?;
        let row = self.cosets.rows.get(usize::from(number.row))?;
        let lane = self.cosets.lanes.get(usize::from(number.lane))?;
        block.times(row, self.shape())?.times(lane, self.shape())
    }

    /// The shape of the members.
    pub fn shape(&self) -> &Shape {
        self.radix.shape()
    }
}

/// Number of digits that need no allocation.
const MOST_DIGITS: usize = 64;

/// The cosets of L in N.
#[derive(Clone, Debug)]
pub(crate) struct Cosets {
    /// Inverses of the members of L, by lane.
    pub(crate) lanes: Vec<Element>,
    /// Inverses of the representatives, by row.
    pub(crate) rows: Vec<Element>,
    /// By the number of the inverse of a member of N, its row and its lane.
    places: Vec<(u16, u8)>,
}

/// The digits of the block's number, and the order of N.
fn split(radix: &Radix) -> (usize, u64) {
    let (mut fixed, mut inner) = (radix.len(), 1);
    while let Some(digit) = fixed.checked_sub(1) {
        let larger = inner * radix.base(digit) as u64;
        if larger > MOST_INNER {
            break;
        }
        (fixed, inner) = (digit, larger);
    }
    (fixed, inner)
}

impl Cosets {
    fn new(radix: &Radix, fixed: usize, inner: u64, lanes: &[Element]) -> Option<Cosets> {
        let shape = radix.shape();
        let lanes: Option<Vec<Element>> = lanes.iter().map(|lane| lane.inverse(shape)).collect();
        let mut cosets = Cosets { lanes: lanes?, rows: Vec::new(), places: Vec::new() };
        let (mut places, mut digits) = (vec![None; inner as usize], vec![0; radix.len()]);
        for number in 0..inner {
            if places[number as usize].is_some() {
                continue;
            }
            let row = radix.member(fixed, radix.len(), number)?;
            for (lane, inverse) in (0..).zip(&cosets.lanes) {
                let number = number_of_product(radix, fixed, (&row, inverse), &mut digits)?;
                *places.get_mut(number as usize)? = Some((cosets.rows.len() as u16, lane));
            }
            cosets.rows.push(row);
        }
        cosets.places = places.into_iter().collect::<Option<_>>()?;
        Some(cosets)
    }

    /// The row and the lane of the member whose inverse is the product of two members of N.
    pub(crate) fn place(
        &self,
        radix: &Radix,
        fixed: usize,
        product: (&Element, &Element),
        digits: &mut [u32],
    ) -> Option<(u16, u8)> {
        let number = number_of_product(radix, fixed, product, digits)?;
        self.places.get(number as usize).copied()
    }

    /// The maps of the right products with each member of L.
    pub(crate) fn lane_maps(&self, radix: &Radix, fixed: usize) -> Option<Vec<LaneMap>> {
        let mut digits = vec![0; radix.len()];
        let mut map = |factor: &Element| -> Option<LaneMap> {
            let images = self.lanes.iter();
            let images = images.map(|lane| self.place(radix, fixed, (factor, lane), &mut digits));
            let images: Option<Vec<u8>> = images.map(|place| Some(place?.1)).collect();
            Some(LaneMap::new(images?))
        };
        self.lanes.iter().map(&mut map).collect()
    }

    /// The steps of all rows in these classes.
    pub(crate) fn row_steps(
        &self,
        radix: &Radix,
        fixed: usize,
        classes: &[u64],
    ) -> Option<Vec<RowStep>> {
        let mut steps = Vec::with_capacity(classes.len() * self.rows.len());
        let mut digits = vec![0; radix.len()];
        for class in classes {
            let class = radix.member(fixed, radix.len(), *class)?;
            for row in &self.rows {
                let (row, lane) = self.place(radix, fixed, (&class, row), &mut digits)?;
                steps.push(RowStep { row, map: lane.into() });
            }
        }
        Some(steps)
    }
}

/// The number of the product of two members of N; None if one is not a member.
fn number_of_product(
    radix: &Radix,
    fixed: usize,
    (a, b): (&Element, &Element),
    digits: &mut [u32],
) -> Option<u64> {
    let image =
        |slot: usize, orientations| compose(a, (b.images()[slot], b.turns()[slot]), orientations);
    let is_member = radix.read(fixed..radix.len(), image, digits);
    is_member.then(|| radix.number(fixed, &digits[fixed..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::chain::Effort;

    #[test]
    fn steps_of_a_numbering_are_those_of_its_three_parts() {
        let shape = Shape::plain(9).unwrap();
        let moves = [[1, 2, 3, 4, 5, 6, 7, 8, 0], [1, 0, 2, 3, 4, 5, 6, 7, 8]];
        let moves = moves.map(|images| shape.permutation(&images).unwrap());
        let chain = StabiliserChain::new(&shape, &moves, Effort::default()).unwrap();
        let radix = Radix::new(&chain).unwrap();
        let (fixed, inner) = split(&radix);
        let lanes = Work::unlimited();
        lanes::find(&radix, fixed, inner, &lanes).unwrap();
        let digits = radix.len() - fixed;
        let places = inner * (digits as u64 + 1) * radix.product_steps(digits);
        let steps = [Radix::steps(&chain), lanes.spent(), places];
        assert!(fixed > 0 && steps.iter().all(|steps| *steps > 0), "{steps:?}");
        let all: u64 = steps.iter().sum();
        let work = Work::new(all);
        GroupNumbering::within(&chain, &work).unwrap();
        assert_eq!(work.spent(), all);
        for limit in [0, steps[0] - 1, steps[0], all - 1] {
            let error = GroupNumbering::within(&chain, &Work::new(limit)).unwrap_err();
            assert!(matches!(error, GroupError::Stopped(_)), "{limit}: {error}");
        }
    }
}

//! Choice of symmetries, N and L: those with which a search takes the least memory.

use std::collections::HashSet;

use strata_space::Work;
use strata_space::dense::{BlockStep, RowStep};

use super::lanes::LaneSearch;
use crate::group::chain::StabiliserChain;
use crate::group::element::Element;
use crate::group::error::GroupError;
use crate::group::numbering::GroupNumbering;
use crate::group::radix::Radix;
use crate::group::symmetry::{Products, Symmetry};

/// Limit of the states of a block: the number of even permutations of eight pieces.
pub(super) const MOST_INNER: u64 = 20_160;

/// Limit of the blocks that are sorted into classes.
pub(super) const MOST_BLOCKS: u64 = 1 << 26;

/// Limit of lane maps: some processors take 32 KiB for each.
const MOST_MAPS: u64 = 4096;

/// Limit of the lanes of a row.
const MOST_LANES: u64 = crate::group::lanes::MOST as u64;

/// Limit of the stabiliser chains that are made.
const MOST_CHAINS: usize = 200;

/// Limit of the orders of the orbits of slots that are tried with a group of symmetries.
const MOST_ORDERS: usize = 24;

/// Limit of the states of all blocks in which lanes are searched for, together.
const MOST_SEARCHED: u64 = 200_000;

/// About the products that the group of the images of a member takes.
const MOST_GENERATED: u64 = 4 * MOST_LANES;

/// Bytes of a word in the planes of a search.
const WORD_BYTES: u64 = 32;

/// Symmetries, and a numbering whose subgroups they map to themselves.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// The identity first.
    pub(super) symmetries: Vec<Symmetry>,
    pub(super) numbering: GroupNumbering,
}

/// What is tried, and the best so far.
struct Search<'a> {
    work: &'a Work,
    chain: &'a StabiliserChain,
    moves: &'a [Element],
    order: u64,
    /// Chains that may still be made.
    chains: usize,
    /// States of blocks in which lanes may still be searched for.
    searched: u64,
    /// Bytes with the best choice.
    bytes: u64,
    best: Option<Choice>,
}

/// The choice with which planes and tables of a search take the fewest bytes, by an estimate. None if
/// there is none: without symmetries, or in a group that is too large.
///
/// # Errors
/// If chains exceed their limits, or the work ends.
pub(super) fn best(
    chain: &StabiliserChain,
    moves: &[Element],
    symmetries: &[Symmetry],
    work: &Work,
) -> Result<Option<Choice>, GroupError> {
    let Ok(order) = u64::try_from(chain.order()) else { return Ok(None) };
    if symmetries.len() < 2 || order > MOST_BLOCKS * MOST_INNER {
        return Ok(None);
    }
    let pairs = symmetries.len().saturating_mul(symmetries.len());
    work.spend(pairs.saturating_mul(moves.len()) as u64)?;
    let Some(products) = Products::new(symmetries) else { return Ok(None) };
    let mut search = Search {
        work,
        chain,
        moves,
        order,
        chains: MOST_CHAINS,
        searched: MOST_SEARCHED,
        bytes: u64::MAX,
        best: None,
    };
    for subgroup in products.subgroups() {
        // Smaller ones follow.
        if search.least_bytes(subgroup.len() as u64, MOST_LANES) >= search.bytes {
            break;
        }
        let of_subgroup = subgroup.iter().map(|index| symmetries[usize::from(*index)].clone());
        search.with(&of_subgroup.collect::<Vec<_>>())?;
    }
    Ok(search.best)
}

impl Search<'_> {
    /// Bytes of the planes with `symmetries` symmetries and `lanes` lanes.
    fn least_bytes(&self, symmetries: u64, lanes: u64) -> u64 {
        self.order / (symmetries * lanes) * WORD_BYTES
    }

    /// Tries a group of symmetries with the subgroups N that fix whole orbits of slots.
    fn with(&mut self, symmetries: &[Symmetry]) -> Result<(), GroupError> {
        let orbits = self.orbits(symmetries);
        let mut tried: HashSet<Vec<usize>> = HashSet::new();
        for order in orders(orbits.len()).into_iter().take(MOST_ORDERS) {
            let Some(left) = self.chains.checked_sub(1) else { return Ok(()) };
            self.chains = left;
            let base: Vec<usize> = order.iter().flat_map(|index| orbits[*index].clone()).collect();
            let chain = self.chain.rebased(self.moves, &base, self.work)?;
            self.work.spend(Radix::steps(&chain))?;
            let radix = Radix::new(&chain).filter(|_| chain.is_verified());
            let radix = radix.ok_or(GroupError::NotVerified)?;
            let mut slots = Vec::new();
            for index in &order[..order.len() - 1] {
                slots.extend_from_slice(&orbits[*index]);
                slots.sort_unstable();
                if tried.insert(slots.clone()) {
                    self.number(symmetries, &radix, &slots)?;
                }
            }
        }
        Ok(())
    }

    /// Orbits of the slots that moves change, under some symmetries.
    fn orbits(&self, symmetries: &[Symmetry]) -> Vec<Vec<usize>> {
        let slots = self.chain.shape().slots();
        let is_moved = |slot: &usize| self.moves.iter().any(|element| !element.fixes(*slot));
        let mut is_known = vec![false; slots];
        let mut orbits = Vec::new();
        for slot in (0..slots).filter(is_moved) {
            if is_known[slot] {
                continue;
            }
            let (mut orbit, mut next) = (vec![slot], 0);
            is_known[slot] = true;
            while let Some(slot) = orbit.get(next).copied() {
                for symmetry in symmetries {
                    let image = usize::from(symmetry.images()[slot]);
                    if !std::mem::replace(&mut is_known[image], true) {
                        orbit.push(image);
                    }
                }
                next += 1;
            }
            orbits.push(orbit);
        }
        orbits
    }

    /// Tries the subgroup N that fixes these slots, which are the first base slots.
    fn number(
        &mut self,
        symmetries: &[Symmetry],
        radix: &Radix,
        slots: &[usize],
    ) -> Result<(), GroupError> {
        let fixed = (0..radix.len()).filter(|digit| slots.contains(&radix.slot(*digit))).count();
        let mut sizes = (fixed..radix.len()).map(|digit| radix.base(digit) as u64);
        let inner = sizes.try_fold(1_u64, |product, size| product.checked_mul(size));
        let Some(inner) = inner.filter(|inner| *inner <= MOST_INNER) else { return Ok(()) };
        let count = symmetries.len() as u64;
        let most_lanes = inner.min(MOST_LANES).min(MOST_MAPS / count);
        if fixed == 0
            || self.order / inner > MOST_BLOCKS
            || most_lanes == 0
            || self.least_bytes(count, most_lanes) >= self.bytes
            || self.searched < inner
            || !maps_to_itself(symmetries, radix, fixed)
        {
            return Ok(());
        }
        self.searched -= inner;
        // Members and their images, and the groups that these generate.
        let digits = radix.len() - fixed;
        let products = inner.saturating_mul(digits as u64 + 2 * count + MOST_GENERATED / count);
        self.work.spend(products.saturating_mul(radix.product_steps(digits)))?;
        let lanes = LaneSearch::new(radix, (fixed, inner), symmetries).largest(inner);
        let lanes = lanes.ok_or(GroupError::OtherShape)?;
        if lanes.len() as u64 * count > MOST_MAPS {
            return Ok(());
        }
        let bytes = self.estimate(count, inner, lanes.len() as u64);
        if bytes < self.bytes {
            let numbering = GroupNumbering::of(radix.clone(), fixed, &lanes)?;
            self.best = Some(Choice { symmetries: symmetries.to_vec(), numbering });
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Bytes of planes and tables, as if all blocks had different images.
    fn estimate(&self, symmetries: u64, inner: u64, lanes: u64) -> u64 {
        let (rows, blocks) = (inner / lanes, (self.order / inner).div_ceil(symmetries));
        let steps = blocks * self.moves.len() as u64;
        let classes = steps.min(symmetries * inner);
        blocks * rows * WORD_BYTES
            + steps * size_of::<BlockStep>() as u64
            + classes * rows * size_of::<RowStep>() as u64
    }
}

/// Whether symmetries map the group over the digits from `fixed` on to itself.
fn maps_to_itself(symmetries: &[Symmetry], radix: &Radix, fixed: usize) -> bool {
    let members = (fixed..radix.len()).flat_map(|digit| {
        (0..radix.base(digit)).map(move |value| radix.representative(digit, value))
    });
    members.into_iter().all(|member| {
        symmetries.iter().all(|symmetry| {
            let image = symmetry.conjugate(member, radix.shape());
            image.is_some_and(|image| (0..fixed).all(|digit| image.fixes(radix.slot(digit))))
        })
    })
}

/// Orders of `count` orbits that differ in the last two.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let last = (0..count).rev();
    let pairs = last.flat_map(|last| (0..count).rev().map(move |before| (before, last)));
    let pairs = pairs.filter(|(before, last)| before != last);
    let order = |(before, last): (usize, usize)| {
        let first = (0..count).filter(|index| *index != before && *index != last);
        first.chain([before, last]).collect()
    };
    pairs.map(order).collect()
}

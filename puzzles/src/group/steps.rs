//! Block steps of a numbering: how moves change blocks, as a full table or in two factors.

use std::collections::HashMap;
use std::ops::Range;

use strata_space::Work;
use strata_space::dense::{BlockStep, BlockSteps, FactoredSteps, MoveTable};

use crate::group::element::Element;
use crate::group::error::GroupError;
use crate::group::numbering::GroupNumbering;
use crate::group::radix::{Radix, compose};

/// Mark of a class without a number.
const NO_NUMBER: u32 = u32::MAX;

/// Classes of lower parts that [`split`] expects. Pancakes and similar puzzles have fewer.
const EXPECTED_CLASSES: u64 = 64;

/// Block steps, and the classes of row steps that they refer to.
pub(crate) struct Steps {
    pub(crate) steps: BlockSteps,
    /// By class, the number of the inverse of k, ascending. They are the same in both forms.
    pub(crate) classes: Vec<u64>,
}

impl Steps {
    /// A full table, with an entry for each block and move. The moves are given by their inverses. If steps in
    /// factors have fewer entries, the table is their products, which take no products of members.
    ///
    /// # Errors
    /// If a move is not in the group.
    pub(crate) fn full(
        numbering: &GroupNumbering,
        blocks: u32,
        inverses: &[Element],
    ) -> Result<Steps, GroupError> {
        let moves = inverses.len();
        let most = (blocks as usize).saturating_mul(moves) / 2;
        let Some(uppers) = Uppers::new(numbering, inverses, most, &Work::unlimited())? else {
            return Steps::direct(numbering, blocks, inverses);
        };
        let Steps { steps, classes } = Steps::factored(numbering, uppers)?;
        let table = MoveTable { moves, steps, rows: Vec::new() };
        let steps = (0..blocks).flat_map(|block| table.of_block(block)).collect();
        Ok(Steps { steps: BlockSteps::Full(steps), classes })
    }

    /// A full table without factors.
    ///
    /// The first digits of `(s · m)⁻¹ = s'⁻¹ · k⁻¹` are those of the block s'; the others are the number of
    /// the class.
    ///
    /// # Errors
    /// If a move is not in the group.
    fn direct(
        numbering: &GroupNumbering,
        blocks: u32,
        inverses: &[Element],
    ) -> Result<Steps, GroupError> {
        let radix = &numbering.radix;
        let mut steps = Vec::with_capacity(blocks as usize * inverses.len());
        let mut digits = vec![0; radix.len()];
        let mut representatives = Products::new(radix, 0..numbering.fixed);
        for _ in 0..blocks {
            for inverse in inverses {
                let parts = (inverse, representatives.current());
                steps.push(step(numbering, 0, parts, &mut digits)?);
            }
            representatives.advance()?;
        }
        let classes = number_classes(&mut steps, numbering.inner);
        Ok(Steps { steps: BlockSteps::Full(steps), classes })
    }

    /// The same steps in factors.
    ///
    /// The inverse `s⁻¹` of a block's representative is `u · v`, where u has the upper digits of the block's
    /// number and v the lower ones. A move takes u to u' by `m⁻¹ · u = u' · c`, and v to v' by
    /// `c · v = v' · k⁻¹`.
    ///
    /// # Errors
    /// If a move is not in the group.
    pub(crate) fn factored(
        numbering: &GroupNumbering,
        uppers: Uppers,
    ) -> Result<Steps, GroupError> {
        let (radix, lowers) = (&numbering.radix, uppers.lowers as usize);
        let entry = BlockStep { block: 0, class: NO_NUMBER };
        let mut of_classes = vec![entry; uppers.classes.len() * lowers];
        let mut digits = vec![0; radix.len()];
        let mut parts = Products::new(radix, uppers.split..numbering.fixed);
        for lower in 0..lowers {
            for (class, remainder) in uppers.classes.iter().enumerate() {
                let parts = (remainder, parts.current());
                of_classes[class * lowers + lower] =
                    step(numbering, uppers.split, parts, &mut digits)?;
            }
            parts.advance()?;
        }
        let classes = number_classes(&mut of_classes, numbering.inner);
        let steps =
            FactoredSteps { lowers: uppers.lowers, uppers: uppers.steps, classes: of_classes };
        Ok(Steps { steps: BlockSteps::Factored(steps), classes })
    }
}

/// The step to the block, or the lower part, of a product of two members that fix the base slots
/// before the digit `from`. Its class is the number of the inverse of k.
#[inline]
fn step(
    numbering: &GroupNumbering,
    from: usize,
    (a, b): (&Element, &Element),
    digits: &mut [u32],
) -> Result<BlockStep, GroupError> {
    let (radix, fixed) = (&numbering.radix, numbering.fixed);
    let image =
        |slot: usize, orientations| compose(a, (b.images()[slot], b.turns()[slot]), orientations);
    if !radix.read(from..radix.len(), image, digits) {
        return Err(GroupError::NotMember { what: "a move" });
    }
    let block = radix.number(from, &digits[from..fixed]) as u32;
    Ok(BlockStep { block, class: radix.number(fixed, &digits[fixed..]) as u32 })
}

/// Replaces the classes of steps, which are below `inner`, by consecutive numbers in their order.
/// Returns them by number.
fn number_classes(steps: &mut [BlockStep], inner: u64) -> Vec<u64> {
    let mut numbers = vec![NO_NUMBER; inner as usize];
    steps.iter().for_each(|step| numbers[step.class as usize] = 0);
    let mut classes = Vec::new();
    for (class, number) in (0..).zip(&mut numbers).filter(|(_, number)| **number != NO_NUMBER) {
        *number = classes.len() as u32;
        classes.push(class);
    }
    steps.iter_mut().for_each(|step| step.class = numbers[step.class as usize]);
    classes
}

/// Effects of moves on the upper parts of blocks.
pub(crate) struct Uppers {
    /// The first digit of lower parts.
    split: usize,
    lowers: u32,
    /// By upper part and move.
    steps: Vec<BlockStep>,
    /// By class, the remainder c.
    classes: Vec<Element>,
}

impl Uppers {
    /// The effects of the moves with these inverses; None if steps in factors would have more than
    /// `most` entries.
    ///
    /// # Errors
    /// If a move is not in the group, or the work has no steps left or is cancelled.
    pub(crate) fn new(
        numbering: &GroupNumbering,
        inverses: &[Element],
        most: usize,
        work: &Work,
    ) -> Result<Option<Uppers>, GroupError> {
        let radix = &numbering.radix;
        let Some((split, uppers, lowers)) = split(numbering, inverses.len()) else {
            return Ok(None);
        };
        let room = most.saturating_sub(uppers as usize * inverses.len());
        let mut found = Uppers { split, lowers, steps: Vec::new(), classes: Vec::new() };
        let mut class_of: HashMap<Element, u32> = HashMap::new();
        let mut digits = vec![0; split];
        let mut parts = Products::new(radix, 0..split);
        // The cost per upper part: a product, its digits and the division by them, for each move.
        let products = (split + 2).saturating_mul(inverses.len() + 1) as u64;
        let steps = products.saturating_mul(radix.product_steps(split));
        for _ in 0..uppers {
            work.spend(steps)?;
            for inverse in inverses {
                let remainder = remainder(radix, (inverse, parts.current()), &mut digits)?;
                let block = radix.number(0, &digits) as u32;
                let class = match class_of.get(&remainder) {
                    Some(class) => *class,
                    None if (found.classes.len() + 1).saturating_mul(lowers as usize) > room => {
                        return Ok(None);
                    }
                    None => {
                        let class = found.classes.len() as u32;
                        found.classes.push(remainder.clone());
                        class_of.insert(remainder, class);
                        class
                    }
                };
                found.steps.push(BlockStep { block, class });
            }
            parts.advance()?;
        }
        Ok(Some(found))
    }

    /// Entries of the steps in factors.
    pub(crate) fn entries(&self) -> usize {
        self.steps.len() + self.classes.len() * self.lowers as usize
    }
}

/// Writes the digits of the upper part of a product into `digits`. Returns the remainder: the product
/// divided by the representatives of these digits.
fn remainder(
    radix: &Radix,
    (a, b): (&Element, &Element),
    digits: &mut [u32],
) -> Result<Element, GroupError> {
    let product = a.times(b, radix.shape()).ok_or(GroupError::OtherShape)?;
    let image = |slot: usize, _| (product.images()[slot], product.turns()[slot]);
    if !radix.read(0..digits.len(), image, digits) {
        return Err(GroupError::NotMember { what: "a move" });
    }
    let inverses = (0..).zip(digits.iter()).map(|(at, value)| radix.inverse(at, *value as usize));
    let rest =
        inverses.into_iter().try_fold(product, |rest, inverse| inverse.times(&rest, radix.shape()));
    rest.ok_or(GroupError::OtherShape)
}

/// The digit that begins the lower parts such that the factors have the fewest entries, with the
/// numbers of upper and lower parts. None if no digit splits a block's number.
fn split(numbering: &GroupNumbering, moves: usize) -> Option<(usize, u32, u32)> {
    let size = |digits: Range<usize>| {
        let mut bases = digits.map(|digit| numbering.radix.base(digit) as u64);
        bases.try_fold(1_u64, |product, base| product.checked_mul(base))
    };
    let parts = (1..numbering.fixed).filter_map(|digit| {
        let (uppers, lowers) = (size(0..digit)?, size(digit..numbering.fixed)?);
        let entries = uppers.checked_mul(moves as u64)?;
        let entries = entries.checked_add(lowers.checked_mul(EXPECTED_CLASSES)?)?;
        Some((entries, digit, u32::try_from(uppers).ok()?, u32::try_from(lowers).ok()?))
    });
    parts.min().map(|(_, digit, uppers, lowers)| (digit, uppers, lowers))
}

/// The products of representatives of some digits, ascending by their numbers.
struct Products<'a> {
    radix: &'a Radix,
    digits: Range<usize>,
    values: Vec<usize>,
    /// By digit, the product of the representatives of the digits before it.
    products: Vec<Element>,
}

impl<'a> Products<'a> {
    fn new(radix: &'a Radix, digits: Range<usize>) -> Products<'a> {
        let products = vec![radix.shape().identity(); digits.len() + 1];
        Products { radix, values: vec![0; digits.len()], digits, products }
    }

    fn current(&self) -> &Element {
        &self.products[self.values.len()]
    }

    /// Advances to the next product, and from the last to the first.
    fn advance(&mut self) -> Result<(), GroupError> {
        let changed = self.next_values();
        for (at, digit) in self.digits.clone().enumerate().skip(changed) {
            let factor = self.radix.representative(digit, self.values[at]);
            let product = self.products[at].times(factor, self.radix.shape());
            self.products[at + 1] = product.ok_or(GroupError::OtherShape)?;
        }
        Ok(())
    }

    /// Advances the digits. Returns the first index that changed.
    fn next_values(&mut self) -> usize {
        for (at, digit) in self.digits.clone().enumerate().rev() {
            self.values[at] += 1;
            if self.values[at] < self.radix.base(digit) {
                return at;
            }
            self.values[at] = 0;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::chain::{Effort, StabiliserChain};
    use crate::group::shape::Shape;

    #[test]
    fn a_full_table_from_factors_equals_the_one_from_products_of_members() {
        let shape = Shape::plain(10).unwrap();
        let flip = |first: u16| {
            let image = |at: u16| if at < first { first - 1 - at } else { at };
            shape.permutation(&(0..10).map(image).collect::<Vec<_>>()).unwrap()
        };
        let moves: Vec<Element> = (2..=10).map(flip).collect();
        let chain = StabiliserChain::new(&shape, &moves, Effort::default()).unwrap();
        let numbering = GroupNumbering::new(&chain).unwrap();
        let blocks = numbering.dense_shape().unwrap().blocks;
        let most = blocks as usize * moves.len() / 2;
        assert!(Uppers::new(&numbering, &moves, most, &Work::unlimited()).unwrap().is_some());
        let full = Steps::full(&numbering, blocks, &moves).unwrap();
        let direct = Steps::direct(&numbering, blocks, &moves).unwrap();
        assert_eq!((full.steps, full.classes), (direct.steps, direct.classes));
    }
}

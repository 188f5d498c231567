//! Tables of moves: the effect of each move on blocks, and on the rows of each class of blocks.

use std::ops::Range;

use super::error::DenseError;
use super::shape::DenseShape;

/// The class of a block in which no state has the move.
pub const NO_CLASS: u32 = u32::MAX;

/// The effect of a move on a block, or on a part of its number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BlockStep {
    /// The block that the move leads to; any block of the space if the class is [`NO_CLASS`].
    pub block: u32,
    /// The class, which selects the effect on rows; [`NO_CLASS`] if no state of the block has the move.
    pub class: u32,
}

/// The effect of a move on a row.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct RowStep {
    /// The row that the move leads to.
    pub row: u16,
    /// The number of the lane map.
    pub map: u16,
}

/// The effects of all moves on blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BlockSteps {
    /// By block and move (`block * moves + move`).
    Full(Vec<BlockStep>),
    /// As products of two factors.
    Factored(FactoredSteps),
}

impl Default for BlockSteps {
    fn default() -> BlockSteps {
        BlockSteps::Full(Vec::new())
    }
}

/// Steps of blocks as products of two factors. For many blocks they take much less memory than a table
/// with one entry for each block and move.
///
/// A block's number is `upper * lowers + lower`. A move takes all blocks of an upper part to one
/// upper part, and chooses the class of its effect on the lower part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FactoredSteps {
    /// The number of lower parts, at least 1.
    pub lowers: u32,
    /// By upper part and move (`upper * moves + move`): the upper part that it leads to, and the
    /// class of lower parts.
    pub uppers: Vec<BlockStep>,
    /// By class of lower parts and lower part (`class * lowers + lower`): the lower part that it
    /// leads to, and the class of rows.
    pub classes: Vec<BlockStep>,
}

impl FactoredSteps {
    #[inline]
    fn step(&self, upper: BlockStep, lower: u32) -> BlockStep {
        const NONE: BlockStep = BlockStep { block: 0, class: NO_CLASS };
        let at = upper.class as usize * self.lowers as usize + lower as usize;
        match self.classes.get(at) {
            Some(step) => {
                BlockStep { block: upper.block * self.lowers + step.block, class: step.class }
            }
            None => NONE,
        }
    }
}

/// The effects of all moves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MoveTable {
    /// The number of moves.
    pub moves: usize,
    /// The effects on blocks.
    pub steps: BlockSteps,
    /// By class and row (`class * rows + row`).
    pub rows: Vec<RowStep>,
}

/// The steps of a block, by move.
#[derive(Clone, Debug)]
pub struct StepsOfBlock<'a> {
    steps: std::slice::Iter<'a, BlockStep>,
    /// If the steps are products: the factors, and the lower part of the block. `steps` then has the
    /// steps of the upper part.
    factored: Option<(&'a FactoredSteps, u32)>,
}

impl Iterator for StepsOfBlock<'_> {
    type Item = BlockStep;

    #[inline]
    fn next(&mut self) -> Option<BlockStep> {
        let step = *self.steps.next()?;
        match self.factored {
            None => Some(step),
            Some((factored, lower)) => Some(factored.step(step, lower)),
        }
    }
}

impl MoveTable {
    /// The steps of a block, by move; none if there is no such block.
    #[inline]
    pub fn of_block(&self, block: u32) -> StepsOfBlock<'_> {
        let (steps, index, factored) = match &self.steps {
            BlockSteps::Full(steps) => (steps, block, None),
            BlockSteps::Factored(factored) => {
                let (upper, lower) = (block / factored.lowers, block % factored.lowers);
                (&factored.uppers, upper, Some((factored, lower)))
            }
        };
        let at = index as usize * self.moves;
        let steps = steps.get(at..at + self.moves).unwrap_or_default().iter();
        StepsOfBlock { steps, factored }
    }

    /// The effects of a class on rows, of which each block has `rows`; None if the class is [`NO_CLASS`].
    #[inline]
    pub fn of_class(&self, class: u32, rows: usize) -> Option<&[RowStep]> {
        let at = class as usize * rows;
        self.rows.get(at..at + rows)
    }

    /// Ranges of blocks that cover all blocks to which moves lead from `blocks`. The ranges may overlap,
    /// and may contain other blocks.
    pub fn targets(&self, blocks: Range<u32>) -> impl Iterator<Item = Range<u32>> + '_ {
        let (steps, width) = match &self.steps {
            BlockSteps::Full(steps) => (steps, 1),
            BlockSteps::Factored(factored) => (&factored.uppers, factored.lowers),
        };
        let first = (blocks.start / width) as usize * self.moves;
        let end = blocks.end.div_ceil(width) as usize * self.moves;
        let steps = steps.get(first..end).unwrap_or_default().iter();
        let steps = steps.filter(|step| step.class != NO_CLASS);
        steps.map(move |step| step.block * width..(step.block + 1) * width)
    }

    /// Bytes of the table.
    pub fn bytes(&self) -> usize {
        let steps = match &self.steps {
            BlockSteps::Full(steps) => steps.len(),
            BlockSteps::Factored(factored) => factored.uppers.len() + factored.classes.len(),
        };
        steps * size_of::<BlockStep>() + self.rows.len() * size_of::<RowStep>()
    }

    /// Whether every block has a class for every move.
    pub(super) fn is_total(&self) -> bool {
        let is_total = |steps: &[BlockStep]| steps.iter().all(|step| step.class != NO_CLASS);
        match &self.steps {
            BlockSteps::Full(steps) => is_total(steps),
            BlockSteps::Factored(FactoredSteps { uppers, classes, .. }) => {
                is_total(uppers) && is_total(classes)
            }
        }
    }

    /// The number of steps: blocks times moves.
    pub(super) fn len(&self, shape: DenseShape) -> usize {
        (shape.blocks as usize).saturating_mul(self.moves)
    }

    /// The step with an index (`block * moves + move`), whether or not the steps are products.
    pub(super) fn step(&self, index: usize) -> Option<BlockStep> {
        let block = index.checked_div(self.moves)?;
        self.of_block(block as u32).nth(index % self.moves)
    }

    /// Checks that the tables are whole, and all numbers in range.
    pub(super) fn check(&self, shape: DenseShape, maps: usize) -> Result<(), DenseError> {
        let rows = shape.rows as usize;
        if !self.rows.len().is_multiple_of(rows) {
            return Err(DenseError::Length { what: "rows", given: self.rows.len() });
        }
        let classes = self.rows.len() / rows;
        match &self.steps {
            BlockSteps::Full(steps) => {
                self.check_length("blocks", steps, Some(shape.blocks))?;
                check_steps("blocks", steps, shape.blocks, classes)?;
            }
            BlockSteps::Factored(FactoredSteps { lowers, uppers, classes: of_lowers }) => {
                let parts = shape.blocks.checked_div(*lowers);
                let parts = parts.filter(|parts| parts * lowers == shape.blocks);
                self.check_length("upper parts", uppers, parts)?;
                let lower_steps = of_lowers.len();
                if !lower_steps.is_multiple_of(*lowers as usize) {
                    return Err(DenseError::Length { what: "lower parts", given: lower_steps });
                }
                let of_uppers = lower_steps / *lowers as usize;
                check_steps("upper parts", uppers, parts.unwrap_or(0), of_uppers)?;
                check_steps("lower parts", of_lowers, *lowers, classes)?;
            }
        }
        let is_row = |row: &RowStep| u32::from(row.row) < shape.rows && usize::from(row.map) < maps;
        match self.rows.iter().position(|row| !is_row(row)) {
            Some(index) => Err(DenseError::Entry { what: "rows", index }),
            None => Ok(()),
        }
    }

    /// Checks that there is a step for each part and move.
    fn check_length(
        &self,
        what: &'static str,
        steps: &[BlockStep],
        parts: Option<u32>,
    ) -> Result<(), DenseError> {
        let expected = parts.and_then(|parts| (parts as usize).checked_mul(self.moves));
        match expected == Some(steps.len()) {
            true => Ok(()),
            false => Err(DenseError::Length { what, given: steps.len() }),
        }
    }
}

/// Checks that each step leads to one of `parts` parts, and has one of `classes` classes or
/// [`NO_CLASS`].
fn check_steps(
    what: &'static str,
    steps: &[BlockStep],
    parts: u32,
    classes: usize,
) -> Result<(), DenseError> {
    let is_step = |step: &BlockStep| {
        step.block < parts && (step.class == NO_CLASS || (step.class as usize) < classes)
    };
    match steps.iter().position(|step| !is_step(step)) {
        Some(index) => Err(DenseError::Entry { what, index }),
        None => Ok(()),
    }
}

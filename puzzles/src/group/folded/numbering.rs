//! Numbers of members that are the same for symmetric blocks.

use strata_space::Work;
use strata_space::dense::{
    BlockStep, DenseShape, DenseState, DenseTables, FixedPositions, RowStep,
};

use super::choice::{self, Choice};
use super::classes::BlockClasses;
use super::tables;
use crate::group::chain::{Effort, StabiliserChain};
use crate::group::element::Element;
use crate::group::error::GroupError;
use crate::group::fixed::{Group, fixed_positions};
use crate::group::numbering::MemberNumber;
use crate::group::space::GroupOptions;
use crate::group::symmetry::{Products, Symmetry};

/// Numbers of the members of a group. All blocks of a class share the numbers of its least block.
///
/// The symmetries fix the identity, the start. A state stands for its images under them, one in each
/// block of its class. Its stabiliser in the class may map it to other states of the same block, which
/// are stored, too.
#[derive(Clone, Debug)]
pub struct FoldedNumbering {
    choice: Choice,
    /// By class, its least block, ascending.
    least: Vec<u32>,
}

/// Size of the dense space of a [`FoldedNumbering`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FoldedSize {
    /// Numbers of blocks, rows and lanes.
    pub shape: DenseShape,
    /// Upper bound of the bytes of the tables of moves, and of what their construction needs.
    pub table_bytes: u64,
    /// Upper bound of the number of lane maps.
    pub maps: u32,
}

impl FoldedNumbering {
    /// Maximum number of members of a group whose blocks are folded.
    pub const MOST_STATES: u64 = choice::MOST_BLOCKS * choice::MOST_INNER;

    /// The numbering by those symmetries with which a search takes the least memory. None if no symmetries
    /// keep the subgroups of a numbering, or if the group is too large.
    ///
    /// `chain` is the stabiliser chain of the group of the moves. The symmetries are a group, map moves to
    /// moves, and begin with the identity.
    ///
    /// # Errors
    /// If chains of subgroups exceed their limits, or the work has no steps left or is cancelled.
    pub fn best(
        chain: &StabiliserChain,
        moves: &[Element],
        symmetries: &[Symmetry],
        work: &Work,
    ) -> Result<Option<FoldedNumbering>, GroupError> {
        let Some(choice) = choice::best(chain, moves, symmetries, work)? else { return Ok(None) };
        // The cost: for each class, a member of one block and its images in all blocks.
        let Choice { symmetries, numbering } = &choice;
        let (blocks, fixed) = (numbering.blocks(), numbering.fixed);
        let member = (fixed * numbering.shape().slots() / symmetries.len()) as u64;
        work.spend(blocks.saturating_mul(member + numbering.radix.product_steps(fixed)))?;
        let mut folded = FoldedNumbering { choice, least: Vec::new() };
        folded.least = folded.classes()?.least;
        Ok(Some(folded))
    }

    /// The classes of blocks.
    fn classes(&self) -> Result<BlockClasses, GroupError> {
        let Choice { symmetries, numbering } = &self.choice;
        let products = Products::new(symmetries).ok_or(GroupError::OtherShape)?;
        BlockClasses::new(numbering, symmetries, &products)
    }

    /// The number of symmetries, the identity included.
    pub fn symmetries(&self) -> usize {
        self.choice.symmetries.len()
    }

    /// Blocks, rows and lanes: one block for each class.
    pub fn shape(&self) -> DenseShape {
        let (rows, lanes) = (self.choice.numbering.rows(), self.choice.numbering.lanes());
        DenseShape { blocks: self.least.len() as u32, rows, lanes }
    }

    /// The size of the dense space with `moves` moves.
    pub fn size(&self, moves: usize, is_undirected: bool) -> FoldedSize {
        let shape = self.shape();
        let (blocks, rows) = (u64::from(shape.blocks), u64::from(shape.rows));
        let steps = blocks * moves as u64;
        let inner = rows * u64::from(shape.lanes);
        let classes = steps.min(inner * self.choice.symmetries.len() as u64);
        let step_bytes = (size_of::<BlockStep>() as u64).saturating_mul(steps);
        let row_bytes = (size_of::<RowStep>() as u64).saturating_mul(classes * rows);
        let tables = if is_undirected { 1 } else { 2 };
        let images = BlockClasses::BYTES_PER_BLOCK as u64 * self.choice.numbering.blocks();
        FoldedSize {
            shape,
            table_bytes: tables * step_bytes.saturating_add(row_bytes) + images + 4 * blocks,
            maps: self.choice.symmetries.len() as u32 * shape.lanes,
        }
    }

    /// The state that stands for a member; None if the element is not a member.
    pub fn state(&self, element: &Element) -> Option<DenseState> {
        let images = self.choice.symmetries.iter().map(|symmetry| {
            let image = symmetry.conjugate(element, self.choice.numbering.shape())?;
            self.choice.numbering.number(&image)
        });
        let images = images.collect::<Option<Vec<MemberNumber>>>()?;
        // The first of the images in the least block.
        let number = images.into_iter().min_by_key(|number| number.block)?;
        let block = self.least.binary_search(&u32::try_from(number.block).ok()?).ok()?;
        Some(DenseState { block: block as u32, row: number.row, lane: number.lane })
    }

    /// The member in the least block of a state's class; None if there is no such state.
    pub fn element(&self, state: DenseState) -> Option<Element> {
        let block = u64::from(*self.least.get(state.block as usize)?);
        self.choice.numbering.element(MemberNumber { block, row: state.row, lane: state.lane })
    }

    /// The tables of a search from the identity. The goals in `options` can be replaced by any of their
    /// images, since the states at a depth are closed under symmetries.
    ///
    /// # Errors
    /// If a move or a goal is not a member, the start in `options` is not the identity, or the tables would
    /// exceed the limit.
    pub fn tables(
        &self,
        moves: &[Element],
        options: &GroupOptions,
    ) -> Result<DenseTables, GroupError> {
        if options.start.as_ref().is_some_and(|start| !start.is_identity()) {
            return Err(GroupError::NotMember { what: "the start, which symmetries must fix," });
        }
        let goals = options.goals.iter().map(|goal| self.state(goal));
        let goals: Option<Vec<DenseState>> = goals.collect();
        let goals = goals.ok_or(GroupError::NotMember { what: "a goal" })?;
        let classes = self.classes()?;
        let tables = tables::make(&self.choice, &classes, moves, (goals, options.table_bytes))?;
        match self.fixed(&classes, moves, &options.symmetries)? {
            Some(fixed) => Ok(tables.with_fixed(fixed)?),
            None => Ok(tables),
        }
    }

    /// The positions that symmetries fix; None without symmetries, or if there are too many positions.
    fn fixed(
        &self,
        classes: &BlockClasses,
        moves: &[Element],
        symmetries: &[Symmetry],
    ) -> Result<Option<FixedPositions>, GroupError> {
        if symmetries.is_empty() {
            return Ok(None);
        }
        let Choice { numbering, symmetries: folding } = &self.choice;
        let (shape, order) = (self.shape(), numbering.radix.order());
        let group =
            Group { shape: numbering.shape(), moves, order: &order, effort: Effort::default() };
        fixed_positions(group, symmetries, |member| {
            let block = usize::try_from(numbering.number(member)?.block).ok()?;
            let (class, index) = *classes.images.get(block)?;
            let image = folding.get(usize::from(index))?.conjugate(member, numbering.shape())?;
            let MemberNumber { block, row, lane } = numbering.number(&image)?;
            let is_least = u64::from(*classes.least.get(class as usize)?) == block;
            is_least.then(|| shape.number(DenseState { block: class, row, lane }))
        })
    }

    /// The members of a path from the identity to `end`, given the states that stand for them. Each member
    /// is one move from the one before. None if there is no such path.
    pub fn unfold(
        &self,
        moves: &[Element],
        path: &[DenseState],
        end: &Element,
    ) -> Option<Vec<Element>> {
        let shape = self.choice.numbering.shape();
        let inverses = moves.iter().map(|element| element.inverse(shape));
        let inverses = inverses.collect::<Option<Vec<_>>>()?;
        let is_image = |element: &Element, of: &Element| {
            let mut images = self.choice.symmetries.iter().map(|s| s.conjugate(of, shape));
            images.any(|image| image.as_ref() == Some(element))
        };
        let (last, before) = path.split_last()?;
        if !is_image(end, &self.element(*last)?) {
            return None;
        }
        let mut members = vec![end.clone()];
        for state in before.iter().rev() {
            let (stored, at) = (self.element(*state)?, members.last()?);
            let mut predecessors = inverses.iter().filter_map(|inverse| at.times(inverse, shape));
            let member = predecessors.find(|element| is_image(element, &stored))?;
            members.push(member);
        }
        members.reverse();
        members.first()?.is_identity().then_some(members)
    }
}

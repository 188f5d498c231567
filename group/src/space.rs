//! The members of a group as a dense space.

use std::sync::Arc;

use num_bigint::BigUint;
use strata_space::dense::{
    BlockStep, DenseParts, DenseSpace, DenseState, DenseTables, MoveTable, RowStep,
};

use crate::chain::StabiliserChain;
use crate::element::Element;
use crate::error::GroupError;
use crate::numbering::{GroupNumbering, MemberNumber};
use crate::radix::{Radix, compose};
use crate::shape::Shape;

/// Mark of a class without a number.
const NO_NUMBER: u32 = u32::MAX;

/// Options of a [`GroupSpace`].
#[derive(Clone, Debug)]
pub struct GroupOptions {
    /// The arrangement at depth 0; None for the solved one.
    pub start: Option<Element>,
    /// The arrangements at which a search ends; empty to list all.
    pub goals: Vec<Element>,
    /// The most bytes of the tables of moves.
    pub table_bytes: usize,
}

impl Default for GroupOptions {
    /// From the solved arrangement to all others, with tables of at most 1 GiB.
    fn default() -> GroupOptions {
        GroupOptions { start: None, goals: Vec::new(), table_bytes: 1 << 30 }
    }
}

/// All members of the group that some moves generate, as states of a dense space.
///
/// The states are the numbers of a [`GroupNumbering`], products `l · r · s` of the members for lane,
/// row and block. A move m acts from the right: `s · m = k · s'` with k in N, and `r · k = l' · r'`
/// with l' in L. So k is the class of the block and the move, and l' the lane map.
#[derive(Clone, Debug)]
pub struct GroupSpace {
    numbering: Arc<GroupNumbering>,
    tables: DenseTables,
}

/// Steps of blocks, and the classes that they need.
struct Blocks {
    steps: Vec<BlockStep>,
    /// By class, the number of the inverse of k.
    classes: Vec<u64>,
}

impl GroupSpace {
    /// The space of the group of a chain, in which these elements are the moves. They need not
    /// generate the whole group. If they are not closed under inversion, edges are directed.
    ///
    /// # Errors
    /// If the chain is not verified, a move, the start or a goal is not in the group, or the tables
    /// would exceed the limit.
    pub fn new(
        chain: &StabiliserChain,
        moves: &[Element],
        options: &GroupOptions,
    ) -> Result<GroupSpace, GroupError> {
        GroupSpace::of(Arc::new(GroupNumbering::new(chain)?), moves, options)
    }

    /// The space of the members that are numbered, in which these elements are the moves.
    ///
    /// # Errors
    /// If a move, the start or a goal is not in the group, or the tables would exceed the limit.
    pub fn of(
        numbering: Arc<GroupNumbering>,
        moves: &[Element],
        options: &GroupOptions,
    ) -> Result<GroupSpace, GroupError> {
        let inverses = moves.iter().map(|element| element.inverse(numbering.shape()));
        let inverses: Vec<Element> =
            inverses.collect::<Option<_>>().ok_or(GroupError::OtherShape)?;
        let is_undirected = inverses.iter().all(|inverse| moves.contains(inverse));
        let too_large = || GroupError::TableMemory {
            order: BigUint::from(numbering.blocks()) * numbering.inner,
            inner: numbering.inner,
            moves: moves.len(),
            limit: options.table_bytes,
        };
        let room = options.table_bytes / if is_undirected { 1 } else { 2 };
        let shape = numbering.dense_shape().ok_or_else(too_large)?;
        let steps = shape.blocks as usize * size_of::<BlockStep>();
        if steps.checked_mul(moves.len()).is_none_or(|bytes| bytes > room) {
            return Err(too_large());
        }
        let find = |element: &Element, what| match numbering.number(element) {
            Some(MemberNumber { block, row, lane }) => {
                Ok(DenseState { block: block as u32, row, lane })
            }
            None => Err(GroupError::NotMember { what }),
        };
        moves.iter().try_for_each(|element| find(element, "a move").map(drop))?;
        let (radix, fixed, cosets) = (&numbering.radix, numbering.fixed, &numbering.cosets);
        let table = |inverses: &[Element]| -> Result<MoveTable, GroupError> {
            let found = Blocks::new(radix, (fixed, shape.blocks, numbering.inner), inverses);
            let found = found.ok_or(GroupError::NotMember { what: "a move" })?;
            let rows = cosets.rows.len() * found.classes.len() * size_of::<RowStep>();
            if rows > room {
                return Err(too_large());
            }
            let rows = cosets.row_steps(radix, fixed, &found.classes);
            let rows = rows.ok_or(GroupError::OtherShape)?;
            Ok(MoveTable { moves: inverses.len(), steps: found.steps, rows })
        };
        let converses = if is_undirected { None } else { Some(table(moves)?) };
        let start = match &options.start {
            Some(start) => find(start, "the start")?,
            None => DenseState { block: 0, row: 0, lane: 0 },
        };
        let goals = options.goals.iter().map(|goal| find(goal, "a goal"));
        let parts = DenseParts {
            shape,
            moves: table(&inverses)?,
            converses,
            maps: cosets.lane_maps(radix, fixed).ok_or(GroupError::OtherShape)?,
            start,
            goals: goals.collect::<Result<_, _>>()?,
        };
        Ok(GroupSpace { tables: DenseTables::new(parts)?, numbering })
    }

    /// The state of an arrangement; None if it is no member of the group.
    pub fn state(&self, element: &Element) -> Option<DenseState> {
        let MemberNumber { block, row, lane } = self.numbering.number(element)?;
        Some(DenseState { block: u32::try_from(block).ok()?, row, lane })
    }

    /// The arrangement of a state; None if there is no such state.
    pub fn element(&self, state: DenseState) -> Option<Element> {
        let DenseState { block, row, lane } = state;
        self.numbering.element(MemberNumber { block: block.into(), row, lane })
    }

    /// The tables, without the numbers of arrangements.
    pub fn into_tables(self) -> DenseTables {
        self.tables
    }

    /// The shape of the arrangements.
    pub fn shape(&self) -> &Shape {
        self.numbering.shape()
    }
}

impl DenseSpace for GroupSpace {
    fn tables(&self) -> &DenseTables {
        &self.tables
    }

    /// By slot, its piece, and after a plus sign its turn unless that is 0: `0 2+1 1`.
    fn text(&self, state: DenseState) -> String {
        let Some(element) = self.element(state) else { return String::new() };
        let slots = element.images().iter().zip(element.turns());
        let slots = slots.map(|(image, turn)| match turn {
            0 => image.to_string(),
            turn => format!("{image}+{turn}"),
        });
        slots.collect::<Vec<_>>().join(" ")
    }

    fn parse(&self, text: &str) -> Option<DenseState> {
        let (mut images, mut turns) = (Vec::new(), Vec::new());
        for slot in text.split_whitespace() {
            let (image, turn) = slot.split_once('+').unwrap_or((slot, "0"));
            images.push(image.parse().ok()?);
            turns.push(turn.parse().ok()?);
        }
        self.state(&self.shape().element(&images, &turns).ok()?)
    }
}

impl Blocks {
    /// The steps of all blocks by the moves with these inverses. `(s · m)⁻¹ = s'⁻¹ · k⁻¹`, whose
    /// first digits are those of the block s', and the rest the number of the class.
    fn new(
        radix: &Radix,
        (fixed, blocks, inner): (usize, u32, u64),
        inverses: &[Element],
    ) -> Option<Blocks> {
        let mut found = Blocks {
            steps: Vec::with_capacity(blocks as usize * inverses.len()),
            classes: Vec::new(),
        };
        let mut class_of = vec![NO_NUMBER; inner as usize];
        // By digit, the product of the representatives of the digits before it.
        let mut products = vec![radix.shape().identity(); fixed + 1];
        let (mut block, mut digits) = (vec![0; fixed], vec![0; radix.len()]);
        let mut changed = 0;
        for _ in 0..blocks {
            for digit in changed..fixed {
                let factor = radix.representative(digit, block[digit]);
                products[digit + 1] = products[digit].times(factor, radix.shape())?;
            }
            let representative = &products[fixed];
            for inverse in inverses {
                let image = |slot: usize, orientations| {
                    let point = (representative.images()[slot], representative.turns()[slot]);
                    compose(inverse, point, orientations)
                };
                if !radix.read(0, image, &mut digits) {
                    return None;
                }
                let class = class_of.get_mut(radix.number(fixed, &digits[fixed..]) as usize)?;
                if *class == NO_NUMBER {
                    *class = found.classes.len() as u32;
                    found.classes.push(radix.number(fixed, &digits[fixed..]));
                }
                let block = radix.number(0, &digits[..fixed]) as u32;
                found.steps.push(BlockStep { block, class: *class });
            }
            changed = next_block(radix, &mut block);
        }
        Some(found)
    }
}

/// Advances a block's digits. Returns the first digit that changed.
fn next_block(radix: &Radix, block: &mut [usize]) -> usize {
    for digit in (0..block.len()).rev() {
        block[digit] += 1;
        if block[digit] < radix.base(digit) {
            return digit;
        }
        block[digit] = 0;
    }
    0
}

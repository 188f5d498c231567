//! The members of a group as a dense space.

use std::collections::HashSet;
use std::sync::Arc;

use num_bigint::BigUint;
use strata_space::Work;
use strata_space::dense::{
    BlockStep, DenseParts, DenseShape, DenseSpace, DenseState, DenseTables, FixedPositions,
    MoveTable, RowStep,
};

use crate::group::chain::{Effort, StabiliserChain};
use crate::group::element::Element;
use crate::group::error::GroupError;
use crate::group::fixed::{Group, fixed_positions};
use crate::group::numbering::{GroupNumbering, MemberNumber};
use crate::group::shape::Shape;
use crate::group::steps::{Steps, Uppers};
use crate::group::symmetry::Symmetry;

/// Options of a [`GroupSpace`].
#[derive(Clone, Debug)]
pub struct GroupOptions {
    /// The arrangement at depth 0; None for the solved one.
    pub start: Option<Element>,
    /// The arrangements at which a search ends; empty to list all.
    pub goals: Vec<Element>,
    /// Limit in bytes of the tables of moves.
    pub table_bytes: usize,
    /// Limit in bytes of a full table of block steps, which has an entry for each block and move. Above
    /// it, steps are stored in factors, if those are smaller. Numbers of states and of classes are the same
    /// in both forms.
    pub full_bytes: usize,
    /// Symmetries whose orbits are counted: a group that maps moves to moves, the identity first. If it is
    /// empty, orbits are not counted; nor are they if the symmetries fix very many members.
    pub symmetries: Vec<Symmetry>,
}

/// Default of [`GroupOptions::full_bytes`].
const FULL_BYTES: usize = 64 << 20;

impl Default for GroupOptions {
    /// A search from the solved arrangement to all others, with tables of at most 1 GiB.
    fn default() -> GroupOptions {
        GroupOptions {
            start: None,
            goals: Vec::new(),
            table_bytes: 1 << 30,
            full_bytes: FULL_BYTES,
            symmetries: Vec::new(),
        }
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

/// The form of the steps of blocks.
enum Plan {
    Full { entries: usize },
    Factored(Uppers),
}

impl Plan {
    /// The full form if it is small, otherwise the smaller one. `room` is the maximum size in bytes.
    fn new(
        numbering: &GroupNumbering,
        inverses: &[Element],
        options: &GroupOptions,
        room: usize,
        work: &Work,
    ) -> Result<Plan, GroupError> {
        let too_large = || too_large(numbering, inverses.len(), options);
        let blocks = numbering.dense_shape().ok_or_else(too_large)?.blocks as usize;
        let entries = blocks.checked_mul(inverses.len()).ok_or_else(too_large)?;
        let most = room / size_of::<BlockStep>();
        let is_small = entries <= most.min(options.full_bytes / size_of::<BlockStep>());
        let uppers = match is_small {
            true => None,
            false => Uppers::new(numbering, inverses, most.min(entries.saturating_sub(1)), work)?,
        };
        match uppers {
            Some(uppers) => Ok(Plan::Factored(uppers)),
            None if entries <= most => Ok(Plan::Full { entries }),
            None => Err(too_large()),
        }
    }

    fn bytes(&self) -> usize {
        let entries = match self {
            Plan::Full { entries } => *entries,
            Plan::Factored(uppers) => uppers.entries(),
        };
        entries * size_of::<BlockStep>()
    }
}

fn too_large(numbering: &GroupNumbering, moves: usize, options: &GroupOptions) -> GroupError {
    GroupError::TableMemory {
        order: BigUint::from(numbering.blocks()) * numbering.inner,
        inner: numbering.inner,
        moves,
        limit: options.table_bytes,
    }
}

/// The inverses of moves.
fn inverses(numbering: &GroupNumbering, moves: &[Element]) -> Result<Vec<Element>, GroupError> {
    let inverses = moves.iter().map(|element| element.inverse(numbering.shape()));
    inverses.collect::<Option<_>>().ok_or(GroupError::OtherShape)
}

/// Whether the inverse of each move is a move.
fn is_closed(moves: &[Element], inverses: &[Element]) -> bool {
    let known: HashSet<&Element> = moves.iter().collect();
    inverses.iter().all(|inverse| known.contains(inverse))
}

/// The bytes for each table of moves: there are two if edges are directed.
fn room(is_undirected: bool, options: &GroupOptions) -> usize {
    options.table_bytes / if is_undirected { 1 } else { 2 }
}

/// The positions that symmetries fix; None if orbits are not counted. Orbits are counted only if the start
/// is the identity, which all symmetries fix.
fn find_fixed(
    numbering: &GroupNumbering,
    shape: DenseShape,
    moves: &[Element],
    options: &GroupOptions,
) -> Result<Option<FixedPositions>, GroupError> {
    let starts_elsewhere = options.start.as_ref().is_some_and(|start| !start.is_identity());
    if options.symmetries.is_empty() || starts_elsewhere {
        return Ok(None);
    }
    let order = numbering.radix.order();
    let group = Group { shape: numbering.shape(), moves, order: &order, effort: Effort::default() };
    fixed_positions(group, &options.symmetries, |member| {
        let MemberNumber { block, row, lane } = numbering.number(member)?;
        let block = u32::try_from(block).ok()?;
        Some(shape.number(DenseState { block, row, lane }))
    })
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
        let inverses = inverses(&numbering, moves)?;
        let is_undirected = is_closed(moves, &inverses);
        let room = room(is_undirected, options);
        let too_large = || too_large(&numbering, moves.len(), options);
        let shape = numbering.dense_shape().ok_or_else(too_large)?;
        let find = |element: &Element, what| match numbering.number(element) {
            Some(MemberNumber { block, row, lane }) => {
                Ok(DenseState { block: block as u32, row, lane })
            }
            None => Err(GroupError::NotMember { what }),
        };
        moves.iter().try_for_each(|element| find(element, "a move").map(drop))?;
        let (radix, fixed, cosets) = (&numbering.radix, numbering.fixed, &numbering.cosets);
        let table = |inverses: &[Element]| -> Result<MoveTable, GroupError> {
            let found = match Plan::new(&numbering, inverses, options, room, &Work::unlimited())? {
                Plan::Full { .. } => Steps::full(&numbering, shape.blocks, inverses)?,
                Plan::Factored(uppers) => Steps::factored(&numbering, uppers)?,
            };
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
            multiplicities: Vec::new(),
        };
        let tables = DenseTables::new(parts)?;
        let tables = match find_fixed(&numbering, shape, moves, options)? {
            Some(fixed) => tables.with_fixed(fixed)?,
            None => tables,
        };
        Ok(GroupSpace { tables, numbering })
    }

    /// Bytes of the block steps in the tables of a space with these moves. Row steps are not included.
    ///
    /// # Errors
    /// If a move is not in the group, the steps would exceed the limit, or the work has no steps left or is
    /// cancelled.
    pub fn step_bytes(
        numbering: &GroupNumbering,
        moves: &[Element],
        options: &GroupOptions,
        work: &Work,
    ) -> Result<usize, GroupError> {
        let inverses = inverses(numbering, moves)?;
        let is_undirected = is_closed(moves, &inverses);
        let room = room(is_undirected, options);
        let bytes = Plan::new(numbering, &inverses, options, room, work)?.bytes();
        match is_undirected {
            true => Ok(bytes),
            false => Ok(bytes + Plan::new(numbering, moves, options, room, work)?.bytes()),
        }
    }

    /// The state of an arrangement; None if it is not a member of the group.
    pub fn state(&self, element: &Element) -> Option<DenseState> {
        let MemberNumber { block, row, lane } = self.numbering.number(element)?;
        Some(DenseState { block: u32::try_from(block).ok()?, row, lane })
    }

    /// The arrangement of a state; None if there is no such state.
    pub fn element(&self, state: DenseState) -> Option<Element> {
        let DenseState { block, row, lane } = state;
        self.numbering.element(MemberNumber { block: block.into(), row, lane })
    }

    /// The tables, without the numbering of arrangements.
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

    /// For each slot its piece, followed by a plus sign and its turn unless the turn is 0: `0 2+1 1`.
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

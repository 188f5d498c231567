//! Dense forms: numbers of states by block, row and lane, and the tables of moves.

mod members;
mod numbers;

use std::sync::Arc;

use strata_group::Element;
use strata_space::dense::{
    BlockStep, DenseShape, DenseSize, DenseSpace, DenseState, DenseTables, RowStep, block_weight,
    lane_weight, row_weight,
};
use strata_space::{SpaceError, Weight};

use self::members::Members;
pub(super) use self::numbers::refused;
use self::numbers::{MOST_TABLE_BYTES, Numbers};
use super::definition::{Definition, NamedElement, State};
use super::text;

/// Numbers of the states that moves can make of a start.
#[derive(Debug)]
pub(super) struct Numbering {
    members: Members,
    moves: Vec<Element>,
    is_undirected: bool,
}

/// A puzzle as a dense space.
#[derive(Debug)]
struct DensePermutation {
    definition: Definition,
    numbering: Arc<Numbering>,
    tables: DenseTables,
}

impl Numbering {
    /// Numbers the states that moves make of a start.
    ///
    /// # Errors
    /// Why they have no numbers.
    pub(super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[NamedElement],
    ) -> Result<Numbering, String> {
        if !definition.illegal.is_empty() {
            return Err("it takes no lines that make states illegal".into());
        }
        let moves: Vec<Element> = moves.iter().map(|mv| mv.element.clone()).collect();
        let inverse = |element: &Element| element.inverse(&definition.shape);
        let is_undirected =
            moves.iter().all(|mv| inverse(mv).is_some_and(|inverse| moves.contains(&inverse)));
        if !Members::fit(definition, start, &moves) {
            return Err("some of its pieces look alike, or have no orientation".into());
        }
        let members = Members::new(definition, start, &moves).map_err(|error| error.to_string())?;
        Ok(Numbering { members, moves, is_undirected })
    }

    /// The weight of a state: the product of the factors of block, row and lane. If `is_known` is
    /// not set, None of a state that moves cannot make of the start.
    pub(super) fn weight(
        &self,
        definition: &Definition,
        state: &State,
        is_known: bool,
    ) -> Option<Weight> {
        let numbers = match is_known {
            true => self.members.numbers(definition, state),
            false => self.members.checked(definition, state),
        };
        let Numbers { block, row, lane } = numbers?;
        Some(block_weight(block) * row_weight(row) * lane_weight(lane))
    }

    /// Whether moves can make this of the start.
    pub(super) fn has(&self, definition: &Definition, state: &State) -> bool {
        self.members.checked(definition, state).is_some()
    }

    fn shape(&self) -> Result<DenseShape, SpaceError> {
        self.members.shape().ok_or_else(|| refused("its states have 2^32 blocks or more"))
    }

    /// The size of the dense form.
    ///
    /// # Errors
    /// If the tables would be too large.
    pub(super) fn size(&self) -> Result<DenseSize, SpaceError> {
        let shape = self.shape()?;
        let (moves, tables) = (self.moves.len() as u64, if self.is_undirected { 1 } else { 2 });
        let steps = u64::from(shape.blocks) * moves * size_of::<BlockStep>() as u64;
        // Few of the classes occur, mostly fewer than one for each row.
        let classes = u64::from(shape.rows).min(u64::from(shape.blocks) * moves);
        let rows = classes * u64::from(shape.rows) * size_of::<RowStep>() as u64;
        if steps * tables > MOST_TABLE_BYTES as u64 {
            return Err(refused(&format!(
                "the table of {} blocks and {moves} moves has {} bytes, more than {MOST_TABLE_BYTES}",
                shape.blocks,
                steps * tables
            )));
        }
        Ok(DenseSize {
            states: shape.states(),
            shape,
            table_bytes: tables * (steps + rows),
            is_undirected: self.is_undirected,
        })
    }

    /// The dense form. Goals that moves cannot make of the start are left out.
    ///
    /// # Errors
    /// If the tables would be too large.
    pub(super) fn space(
        self: &Arc<Numbering>,
        definition: &Definition,
        goals: &[State],
    ) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        self.size()?;
        let tables = self.members.tables(definition, &self.moves, goals)?;
        let definition = definition.clone();
        Ok(Arc::new(DensePermutation { definition, numbering: Arc::clone(self), tables }))
    }
}

impl DenseSpace for DensePermutation {
    fn tables(&self) -> &DenseTables {
        &self.tables
    }

    fn text(&self, state: DenseState) -> String {
        let DenseState { block, row, lane } = state;
        let numbers = Numbers { block: block.into(), row, lane };
        let state = self.numbering.members.state(&self.definition, numbers);
        state.map_or_else(String::new, |state| text::write(&self.definition, &state))
    }

    fn parse(&self, text: &str) -> Option<DenseState> {
        let state = text::read(&self.definition, text).ok()?.state()?;
        self.numbering.members.checked(&self.definition, &state)?.dense()
    }
}

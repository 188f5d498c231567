//! Dense forms of permutation puzzles: states numbered by block, row and lane, and the tables of moves.

mod arrangements;
mod folded;
mod members;
mod numbers;
mod staged_orbit;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use crate::group::{Element, GroupError, StabiliserChain};
use strata_space::dense::{
    BlockStep, DenseFolding, DenseShape, DenseSize, DenseSpace, DenseState, DenseTables, RowStep,
    block_weight, lane_weight, row_weight,
};
use strata_space::{SpaceError, Weight, Work};

use self::arrangements::Arrangements;
use self::folded::{FoldedMembers, FoldedPermutation, symmetries};
use self::members::Members;
pub(super) use self::numbers::refused;
use self::numbers::{MOST_TABLE_BYTES, Numbers};
use super::definition::{Definition, NamedElement, State};
use super::effort::{self, NUMBERING_STEPS};
use super::text;

/// Dense numbers of the states reachable from a start.
#[derive(Debug)]
pub(super) struct Numbering {
    form: Form,
    moves: Vec<Element>,
    /// The inverses of the moves; empty if all of them are moves.
    inverses: Vec<Element>,
    /// Bytes of the table of block steps, or why it is too large; computed at first use.
    step_bytes: OnceLock<Result<u64, String>>,
    /// The form with folded blocks, if it pays; computed at first use.
    folded: OnceLock<Option<Arc<FoldedMembers>>>,
    /// Budget to which the steps of the computations here are charged.
    work: Work,
}

/// Meaning of the numbers.
#[derive(Debug)]
enum Form {
    /// Members of the group of the moves, where all pieces differ.
    Members(Arc<Members>),
    /// Arrangements of the pieces of each orbit.
    Arrangements(Arrangements),
}

impl Form {
    /// The numbers of a state. The caller guarantees that it is reachable from the start.
    fn numbers(&self, definition: &Definition, state: &State) -> Option<Numbers> {
        match self {
            Form::Members(members) => members.numbers(definition, state),
            Form::Arrangements(arrangements) => arrangements.numbers(state),
        }
    }

    /// The numbers of a state, if it has any. All states reachable from the start have numbers. In the
    /// form `Members` only these do.
    fn checked(&self, definition: &Definition, state: &State) -> Option<Numbers> {
        match self {
            Form::Members(members) => members.checked(definition, state),
            Form::Arrangements(arrangements) => arrangements.numbers(state),
        }
    }

    /// The state with these numbers.
    fn state(&self, definition: &Definition, numbers: Numbers) -> Option<State> {
        match self {
            Form::Members(members) => members.state(definition, numbers),
            Form::Arrangements(arrangements) => arrangements.state(numbers),
        }
    }

    fn shape(&self) -> Option<DenseShape> {
        match self {
            Form::Members(members) => members.shape(),
            Form::Arrangements(arrangements) => arrangements.shape(),
        }
    }
}

/// A puzzle as a dense space.
#[derive(Debug)]
struct DensePermutation {
    definition: Definition,
    numbering: Arc<Numbering>,
    tables: DenseTables,
}

/// Whether all pieces that moves change differ, in every turn.
pub(super) fn all_differ(definition: &Definition, start: &State, moves: &[Element]) -> bool {
    Members::fit(definition, start, moves)
}

impl Numbering {
    /// Numbers the states reachable from a start, with the steps charged to `work`. `chain` is the stabiliser
    /// chain of the group of the moves, or why there is none; None if the caller has not computed it.
    ///
    /// # Errors
    /// Why the states have no numbers.
    pub(super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[NamedElement],
        chain: Option<&Result<StabiliserChain, GroupError>>,
        work: &Work,
    ) -> Result<Numbering, String> {
        if !definition.illegal.is_empty() {
            return Err("it takes no lines that make states illegal".into());
        }
        let moves: Vec<Element> = moves.iter().map(|mv| mv.element.clone()).collect();
        let inverses = moves.iter().map(|element| element.inverse(&definition.shape));
        let mut inverses: Vec<Element> =
            inverses.collect::<Option<_>>().ok_or("a move is of another shape")?;
        let known: HashSet<&Element> = moves.iter().collect();
        if inverses.iter().all(|inverse| known.contains(inverse)) {
            inverses.clear();
        }
        let form = if Members::fit(definition, start, &moves) {
            let members = |chain: &StabiliserChain| {
                Members::new(definition, start, &moves, chain, &work.part(NUMBERING_STEPS))
            };
            let members = match chain {
                Some(chain) => chain.as_ref().map_err(Clone::clone).and_then(members),
                None => {
                    effort::chain(&definition.shape, &moves, work).and_then(|own| members(&own))
                }
            };
            Form::Members(Arc::new(members.map_err(|error| error.to_string())?))
        } else {
            Form::Arrangements(Arrangements::new(definition, start, &moves)?)
        };
        let (step_bytes, folded) = (OnceLock::new(), OnceLock::new());
        Ok(Numbering { form, moves, inverses, step_bytes, folded, work: work.clone() })
    }

    /// The weight of a state: the product of the factors of block, row and lane. None if the state has no
    /// numbers. `is_known` guarantees that the state is reachable from the start, which saves a check.
    pub(super) fn weight(
        &self,
        definition: &Definition,
        state: &State,
        is_known: bool,
    ) -> Option<Weight> {
        let numbers = match is_known {
            true => self.form.numbers(definition, state),
            false => self.form.checked(definition, state),
        };
        let Numbers { block, row, lane } = numbers?;
        Some(block_weight(block) * row_weight(row) * lane_weight(lane))
    }

    /// Whether a state has numbers. A state without numbers is unreachable from the start.
    pub(super) fn has(&self, definition: &Definition, state: &State) -> bool {
        self.form.checked(definition, state).is_some()
    }

    /// Whether the numbers of states fit those of the dense engine.
    pub(super) fn is_dense(&self) -> bool {
        self.form.shape().is_some()
    }

    /// The size of the dense form, for a search with a goal or without. With `symmetry`, blocks that
    /// symmetries map to one another are one block where that pays.
    ///
    /// # Errors
    /// Why the tables would be too large, or symmetries cannot be used.
    pub(super) fn size(
        &self,
        definition: &Definition,
        has_goal: bool,
        symmetry: bool,
    ) -> Result<DenseSize, String> {
        if !symmetry {
            return self.plain_size(has_goal);
        }
        match self.folded(definition)? {
            Some(folded) => Ok(folded.size(has_goal)),
            None => Ok(DenseSize { folding: DenseFolding::Unused, ..self.plain_size(has_goal)? }),
        }
    }

    /// The form with folded blocks, if it pays.
    ///
    /// # Errors
    /// If pieces look alike.
    fn folded(&self, definition: &Definition) -> Result<Option<&Arc<FoldedMembers>>, String> {
        let Form::Members(members) = &self.form else {
            return Err("with `symmetry` on it takes puzzles whose pieces all differ".into());
        };
        let make = || {
            if !members.may_fold() {
                return None;
            }
            let chain = effort::chain(&definition.shape, &self.moves, &self.work);
            let moves = (self.moves.as_slice(), self.inverses.is_empty());
            let folded = FoldedMembers::new(members, &chain.ok()?, moves, &self.work);
            // A form that exceeds a limit is not used.
            let folded = folded.ok()??;
            let plain = self.plain_size(false).ok();
            folded.pays(plain.as_ref()).then(|| Arc::new(folded))
        };
        Ok(self.folded.get_or_init(make).as_ref())
    }

    /// The size of the form with all blocks.
    fn plain_size(&self, has_goal: bool) -> Result<DenseSize, String> {
        let shape = self.form.shape().ok_or("its states have 2^32 blocks or more")?;
        let steps = self.step_bytes.get_or_init(|| self.find_step_bytes(shape)).clone()?;
        let (moves, tables) =
            (self.moves.len() as u64, if self.inverses.is_empty() { 1 } else { 2 });
        // A group has at most as many classes as a block has states. The same holds for arrangements, unless
        // pieces look alike in most of a block.
        let classes =
            (u64::from(shape.rows) * u64::from(shape.lanes)).min(u64::from(shape.blocks) * moves);
        let rows = tables * classes * u64::from(shape.rows) * size_of::<RowStep>() as u64;
        Ok(DenseSize {
            states: shape.states(),
            shape,
            table_bytes: steps + rows,
            folding: DenseFolding::Off,
            is_undirected: self.inverses.is_empty(),
            has_goal,
        })
    }

    /// Bytes of the block steps in all tables of moves.
    fn find_step_bytes(&self, shape: DenseShape) -> Result<u64, String> {
        if let Form::Members(members) = &self.form {
            let bytes = members.step_bytes(&self.moves, &self.work.part(NUMBERING_STEPS));
            let bytes = bytes.map_err(|error| error.to_string())?;
            return Ok(bytes as u64);
        }
        let tables = if self.inverses.is_empty() { 1 } else { 2 };
        let (blocks, moves) = (u64::from(shape.blocks), self.moves.len() as u64);
        let bytes = tables * blocks * moves * size_of::<BlockStep>() as u64;
        if bytes <= MOST_TABLE_BYTES as u64 {
            return Ok(bytes);
        }
        Err(format!(
            "the table of {blocks} blocks and {moves} moves has {bytes} bytes, more than {MOST_TABLE_BYTES}"
        ))
    }

    /// The dense form. Goals that are unreachable from the start are left out. With `symmetry`, the orbits
    /// of the moves' symmetries are counted.
    ///
    /// # Errors
    /// If the tables would be too large, or symmetries cannot be used.
    pub(super) fn space(
        self: &Arc<Numbering>,
        definition: &Definition,
        goals: &[State],
        symmetry: bool,
    ) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        if symmetry && let Some(folded) = self.folded(definition).map_err(|why| refused(&why))? {
            return Ok(Arc::new(FoldedPermutation::new(definition, folded, goals)?));
        }
        self.plain_size(!goals.is_empty()).map_err(|why| refused(&why))?;
        let tables = match &self.form {
            Form::Members(members) => {
                // If the symmetries cannot be computed, orbits are not counted.
                let symmetries =
                    symmetry.then(|| symmetries(&definition.shape, &self.moves, &self.work));
                let symmetries = symmetries.and_then(Result::ok).unwrap_or_default();
                members.tables(definition, &self.moves, (goals, symmetries))?
            }
            Form::Arrangements(arrangements) => {
                arrangements.tables(&self.moves, &self.inverses, goals)?
            }
        };
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
        let state = self.numbering.form.state(&self.definition, numbers);
        state.map_or_else(String::new, |state| text::write(&self.definition, &state))
    }

    fn parse(&self, text: &str) -> Option<DenseState> {
        let state = text::read(&self.definition, text).ok()?.state()?;
        self.numbering.form.checked(&self.definition, &state)?.dense()
    }
}

//! Dense numbering of states as members of a group, for puzzles whose pieces all differ.

use std::sync::Arc;

use crate::group::{
    Element, FoldedNumbering, GroupError, GroupNumbering, GroupOptions, GroupSpace, Invariants,
    MemberNumber, StabiliserChain, Symmetry,
};
use strata_space::dense::{DenseShape, DenseTables};
use strata_space::{SpaceError, Work};

use super::super::definition::{Definition, State};
use super::numbers::{MOST_TABLE_BYTES, Numbers, refused};

/// States as members of the group of the moves. The start is the identity.
#[derive(Debug)]
pub(super) struct Members {
    numbering: Arc<GroupNumbering>,
    start: State,
    /// By slot, the orbit that contains it; None if no move changes it.
    orbits: Vec<Option<usize>>,
    /// By orbit and kind, the slot of the piece at the start.
    homes: Vec<Vec<Option<u16>>>,
}

impl Members {
    /// Whether all pieces that moves change differ, in every turn.
    pub(super) fn fit(definition: &Definition, start: &State, moves: &[Element]) -> bool {
        Invariants::of(&definition.shape, moves).orbits.iter().all(|orbit| {
            let mut kinds: Vec<u16> = orbit.slots.iter().map(|slot| start.kinds[*slot]).collect();
            kinds.sort_unstable();
            let set = orbit.slots.first().and_then(|slot| definition.set_of(*slot));
            let period = |kind: &u16| {
                set.and_then(|set| set.kinds.get(usize::from(*kind))?.orientations.into())
            };
            kinds.windows(2).all(|pair| pair[0] != pair[1])
                && kinds.iter().all(|kind| period(kind) == Some(orbit.orientations))
        })
    }

    /// Numbers the states reachable from a start. All pieces differ. `chain` is the stabiliser chain of the
    /// group of the moves.
    ///
    /// # Errors
    /// If the group is too large, or the work exceeds its steps or is cancelled.
    pub(super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[Element],
        chain: &StabiliserChain,
        work: &Work,
    ) -> Result<Members, GroupError> {
        let numbering = Arc::new(GroupNumbering::within(chain, work)?);
        let mut orbits = vec![None; definition.shape.slots()];
        let mut homes = Vec::new();
        for (index, orbit) in
            Invariants::of(&definition.shape, moves).orbits.into_iter().enumerate()
        {
            let mut of_orbit = Vec::new();
            for slot in orbit.slots {
                orbits[slot] = Some(index);
                let kind = usize::from(start.kinds[slot]);
                if of_orbit.len() <= kind {
                    of_orbit.resize(kind + 1, None);
                }
                of_orbit[kind] = Some(slot as u16);
            }
            homes.push(of_orbit);
        }
        Ok(Members { numbering, start: start.clone(), orbits, homes })
    }

    pub(super) fn shape(&self) -> Option<DenseShape> {
        self.numbering.dense_shape()
    }

    /// Whether the group is small enough to fold blocks.
    pub(super) fn may_fold(&self) -> bool {
        let inner = u64::from(self.numbering.rows()) * u64::from(self.numbering.lanes());
        let states = self.numbering.blocks().checked_mul(inner);
        states.is_some_and(|states| states <= FoldedNumbering::MOST_STATES)
    }

    /// The inverse of the element that takes the start to a state.
    fn inverse(&self, definition: &Definition, state: &State) -> Option<Element> {
        let slots = self.orbits.len();
        let (mut images, mut turns) = (vec![0; slots], vec![0; slots]);
        for (slot, orbit) in self.orbits.iter().enumerate() {
            let (kind, turn) = (*state.kinds.get(slot)?, *state.turns.get(slot)?);
            let home = match orbit {
                Some(orbit) => (*self.homes.get(*orbit)?.get(usize::from(kind))?)?,
                None if self.start.kinds.get(slot) == Some(&kind) => slot as u16,
                None => return None,
            };
            let at_start = *self.start.turns.get(usize::from(home))?;
            let orientations = u16::from(*definition.shape.orientations().get(slot)?);
            let turned = u16::from(at_start) + orientations - u16::from(turn) % orientations;
            images[usize::from(home)] = slot as u16;
            turns[usize::from(home)] = (turned % orientations) as u8;
        }
        definition.shape.element(&images, &turns).ok()
    }

    /// The numbers of a state. The caller guarantees that it is reachable from the start.
    pub(super) fn numbers(&self, definition: &Definition, state: &State) -> Option<Numbers> {
        let inverse = self.inverse(definition, state)?;
        self.numbering.number_of_inverse(&inverse).map(Numbers::from)
    }

    /// The numbers of a state; None if it is unreachable from the start.
    pub(super) fn checked(&self, definition: &Definition, state: &State) -> Option<Numbers> {
        let element = self.inverse(definition, state)?.inverse(&definition.shape)?;
        self.numbering.number(&element).map(Numbers::from)
    }

    /// The element that takes the start to a state; None if it is unreachable.
    pub(super) fn element(&self, definition: &Definition, state: &State) -> Option<Element> {
        let element = self.inverse(definition, state)?.inverse(&definition.shape)?;
        self.numbering.number(&element).map(|_| element)
    }

    /// The state to which an element takes the start.
    pub(super) fn after(&self, definition: &Definition, element: &Element) -> State {
        definition.after(&self.start, element)
    }

    /// The state with these numbers.
    pub(super) fn state(&self, definition: &Definition, numbers: Numbers) -> Option<State> {
        let Numbers { block, row, lane } = numbers;
        let element = self.numbering.element(MemberNumber { block, row, lane })?;
        Some(self.after(definition, &element))
    }

    /// Bytes of the table of block steps.
    ///
    /// # Errors
    /// If the table would be too large, or the work exceeds its steps or is cancelled.
    pub(super) fn step_bytes(&self, moves: &[Element], work: &Work) -> Result<usize, GroupError> {
        GroupSpace::step_bytes(&self.numbering, moves, &options(Vec::new()), work)
    }

    /// The tables of moves. Goals that are unreachable from the start are left out. With symmetries of the
    /// moves, their orbits are counted.
    ///
    /// # Errors
    /// If the tables would be too large.
    pub(super) fn tables(
        &self,
        definition: &Definition,
        moves: &[Element],
        (goals, symmetries): (&[State], Vec<Symmetry>),
    ) -> Result<DenseTables, SpaceError> {
        let elements = goals.iter().filter_map(|goal| self.element(definition, goal));
        let options = GroupOptions { symmetries, ..options(elements.collect()) };
        let space = GroupSpace::of(Arc::clone(&self.numbering), moves, &options);
        Ok(space.map_err(|error| refused(&error.to_string()))?.into_tables())
    }
}

fn options(goals: Vec<Element>) -> GroupOptions {
    GroupOptions { goals, table_bytes: MOST_TABLE_BYTES, ..GroupOptions::default() }
}

impl From<MemberNumber> for Numbers {
    fn from(number: MemberNumber) -> Numbers {
        let MemberNumber { block, row, lane } = number;
        Numbers { block, row, lane }
    }
}

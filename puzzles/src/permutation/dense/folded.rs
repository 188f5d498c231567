//! Folded dense forms: blocks that symmetries map to one another are stored once.

use std::sync::Arc;

use crate::group::{
    Element, FoldedNumbering, FoldedSize, GroupError, GroupOptions, Pieces, Shape, StabiliserChain,
    Symmetry, SymmetryLimits,
};
use strata_space::dense::{DenseFolding, DenseSize, DenseSpace, DenseState, DenseTables};
use strata_space::{SpaceError, Work};

use super::super::definition::{Definition, State};
use super::super::effort::FOLDING_STEPS;
use super::super::text;
use super::members::Members;
use super::numbers::{MOST_TABLE_BYTES, refused};

/// Bytes of a word in the planes of a search.
const WORD_BYTES: u64 = 32;

/// A folded form is used if it has at most 1/`LEAST_SAVING` of the plain form's bytes.
const LEAST_SAVING: u64 = 2;

/// The states of a group, one block for each class of symmetric blocks.
#[derive(Debug)]
pub(super) struct FoldedMembers {
    members: Arc<Members>,
    numbering: FoldedNumbering,
    moves: Vec<Element>,
    /// All symmetries of the moves. Their orbits are counted.
    symmetries: Vec<Symmetry>,
    is_undirected: bool,
}

impl FoldedMembers {
    /// The folded form of the states reachable from a start; None if no symmetries fold blocks. `chain`
    /// is the stabiliser chain of the group of the moves.
    ///
    /// # Errors
    /// If chains of subgroups exceed their limits, or the choice of symmetries exceeds its steps.
    pub(super) fn new(
        members: &Arc<Members>,
        chain: &StabiliserChain,
        (moves, is_undirected): (&[Element], bool),
        work: &Work,
    ) -> Result<Option<FoldedMembers>, GroupError> {
        let symmetries = symmetries(chain.shape(), moves, work)?;
        let work = work.part(FOLDING_STEPS);
        let numbering = FoldedNumbering::best(chain, moves, &symmetries, &work)?;
        let (members, moves) = (Arc::clone(members), moves.to_vec());
        Ok(numbering.map(|numbering| FoldedMembers {
            members,
            numbering,
            moves,
            symmetries,
            is_undirected,
        }))
    }

    /// The size of the dense form.
    pub(super) fn size(&self, has_goal: bool) -> DenseSize {
        let is_undirected = self.is_undirected;
        let size = self.numbering.size(self.moves.len(), is_undirected);
        let FoldedSize { shape, table_bytes, maps } = size;
        let folding = DenseFolding::On { maps };
        DenseSize { states: shape.states(), shape, table_bytes, folding, is_undirected, has_goal }
    }

    /// Whether planes and tables take at most half the bytes of the plain form's. True if there is no
    /// plain form.
    pub(super) fn pays(&self, plain: Option<&DenseSize>) -> bool {
        let bytes = |size: &DenseSize| {
            size.shape.words().saturating_mul(WORD_BYTES).saturating_add(size.table_bytes)
        };
        let folded = bytes(&self.size(false));
        plain.is_none_or(|plain| folded.saturating_mul(LEAST_SAVING) <= bytes(plain))
    }
}

/// The symmetries of moves, where all pieces differ.
///
/// # Errors
/// If the search for them exceeds a limit, or the work is cancelled.
pub(super) fn symmetries(
    shape: &Shape,
    moves: &[Element],
    work: &Work,
) -> Result<Vec<Symmetry>, GroupError> {
    let mut distinct = moves.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let (pieces, limits) = (Pieces::different(shape), SymmetryLimits::default());
    Symmetry::all_within(shape, &distinct, &pieces, limits, &work.part(limits.steps))
}

/// A puzzle as a folded dense space.
#[derive(Debug)]
pub(super) struct FoldedPermutation {
    definition: Definition,
    folded: Arc<FoldedMembers>,
    tables: DenseTables,
    goals: Vec<Element>,
}

impl FoldedPermutation {
    /// The dense form. Goals that are unreachable from the start are left out.
    ///
    /// # Errors
    /// If the tables would be too large.
    pub(super) fn new(
        definition: &Definition,
        folded: &Arc<FoldedMembers>,
        goals: &[State],
    ) -> Result<FoldedPermutation, SpaceError> {
        let goals = goals.iter().filter_map(|goal| folded.members.element(definition, goal));
        let goals: Vec<Element> = goals.collect();
        let options = GroupOptions {
            goals: goals.clone(),
            table_bytes: MOST_TABLE_BYTES,
            symmetries: folded.symmetries.clone(),
            ..GroupOptions::default()
        };
        let tables = folded.numbering.tables(&folded.moves, &options);
        let tables = tables.map_err(|error| refused(&error.to_string()))?;
        let (definition, folded) = (definition.clone(), Arc::clone(folded));
        Ok(FoldedPermutation { definition, folded, tables, goals })
    }

    fn text_of(&self, element: &Element) -> String {
        text::write(&self.definition, &self.folded.members.after(&self.definition, element))
    }

    fn element_of(&self, text: &str) -> Option<Element> {
        let state = text::read(&self.definition, text).ok()?.state()?;
        self.folded.members.element(&self.definition, &state)
    }
}

impl DenseSpace for FoldedPermutation {
    fn tables(&self) -> &DenseTables {
        &self.tables
    }

    fn text(&self, state: DenseState) -> String {
        let element = self.folded.numbering.element(state);
        element.map_or_else(String::new, |element| self.text_of(&element))
    }

    fn parse(&self, text: &str) -> Option<DenseState> {
        self.folded.numbering.state(&self.element_of(text)?)
    }

    fn path_texts(&self, path: &[DenseState], end: Option<&str>) -> Option<Vec<String>> {
        let FoldedMembers { numbering, moves, .. } = &*self.folded;
        let end = match end {
            Some(text) => self.element_of(text)?,
            None => {
                let last = *path.last()?;
                let is_last = |goal: &&Element| numbering.state(goal) == Some(last);
                self.goals.iter().find(is_last)?.clone()
            }
        };
        let path = numbering.unfold(moves, path, &end)?;
        Some(path.iter().map(|element| self.text_of(element)).collect())
    }
}

//! Puzzles whose moves have names: opening, check and output of a solution.

use std::sync::Arc;

use strata_run::catalogue::Space;
use strata_run::{FoundPath, OpenSpace};
use strata_space::dense::DenseSpace;
use strata_space::{Chain, SpaceError, StateSpace};
use strata_store::JobSpec;

use crate::output::events;
use crate::output::exit::{ExitCode, Failure};
use crate::output::path_form::{PathForm, PathFormat};
use crate::output::progress::Progress;
use crate::program;
use crate::spaces::moves::{self, Moves, Shown};
use crate::spaces::shipped::{self, Replay};

/// A space whose moves have names.
pub(crate) struct Puzzle(Space);

impl Puzzle {
    /// Opens the puzzle of a job.
    ///
    /// # Errors
    /// If the space is refused, or its moves have no names.
    pub(crate) fn open(spec: &JobSpec) -> Result<Puzzle, Failure> {
        let space = opener()(spec).map_err(Failure::usage)?;
        if !space.names_moves() {
            return Err(Failure::usage(format!("{} does not name its moves", space.name())));
        }
        Ok(Puzzle(space))
    }

    /// The space as functions of states.
    pub(crate) fn space(&self) -> &dyn StateSpace {
        self.0.state_space()
    }

    /// The path along a chain of stored states, if it leads from start to goal.
    pub(crate) fn path_along(&self, chain: &Chain) -> Option<FoundPath> {
        FoundPath::along(&self.0, chain)
    }

    /// The dense form of the space.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        self.0.dense()
    }

    /// The path through positions in text form, if each is one move from the one before.
    pub(crate) fn path_through(&self, positions: Vec<String>) -> Option<FoundPath> {
        FoundPath::through(&self.0, positions)
    }

    /// Checks the moves of a path as [`Self::replay`] does, then prints or writes them.
    ///
    /// # Errors
    /// Those of [`Self::replay`]; if the moves cannot be written.
    pub(crate) fn show(
        &self,
        path: FoundPath,
        expected: Option<u64>,
        form: &PathForm,
        other_form: bool,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let path = self.replay(path, expected, form.path_format, other_form)?;
        moves::emit(path, form, progress)
    }

    /// Checks the moves of a path, and returns them with their text form.
    ///
    /// Moves of a puzzle with [`shipped::Extras`] are replayed by code that shares nothing with the
    /// search. Of other puzzles only the number of moves is checked.
    ///
    /// # Errors
    /// If a replay does not lead to the goal, or the moves are not `expected` in number.
    pub(crate) fn replay(
        &self,
        path: FoundPath,
        expected: Option<u64>,
        format: PathFormat,
        other_form: bool,
    ) -> Result<events::Path, Failure> {
        let shown = self.replayed(&path.moves, expected, format, other_form);
        let (moves, between) = shown.map_err(|why| {
            let message = format!("the path of {} moves is not right: {why}", path.moves.len());
            Failure::new(ExitCode::Unexpected, message)
        })?;
        let FoundPath { moves: names, positions } = path;
        Ok(events::Path { moves, file: None, positions, names, between })
    }

    /// The moves in text form, after the check of [`Self::replay`]. The error is the reason.
    fn replayed(
        &self,
        moves: &Moves,
        expected: Option<u64>,
        format: PathFormat,
        other_form: bool,
    ) -> Result<Shown, String> {
        let shown = match (shipped::of(self.0.name()), self.0.ends()) {
            (Some(extras), Some(ends)) => {
                let parameters = &self.0.parameters();
                (extras.replay)(&Replay { parameters, ends, moves, format, other_form })?
            }
            _ => moves::as_words(moves, format),
        };
        if expected != Some(moves.len() as u64) {
            return Err(format!("a shortest solution has {expected:?} moves"));
        }
        Ok(shown)
    }
}

/// Opens the space of a specification.
pub(crate) fn opener() -> OpenSpace {
    Arc::new(|spec: &JobSpec| program::puzzles().open(&spec.space, &spec.params))
}

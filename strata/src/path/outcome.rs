//! Result of a search for a path.

use std::path::PathBuf;

use strata_space::SpaceError;
use strata_store::{JobDir, JobSpec, StoreError};

use crate::catalogue::Space;
use crate::error::Error;
use crate::plan::machine::StopReason;

/// Moves as words.
pub type Moves = Vec<String>;

/// Opens the space of a job's specification.
pub type OpenSpace<'a> = &'a dyn Fn(&JobSpec) -> Result<Space, SpaceError>;

/// Result of a search for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathOutcome {
    /// The moves from the start to the goal.
    Found(Moves),
    /// The search of a part was stopped.
    Stopped(StopReason),
}

/// The layers of a finished job must lead to its goal.
pub(crate) fn unreachable_goal(folder: &JobDir) -> Error {
    let what = "the layers do not lead to the goal".to_owned();
    let file: PathBuf = folder.path().to_owned();
    StoreError::Inconsistent { file, what }.into()
}

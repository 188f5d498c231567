//! Result of a search for a path.

use std::path::PathBuf;
use std::sync::Arc;

use strata_space::{Chain, SpaceError};
use strata_store::{JobDir, JobSpec, StoreError};

use crate::catalogue::Space;
use crate::error::Error;
use crate::plan::machine::StopReason;

/// Names of moves.
pub type Moves = Vec<String>;

/// Opens the space of a job's specification.
pub type OpenSpace = Arc<dyn Fn(&JobSpec) -> Result<Space, SpaceError> + Send + Sync>;

/// A path from the start to the goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundPath {
    /// The moves.
    pub moves: Moves,
    /// The position before each move and after the last one, in text form. Empty if the puzzle does
    /// not find them.
    pub positions: Vec<String>,
}

impl FoundPath {
    /// The path along a chain of stored states. None if the chain does not lead from the start to
    /// the goal.
    pub fn along(space: &Space, chain: &Chain) -> Option<FoundPath> {
        let moves = space.moves(chain)?;
        // Where stored states stand for several positions, their texts may not be those of this path.
        let are_right = |positions: &Vec<String>| {
            positions.len() == moves.len() + 1
                && space.moves_between(positions).as_ref() == Some(&moves)
        };
        let positions = space.positions(chain).filter(are_right).unwrap_or_default();
        Some(FoundPath { moves, positions })
    }

    /// The path through positions in text form. None if two consecutive ones are not one move apart.
    pub fn through(space: &Space, positions: Vec<String>) -> Option<FoundPath> {
        Some(FoundPath { moves: space.moves_between(&positions)?, positions })
    }

    /// Adds a path that begins where this one ends.
    pub(super) fn extend(&mut self, more: FoundPath) {
        let is_empty = self.moves.is_empty() && self.positions.is_empty();
        if is_empty || self.positions.last() == more.positions.first() {
            self.positions.pop();
            self.positions.extend(more.positions);
        } else {
            self.positions.clear();
        }
        self.moves.extend(more.moves);
    }
}

/// Result of a search for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathOutcome {
    /// The path from the start to the goal.
    Found(FoundPath),
    /// The search of a part was stopped.
    Stopped(StopReason),
}

/// The error of a finished job whose layers do not lead to its goal.
pub(crate) fn unreachable_goal(folder: &JobDir) -> Error {
    let what = "the layers do not lead to the goal".to_owned();
    let file: PathBuf = folder.path().to_owned();
    StoreError::Inconsistent { file, what }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(moves: &[&str], positions: &[&str]) -> FoundPath {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        FoundPath { moves: words(moves), positions: words(positions) }
    }

    #[test]
    fn parts_are_joined_where_they_meet() {
        let mut whole = FoundPath::default();
        whole.extend(path(&["a"], &["0", "1"]));
        whole.extend(path(&[], &["1"]));
        whole.extend(path(&["b", "c"], &["1", "2", "3"]));
        assert_eq!(whole, path(&["a", "b", "c"], &["0", "1", "2", "3"]));
        // A part without positions leaves the whole without them.
        whole.extend(path(&["d"], &[]));
        whole.extend(path(&["e"], &["4", "5"]));
        assert_eq!(whole, path(&["a", "b", "c", "d", "e"], &[]));
    }
}

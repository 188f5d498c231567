//! Numbers of states in dense forms, with limits and errors.

use strata_space::SpaceError;
use strata_space::dense::DenseState;

/// Limit in bytes of the tables of moves.
pub(super) const MOST_TABLE_BYTES: usize = 4 << 30;

/// Maximum number of blocks. Block numbers are hashed with a tag in the highest byte.
pub(super) const MOST_BLOCKS: u64 = 1 << 56;

/// Block, row and lane of a state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) block: u64,
    pub(super) row: u16,
    pub(super) lane: u8,
}

impl Numbers {
    pub(super) fn dense(self) -> Option<DenseState> {
        Some(DenseState { block: u32::try_from(self.block).ok()?, row: self.row, lane: self.lane })
    }
}

/// An error that states why there is no dense form.
pub(in super::super) fn refused(why: &str) -> SpaceError {
    let why = format!("the dense engine cannot search this puzzle: {why}");
    SpaceError::Conflict { name: "engine".into(), why }
}

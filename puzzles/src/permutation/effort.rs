//! Limits on the analyses of a puzzle, in steps of about a nanosecond.
//!
//! Each analysis has a step limit of its own, so that its result does not depend on the analyses before
//! it. Together they take some seconds at most, for any file.

use crate::group::{Effort, Element, GroupError, Shape, StabiliserChain};
use strata_space::Work;

/// Limit of the stabiliser chain of a group, from which its order and the numbers of its members follow.
pub(super) const CHAIN: Effort = Effort { steps: 1_000_000_000, bytes: 128 << 20 };

/// Steps for the numbers of the dense form and the size of its tables, given the group's chain.
pub(super) const NUMBERING_STEPS: u64 = 500_000_000;

/// Steps for the choice of the symmetries that fold blocks.
pub(super) const FOLDING_STEPS: u64 = 2_500_000_000;

/// Maximum number of slots of all moves of a search together, powers included.
pub(super) const MAX_MOVE_SLOTS: usize = 1 << 22;

/// Maximum number of slots of all goals together.
pub(super) const MAX_GOAL_SLOTS: usize = 1 << 26;

/// The stabiliser chain of the group of some moves.
///
/// # Errors
/// Those of a chain: [`GroupError::Stopped`] if the work is cancelled.
pub(super) fn chain(
    shape: &Shape,
    moves: &[Element],
    work: &Work,
) -> Result<StabiliserChain, GroupError> {
    StabiliserChain::within(shape, moves, CHAIN, &work.part(CHAIN.steps))
}

//! What the analyses of a puzzle may take, in steps of about a nanosecond.
//!
//! Each analysis has steps of its own, so that its result does not depend on those before it. Together
//! they take some seconds at most, whatever a file has.

use crate::group::{Effort, Element, GroupError, Shape, StabiliserChain};
use strata_space::Work;

/// What the order of the group may take, and the numbers of its members.
pub(super) const CHAIN: Effort = Effort { steps: 1_000_000_000, bytes: 128 << 20 };

/// Steps for the numbers of the dense form and the size of its tables, of a group that is known.
pub(super) const NUMBERING_STEPS: u64 = 500_000_000;

/// Steps for the choice of the symmetries that fold blocks.
pub(super) const FOLDING_STEPS: u64 = 2_500_000_000;

/// Limit of the slots of all moves of a search together, powers included.
pub(super) const MAX_MOVE_SLOTS: usize = 1 << 22;

/// Limit of the slots of all goals together.
pub(super) const MAX_GOAL_SLOTS: usize = 1 << 26;

/// The group of some moves.
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

//! Moves out of states: a chain of stored states unfolded into what a solver does.

use super::group::End;
use super::position::{DOORS, Position};
use super::{Finish, Panex, StateSpace};
use crate::State;

/// A shortest way as a search has it: chains of stored states, each the neighbour of the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// From the start to where the searches meet, or to the goal.
    pub from_start: Vec<State>,
    /// From the goal to where the searches meet; empty if the search went from the start to the goal.
    pub from_goal: Vec<State>,
}

impl Panex {
    /// The moves, `(from, to)`, of a way from the start to the goal that passes through the states
    /// of a chain. A stored state stands for symmetric positions; which of them is meant follows
    /// from the moves that led there. None if the chain is none.
    pub fn unfold(&self, chain: &Chain) -> Option<Vec<(usize, usize)>> {
        let Chain { from_start, from_goal } = chain;
        let mut moves = Vec::with_capacity(from_start.len() + from_goal.len());
        let mut at = self.start;
        let met = match from_goal.split_last() {
            Some((met, rest)) => Some((*met, rest)),
            None => None,
        };
        let first = *from_start.first()?;
        (self.locate(&at, End::Start)? == first).then_some(())?;
        let onward = from_start[1..].iter().map(|state| (*state, End::Start));
        let back = met.iter().flat_map(|(_, rest)| rest.iter().rev());
        for (state, end) in onward.chain(back.map(|state| (*state, End::Goal))) {
            let (door, next) = self.step(&at, state, end)?;
            moves.push(door);
            at = next;
        }
        (at == self.goal).then_some(moves)
    }

    /// The move from a position to one that a state stands for.
    fn step(&self, at: &Position, to: State, end: End) -> Option<((usize, usize), Position)> {
        DOORS.into_iter().find_map(|door| {
            let next = at.moved(door, self.config.centre_top)?;
            (self.locate(&next, end)? == to).then_some((door, next))
        })
    }
}

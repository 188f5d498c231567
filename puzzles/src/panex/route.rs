//! Expansion of a chain of stored states into a list of moves.

use super::position::Position;
use super::state_space::Panex;
use super::symmetries::End;
use super::tile::MOVES;
use strata_space::{Chain, State};

impl Panex {
    /// The moves, as columns `(from, to)`, of a path from the start through the states of a chain.
    /// A stored state stands for several symmetric positions; the preceding moves determine which of
    /// them the path visits. None if there is no such path, or if the chain has states from the goal
    /// and does not end at the goal.
    pub fn unfold(&self, chain: &Chain) -> Option<Vec<(usize, usize)>> {
        let (first, onward) = chain.from_start.split_first()?;
        // The searches met in the last state of both parts.
        let back = chain.from_goal.split_last().map_or(&[][..], |(_, back)| back);
        let mut at = *self.start();
        (self.locate(&at, End::Start)? == *first).then_some(())?;
        let onward = onward.iter().map(|state| (*state, End::Start));
        let back = back.iter().rev().map(|state| (*state, End::Goal));
        let mut moves = Vec::with_capacity(onward.len() + back.len());
        for (state, end) in onward.chain(back) {
            let (mv, next) = self.step(&at, state, end)?;
            moves.push(mv);
            at = next;
        }
        (chain.from_goal.is_empty() || at == *self.goal()).then_some(moves)
    }

    /// A move from a position to one of the positions of a state, and that position.
    fn step(&self, at: &Position, to: State, end: End) -> Option<((usize, usize), Position)> {
        MOVES.into_iter().find_map(|mv| {
            let next = at.moved(mv, self.config().centre_top)?;
            (self.locate(&next, end)? == to).then_some((mv, next))
        })
    }
}

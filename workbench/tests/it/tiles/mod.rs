//! The move-restricted puzzle of N by P tiles.

mod clockwise;
mod paper;
mod walks;

use std::collections::HashSet;

use strata_panex::tiles::{Board, Move, Shape};

fn shape(text: &str) -> Shape {
    text.parse().unwrap()
}

/// All boards from which the goal can be reached, by a plain search.
fn reachable(shape: Shape) -> HashSet<Board> {
    let mut seen = HashSet::from([Board::goal(shape)]);
    let mut waiting = vec![Board::goal(shape)];
    while let Some(board) = waiting.pop() {
        for mv in Move::ALL {
            let mut next = board.clone();
            if next.step(mv) && seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    seen
}

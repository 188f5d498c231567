//! Walks of the blank that never turn counterclockwise, searched backwards from the goal.
//!
//! The permitted moves depend on the previous move, so a state is a board and the next move of a walk
//! from it. The moves have no inverse, so the graph is directed: in a reversed walk, a right turn would
//! be a left turn. The first move of a walk is free, and so is its last one. A search backwards from the
//! goal gives the distances of all boards at once.
//!
//! Each board has one more state, its *marker*, so that boards are counted once. The layer of depth d
//! has the markers of the boards whose distance is d, and the pairs of a board and a move for which the
//! shortest walk that begins with the move has d + 1 moves. The marker of a board is a successor of the
//! board with any move. Only markers stand for positions, so a layer has as many positions as boards.
//! The last layers may have none.
//!
//! Squares are read as in the search with all moves ([`Tiles`](super::Tiles)). A key consists of the
//! number of the order in which the tiles are read, and a code for the blank's place and the next move.
//! The first tiles of the order are the region, and the *pattern* of the last ones is local.

mod orders;
mod puzzle;
mod rules;
mod space;

pub use rules::Choices;
pub use space::{ClockwiseConfig, ClockwiseSpace, ClockwiseTiles, WideClockwiseTiles};

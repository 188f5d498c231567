//! Walks of the blank that never turn counterclockwise, searched backwards from the goal.
//!
//! Which moves may follow depends on the move before, so a state is a board and the next move of a
//! walk from it. Such moves have no inverse, so the graph is directed. (Reversed walks do not help: what
//! was a right turn is then a left turn.) The first move is free, and so is the heading at the end. A
//! search backwards from the goal gives the distances of all boards at once.
//!
//! A board has one more state, its *marker*, so that boards are counted once. The layer of depth d has
//! the markers of the boards whose distance is d, and the boards with a move that begin no walk of
//! fewer than d + 1 moves. The marker is a successor of the board with any move. Only markers stand for
//! positions, so a layer has as many positions as boards. The last layers may have none.
//!
//! Squares are read as in the other search of tiles. A key is the number of the order in which the
//! tiles are read, and a code for the blank's place and the next move. The first tiles of the order
//! are the region, and the *pattern* of the last ones is local.

mod orders;
mod puzzle;
mod rules;
mod space;

pub use rules::Choices;
pub use space::{ClockwiseConfig, ClockwiseSpace, ClockwiseTiles, WideClockwiseTiles};

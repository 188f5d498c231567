//! The sliding-tile puzzle: tiles 1, 2, … and a blank on the squares of a rectangle.
//!
//! Squares are read line by line, every second line backwards. A position is the order in which the
//! tiles are read, without the blank, and the blank's square. Most moves of the blank are along this
//! reading order and do not change the order of the tiles. The region is the order of the tiles above k.
//! The local part is the places of tiles 1 to k among them, and the blank's square.
//!
//! A move across lines takes a tile past an even number of others, so the parity of the order's
//! inversions never changes. Two boards are connected if and only if they have the same parity
//! (Johnson and Story, "Notes on the '15' puzzle", 1879).
//!
//! On a square board a transposition may fix the ends of a search. A state then stands for a board
//! and its image; `symmetry.rs` explains when, and why this is correct. The maps that reverse the
//! reading order also map regions to regions, but they fix no corner, so a search that begins or ends
//! with the blank in a corner cannot use them.
//!
//! Walks without counterclockwise turns have a state space of their own, in `clockwise`.

mod board;
mod clockwise;
mod drawing;
mod numbering;
mod puzzle;
mod scatter;
mod state_space;
mod symmetry;
mod tables;

pub use board::{Board, BoardError, MAX_SQUARES, Shape};
pub use clockwise::{Choices, ClockwiseConfig, ClockwiseSpace, ClockwiseTiles, WideClockwiseTiles};
pub use state_space::{Tiles, TilesConfig, max_k};

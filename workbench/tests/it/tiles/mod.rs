//! The move-restricted puzzle of N by P tiles.

mod clockwise;
mod paper;
mod walks;

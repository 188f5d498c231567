//! Coordinates: states of large puzzles as small numbers on which moves act by table.
//!
//! A coordinate is the places of some pieces of an orbit, or the turns of all its slots. Each move takes
//! every value of a coordinate to one other, whatever the rest of the state is. A key is a number made
//! of all coordinates, without gaps. Its high bits, the region, are coordinates of their own: a move
//! takes all states of a region to one other.

mod columns;
mod divisor;
mod folding;
mod groups;
mod orders;
mod packing;
mod parity;
mod places;
mod turns;

#[cfg(test)]
mod tests;

pub(super) use folding::Folding;
pub(super) use packing::Coordinates;

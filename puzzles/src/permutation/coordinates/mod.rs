//! Coordinates: states of large puzzles as tuples of small numbers with a transition table per move.
//!
//! A coordinate is the places of some pieces of an orbit, or the turns of all its slots. Its value after a
//! move depends on its value before alone, not on the rest of the state. A key combines all coordinates
//! into one mixed-radix number. Its high part, the region, consists of whole coordinates, so that a move
//! takes all states of a region to the same region.

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

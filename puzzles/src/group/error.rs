//! Errors in the construction of shapes, elements, chains and dense spaces.

use num_bigint::BigUint;
use strata_space::WorkError;

/// Why a shape, element, chain or dense space cannot be constructed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// A shape has no slots or too many.
    #[error("a shape has 1 to {limit} slots, not {slots}")]
    Slots {
        /// The slots given.
        slots: usize,
        /// The limit of slots.
        limit: usize,
    },
    /// A slot has no orientations.
    #[error("slot {slot} has 0 orientations")]
    NoOrientation {
        /// The slot, from 0.
        slot: usize,
    },
    /// A list does not have a value for each slot.
    #[error("{given} values for {slots} slots")]
    Length {
        /// The values given.
        given: usize,
        /// The slots of the shape.
        slots: usize,
    },
    /// The images are not a permutation.
    #[error("{image} is the image of slot {slot} and of another one, or not a slot")]
    NotPermutation {
        /// The slot, from 0.
        slot: usize,
        /// Its image.
        image: u16,
    },
    /// A turn is not below the orientations of its slot.
    #[error("slot {slot} has {orientations} orientations, so its turn cannot be {turn}")]
    Turn {
        /// The slot, from 0.
        slot: usize,
        /// The turn given.
        turn: u8,
        /// The orientations of the slot.
        orientations: u8,
    },
    /// A piece would come to a slot with another number of orientations.
    #[error("slot {slot} and its image {image} differ in their orientations")]
    OtherOrientations {
        /// The slot, from 0.
        slot: usize,
        /// Its image.
        image: u16,
    },
    /// An element is of another shape.
    #[error("an element of another shape")]
    OtherShape,
    /// The transversals of a chain would exceed the limit of memory.
    #[error("the transversals of the group need more than {limit} bytes")]
    Memory {
        /// The limit.
        limit: usize,
    },
    /// A chain took more work than allowed before its order was known.
    #[error("the order of the group needs more than {limit} steps")]
    Work {
        /// The limit.
        limit: u64,
    },
    /// The order of a group was not verified within the limit of work.
    #[error("the order of the group could not be verified within the limit of work")]
    NotVerified,
    /// A state is unreachable from the solved arrangement.
    #[error("{what} is not a member of the group of the moves")]
    NotMember {
        /// The name of the state or element in the message, such as `a goal`.
        what: &'static str,
    },
    /// The group has too many cosets to number them.
    #[error("{order} states in blocks of {inner} have more than 2^56 blocks")]
    Blocks {
        /// The order of the group.
        order: BigUint,
        /// States of each block.
        inner: u64,
    },
    /// The group has too many cosets for a table of moves.
    #[error(
        "{order} states in blocks of {inner} with {moves} moves need a table of more than {limit} bytes"
    )]
    TableMemory {
        /// The order of the group.
        order: BigUint,
        /// States of each block.
        inner: u64,
        /// The moves.
        moves: usize,
        /// The limit.
        limit: usize,
    },
    /// A move appears twice among those whose symmetries are sought.
    #[error("a move appears twice")]
    SameMove,
    /// The moves have more symmetries than allowed.
    #[error("the moves have more than {limit} symmetries")]
    Symmetries {
        /// The limit.
        limit: usize,
    },
    /// Finding the symmetries took more work than allowed.
    #[error("the symmetries of the moves need more than {limit} steps")]
    SymmetryWork {
        /// The limit.
        limit: u64,
    },
    /// The caller's work has no steps left, or was cancelled.
    #[error(transparent)]
    Stopped(#[from] WorkError),
    /// The tables of the moves are not consistent.
    #[error(transparent)]
    Tables(#[from] strata_space::dense::DenseError),
}

//! Exit sets: the states of a node that permit a larger piece's move, after that move.

pub(crate) mod intern;
pub(crate) mod sets;
pub(crate) mod source;

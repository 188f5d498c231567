//! Exit sets: the states of a node after a move of a larger piece, for all states in which the move is
//! legal.

pub(crate) mod intern;
pub(crate) mod sets;
pub(crate) mod source;

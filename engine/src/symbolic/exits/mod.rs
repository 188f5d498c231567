//! Exit sets: the states of a node in which a larger piece can make a move, each as it is after the
//! move.

pub(crate) mod intern;
pub(crate) mod sets;
pub(crate) mod source;

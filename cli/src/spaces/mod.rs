//! State spaces as the command line names them, and the moves of the puzzles among them.

pub(crate) mod drawings;
pub(crate) mod given;
pub(crate) mod moves;
pub(crate) mod puzzle;
pub(crate) mod repeat;
pub(crate) mod request;
pub(crate) mod shipped;

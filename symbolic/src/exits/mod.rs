//! Exits.

pub(crate) mod intern;
pub(crate) mod sets;
pub(crate) mod source;

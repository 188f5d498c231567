//! Symmetries of a search, and canonical states under them.

mod canonical;
mod map;
mod visible;

pub(super) use canonical::Canonical;
pub(super) use map::{ByteMap, Codes};

//! Memory.

pub(crate) mod budget;
pub(crate) mod prefetch;
pub(crate) mod reserve;

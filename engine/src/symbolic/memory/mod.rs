//! Memory budget, and growth of large lists.

pub(crate) mod budget;
pub(crate) mod grow;

//! The diagram: interning, steps, and queries.

pub(crate) mod arena;
pub(crate) mod derive;
pub(crate) mod incoming;
pub(crate) mod intern;
pub(crate) mod meeting;
pub(crate) mod query;
pub(crate) mod self_mirrored;
pub(crate) mod step;
#[cfg(test)]
mod tests;

//! Searches layer by layer: typed and type-erased, with snapshots and shortest paths.

pub(crate) mod any;
pub(crate) mod layer;
pub(crate) mod path;
pub(crate) mod snapshot;
pub(crate) mod typed;

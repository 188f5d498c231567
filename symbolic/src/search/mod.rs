//! Search.

pub(crate) mod any;
pub(crate) mod layer;
pub(crate) mod path;
pub(crate) mod snapshot;
pub(crate) mod typed;

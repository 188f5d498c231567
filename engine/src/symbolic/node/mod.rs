//! Nodes: references, records, packed contents, canonical orientation, hash tables.

pub(crate) mod config_sets;
pub(crate) mod content;
pub(crate) mod counts;
pub(crate) mod hash;
pub(crate) mod orientation;
pub(crate) mod record;
pub(crate) mod reference;
pub(crate) mod table;

//! Groups of flags and types of values that several commands share.

pub(crate) mod cluster;
pub(crate) mod domain;
pub(crate) mod engine;
pub(crate) mod line;
pub(crate) mod search;
pub(crate) mod values;

//! Values and groups of flags that several commands share.

pub(crate) mod cluster;
pub(crate) mod domain;
pub(crate) mod flags;

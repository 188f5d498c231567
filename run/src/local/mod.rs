//! Workers of all engines, with their shards of every layer, threads, memory and files.

pub(crate) mod budget;
pub(crate) mod dense;
pub(crate) mod error;
pub(crate) mod files;
pub(crate) mod older;
mod part;
pub(crate) mod pool;
pub(crate) mod restore;
pub(crate) mod symbolic;
mod threads;
pub(crate) mod work;
pub(crate) mod worker;

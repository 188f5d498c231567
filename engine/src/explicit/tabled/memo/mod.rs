//! Memo table for region expansions, shared by the kernels of an engine.

mod cache;
mod entry;
mod generation;
mod shared;

pub(super) use cache::Memo;
pub(super) use entry::hash;
pub(super) use shared::SharedMemo;

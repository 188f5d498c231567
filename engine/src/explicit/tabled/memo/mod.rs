//! Memo table for region expansions, shared by the kernels of an engine.

mod cache;
mod entry;
mod generation;
mod shared;

pub(super) use cache::{Memo, Slot};
pub(super) use entry::{EntryLimits, hash};
pub(super) use shared::SharedMemo;

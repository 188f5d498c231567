//! Memory of the engines: large pages, prefetches, append-only lists that several threads share, and
//! settings of the allocator.
//!
//! Tables and caches of a search are far larger than the processor's caches. Large pages save page-table
//! walks, and prefetches let several accesses overlap. Neither changes a result.
//!
//! These modules contain unsafe code behind safe interfaces, so that engines need no unsafe code for it.

mod allocator;
mod append;
mod large_pages;
mod prefetch;

pub use allocator::release_large_allocations;
pub use append::AppendOnlyWords;
pub use large_pages::preallocate;
pub use prefetch::{prefetch, prefetch_all};

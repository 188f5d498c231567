//! Memory of the engines: large pages, prefetches, words that grow while others read them, and settings of
//! the allocator.
//!
//! Tables and caches of a search are far larger than the processor's caches. Large pages save the
//! walks of page tables, and prefetches let several accesses overlap. Neither changes a result.
//!
//! All of it is unsafe inside and safe outside, so that engines contain no unsafe code for it.

mod allocator;
mod append;
mod large_pages;
mod prefetch;

pub use allocator::release_large_allocations;
pub use append::AppendOnlyWords;
pub use large_pages::preallocate;
pub use prefetch::{prefetch, prefetch_all};

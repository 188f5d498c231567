//! Memory of the engines: large pages, prefetches, and words that grow while others read them.
//!
//! Tables and caches of a search are far larger than the processor's caches. Large pages save the
//! walks of page tables, and prefetches let several accesses overlap. Neither changes a result.
//!
//! All of it is unsafe inside and safe outside, so that engines contain no unsafe code for it.

mod append;
mod large_pages;
mod prefetch;

pub use append::AppendOnlyWords;
pub use large_pages::preallocate;
pub use prefetch::{prefetch, prefetch_all};

//! Memory: budget, prefetching, and growth of large lists.

pub(crate) mod budget;
pub(crate) mod prefetch;
pub(crate) mod reserve;

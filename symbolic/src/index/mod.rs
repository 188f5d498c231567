//! Index.

pub(crate) mod bits;
pub(crate) mod leaves;
pub(crate) mod shared;
pub(crate) mod space;

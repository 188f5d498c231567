//! Index of the space: numbers for configurations and classes, and tables of its functions.

pub(crate) mod bits;
pub(crate) mod leaves;
pub(crate) mod shared;
pub(crate) mod space;

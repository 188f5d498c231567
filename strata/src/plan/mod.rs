//! The plan of a search: the state machine, the driver that carries its commands, and layer sums.

pub(crate) mod driver;
pub(crate) mod machine;
pub(crate) mod sums;

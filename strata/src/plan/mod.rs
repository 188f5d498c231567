//! The plan of a search: the state machine, the driver that passes its commands on, and layer sums.

pub(crate) mod driver;
pub(crate) mod machine;
pub(crate) mod sums;

//! The plan of a search: the state machine, the driver that passes its commands on, and layer sums.

mod checks;
pub(crate) mod driver;
pub(crate) mod machine;
pub(crate) mod refusal;
pub(crate) mod sums;

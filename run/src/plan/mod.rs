//! The plan of a search: the state machine, the driver that passes its commands on, the report of a
//! layer, and sums over layers.

mod checks;
pub(crate) mod driver;
pub(crate) mod machine;
pub(crate) mod refusal;
pub(crate) mod report;
pub(crate) mod sums;

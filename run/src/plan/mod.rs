//! Plan of a search: the state machine, the driver that executes its commands, reports of layers, and
//! sums over layers.

mod checks;
pub(crate) mod driver;
pub(crate) mod machine;
pub(crate) mod refusal;
pub(crate) mod report;
pub(crate) mod sums;

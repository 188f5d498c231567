//! Tasks of the executor thread.

use strata_proto::v1;

/// A task of the executor.
pub(crate) enum Task {
    /// Execute an order, and answer it.
    Order(Box<v1::Order>),
    /// Release the job with this id, which the journal no longer has, and remove it.
    Abandon(String),
}

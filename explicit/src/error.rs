//! Errors of the explicit engine.

use std::io;

use strata_store::StoreError;

/// Error of the explicit engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or a run image is missing or damaged, or cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Exits could not be delivered to another worker.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// A layer could not be fetched from where it is kept.
    #[error("cannot get layer {depth}: {why}")]
    Fetch {
        /// Depth of the layer.
        depth: u32,
        /// Why not.
        why: String,
    },
    /// No file has the neighbour that a state must have in the layer before it.
    #[error("layer {depth} has no neighbour of {state}")]
    BrokenChain {
        /// Depth of the layer before.
        depth: u32,
        /// The state, in the space's text form.
        state: String,
    },
}

/// Exits could not be delivered to another worker: the connection is lost, or the receiver refused
/// them.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot send exits to worker {to}: {why}")]
pub struct ExchangeError {
    /// Number of the receiving worker.
    pub to: usize,
    /// Why not.
    pub why: String,
}

/// For callers whose only error type is that of files. A failure that is no file's becomes
/// [`StoreError::Io`] or [`StoreError::Inconsistent`], with the layer or worker in place of the path.
impl From<Error> for StoreError {
    fn from(error: Error) -> StoreError {
        match error {
            Error::Store(error) => error,
            Error::Exchange(ExchangeError { to, why }) => StoreError::Io {
                op: "send exits to",
                path: format!("worker {to}").into(),
                source: io::Error::new(io::ErrorKind::ConnectionAborted, why),
            },
            Error::Fetch { depth, why } => StoreError::Io {
                op: "get",
                path: format!("layer {depth}").into(),
                source: io::Error::other(why),
            },
            Error::BrokenChain { depth, state } => StoreError::Inconsistent {
                file: format!("layer {depth}").into(),
                what: format!("it has no neighbour of {state}"),
            },
        }
    }
}

/// Result of the explicit engine.
pub type Result<T> = std::result::Result<T, Error>;

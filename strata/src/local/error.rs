//! Failures of the workers of one process.

use std::io;

use strata_store::StoreError;

use crate::plan::StopReason;
use crate::plan::driver::Retryable;

/// Why a worker did not execute an order.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// A file could not be read or written, or the memory budget is used up.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The worker panicked. The panic's own message is on standard error.
    #[error("worker {worker} panicked")]
    Panicked {
        /// Its number.
        worker: usize,
    },
    /// The worker has ended, after a panic or before it began.
    #[error("worker {worker} has ended")]
    Ended {
        /// Its number.
        worker: usize,
    },
    /// There is no checkpoint for the worker to load.
    #[error("there is no checkpoint to load")]
    NoCheckpoint,
    /// A thread cannot be started.
    #[error("cannot start the thread of worker {worker}: {source}")]
    Thread {
        /// The worker's number.
        worker: usize,
        /// Why.
        source: io::Error,
    },
}

impl Retryable for WorkerError {
    fn exhausted(&self) -> Option<StopReason> {
        match self {
            WorkerError::Store(error) => error.exhausted(),
            _ => None,
        }
    }
}

/// The result of a worker's operations.
pub(crate) type Result<T> = std::result::Result<T, strata_store::StoreError>;

//! Failures of the workers of one process.

use std::io;

use strata_explicit::InboxError;
use strata_store::StoreError;

use crate::plan::driver::Retryable;
use crate::plan::machine::StopReason;

/// Why a worker did not execute an order.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// A file could not be read or written, or the memory budget is used up.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The pass of the explicit engine failed.
    #[error(transparent)]
    Engine(#[from] strata_explicit::Error),
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

impl WorkerError {
    /// The failed file operation, if one is the cause.
    #[must_use]
    pub fn store(&self) -> Option<&StoreError> {
        match self {
            WorkerError::Store(error) => Some(error),
            WorkerError::Engine(error) => error.store(),
            _ => None,
        }
    }

    /// Whether a file is damaged or missing.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        self.store().is_some_and(StoreError::is_corrupt)
    }
}

impl From<InboxError> for WorkerError {
    fn from(error: InboxError) -> Self {
        WorkerError::Engine(error.into())
    }
}

impl Retryable for WorkerError {
    fn exhausted(&self) -> Option<StopReason> {
        self.store().and_then(StoreError::exhausted)
    }
}

/// The result of a worker's operations.
pub(crate) type Result<T, E = WorkerError> = std::result::Result<T, E>;

//! Errors of the workers of one process.

use std::io;
use std::path::{Path, PathBuf};

use strata_engine::dense::SearchError;
use strata_engine::explicit::InboxError;
use strata_engine::symbolic::StepError;
use strata_store::StoreError;

use crate::plan::driver::Retryable;
use crate::plan::machine::StopReason;

/// Why a worker did not execute an order.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The pass of the explicit engine failed.
    #[error(transparent)]
    Engine(#[from] strata_engine::explicit::Error),
    /// The symbolic engine could not make or load a layer.
    #[error("{}", step_text(folder, *source))]
    Symbolic {
        /// The job's folder.
        folder: PathBuf,
        /// The error of the engine.
        source: StepError,
    },
    /// The dense engine has too little memory, or layers that contradict each other.
    #[error(transparent)]
    Dense(#[from] SearchError),
    /// The worker panicked. The panic's own message is on standard error.
    #[error("worker {worker} panicked")]
    Panicked {
        /// The worker's number.
        worker: usize,
    },
    /// The next layer was requested although the exits of the last one were dropped, since the search was
    /// to stop there.
    #[error("layer {depth} is the last of this run: its exits were not kept")]
    LastLayer {
        /// Depth of the layer.
        depth: u32,
    },
    /// There is no checkpoint for the worker to load.
    #[error("there is no checkpoint to load")]
    NoCheckpoint,
    /// The threads on which pass tasks run cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
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
        matches!(self, WorkerError::Dense(SearchError::Repeated { .. }))
            || self.store().is_some_and(StoreError::is_corrupt)
    }
}

impl From<InboxError> for WorkerError {
    fn from(error: InboxError) -> Self {
        WorkerError::Engine(error.into())
    }
}

impl Retryable for WorkerError {
    fn exhausted(&self) -> Option<StopReason> {
        match self {
            WorkerError::Symbolic { source: StepError::Mismatch { .. }, .. } => None,
            // Only a diagram that is too large reaches the limit of a count.
            WorkerError::Symbolic { .. } => Some(StopReason::MemoryFull),
            _ => self.store().and_then(StoreError::exhausted),
        }
    }
}

/// A failed step in words. A mismatch names the job's folder.
fn step_text(folder: &Path, error: StepError) -> String {
    match error {
        StepError::Mismatch { .. } => format!("{} is inconsistent: {error}", folder.display()),
        StepError::Memory { .. } | StepError::TooMany { .. } => error.to_string(),
    }
}

/// The result of a worker's operations.
pub(crate) type Result<T, E = WorkerError> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(source: StepError) -> WorkerError {
        WorkerError::Symbolic { folder: "job".into(), source }
    }

    #[test]
    fn a_diagram_that_is_too_large_exhausts_the_memory() {
        for source in
            [StepError::Memory { budget: 7 }, StepError::TooMany { what: "nodes", limit: 9 }]
        {
            let error = failed(source);
            assert_eq!(error.exhausted(), Some(StopReason::MemoryFull));
            assert_eq!(error.to_string(), source.to_string());
            assert!(!error.is_corrupt() && error.store().is_none());
        }
    }

    #[test]
    fn a_mismatch_does_not_count_as_exhausted_memory() {
        let error = failed(StepError::Mismatch { level: 3 });
        assert_eq!(error.exhausted(), None);
        assert!(!error.is_corrupt());
        assert_eq!(
            error.to_string(),
            "job is inconsistent: a memoised step of level 3 differs from its recomputation"
        );
    }
}

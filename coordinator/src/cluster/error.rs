//! Errors that end a session.

use strata_proto::net::convert::ConvertError;
use strata_proto::v1::FailureKind;
use strata_run::{Retryable, StopReason};

use crate::entry::WorkerNumber;
use crate::journal::error::JournalError;

/// Why a session ended before the job's search was finished.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    /// A worker was lost.
    #[error("worker {name} is lost: {why}")]
    Lost {
        /// Its number.
        worker: WorkerNumber,
        /// Its name.
        name: String,
        /// The evidence.
        why: String,
    },
    /// A worker could not execute an order.
    #[error("worker {name}: {message}")]
    Failed {
        /// Its number.
        worker: WorkerNumber,
        /// Its name.
        name: String,
        /// Kind of failure.
        kind: FailureKind,
        /// What is wrong and where.
        message: String,
    },
    /// A worker's answer is invalid.
    #[error("worker {name} sent a malformed answer: {why}")]
    Malformed {
        /// Its name.
        name: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The coordinator is shutting down.
    #[error("the coordinator is shutting down")]
    Shutdown,
    /// The job was cancelled before its session had made a layer.
    #[error("the job is cancelled")]
    Cancelled,
}

impl ClusterError {
    /// For `map_err`: an answer that could not be converted.
    pub(crate) fn malformed(name: &str) -> impl FnOnce(ConvertError) -> ClusterError + '_ {
        move |error| ClusterError::Malformed { name: name.to_owned(), why: error.to_string() }
    }

    /// Whether another session can resume from the last checkpoint.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            ClusterError::Lost { .. } => true,
            ClusterError::Failed { kind, .. } => {
                matches!(kind, FailureKind::Peer | FailureKind::Fenced)
            }
            ClusterError::Malformed { .. }
            | ClusterError::Journal(_)
            | ClusterError::Shutdown
            | ClusterError::Cancelled => false,
        }
    }
}

impl Retryable for ClusterError {
    fn exhausted(&self) -> Option<StopReason> {
        match self {
            ClusterError::Failed { kind: FailureKind::DiskFull, .. } => Some(StopReason::DiskFull),
            ClusterError::Failed { kind: FailureKind::MemoryFull, .. } => {
                Some(StopReason::MemoryFull)
            }
            _ => None,
        }
    }
}

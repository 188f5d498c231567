//! What can go wrong while a cluster works on a job.

use strata_net::convert::ConvertError;
use strata_proto::v1::FailureKind;

use crate::journal::JournalError;
use strata::Retryable;
use strata::StopReason;

/// Why a session of a job ended without an end of the search.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    /// A worker has gone.
    #[error("worker {name} is lost: {why}")]
    Lost {
        /// Its number.
        worker: u16,
        /// Its name.
        name: String,
        /// What is known of it.
        why: String,
    },
    /// A worker could not carry out an order.
    #[error("worker {name}: {message}")]
    Failed {
        /// Its number.
        worker: u16,
        /// Its name.
        name: String,
        /// What sort of failure.
        kind: FailureKind,
        /// What is wrong and where.
        message: String,
    },
    /// A worker's answer makes no sense.
    #[error("worker {name} sent a malformed answer: {why}")]
    Malformed {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The coordinator's own records.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The coordinator is shutting down.
    #[error("the coordinator is shutting down")]
    Shutdown,
}

impl ClusterError {
    /// An answer that could not be understood.
    pub(crate) fn malformed(name: &str) -> impl FnOnce(ConvertError) -> ClusterError + '_ {
        move |error| ClusterError::Malformed { name: name.to_owned(), why: error.to_string() }
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

//! Errors of a coordinator process.

use std::io;
use std::net::SocketAddr;

use strata_proto::net::NetError;
use strata_store::StoreError;

use crate::journal::error::JournalError;

/// Why a coordinator cannot start, or ends early.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The data directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Addresses, token or certificates are refused.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A server failed.
    #[error("the server on {addr} failed: {why}")]
    Serve {
        /// The address.
        addr: SocketAddr,
        /// The reason.
        why: String,
    },
    /// A thread cannot be started.
    #[error("cannot start the thread of {task}: {source}")]
    Thread {
        /// The thread's task.
        task: &'static str,
        /// The operating system's error.
        source: io::Error,
    },
    /// A thread panicked, which is a bug.
    #[error("the thread of {task} panicked: {message}")]
    Panicked {
        /// The thread's task.
        task: &'static str,
        /// The panic's message.
        message: String,
    },
}

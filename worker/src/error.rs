//! Errors of a worker process, and their kinds in the protocol.

use std::net::SocketAddr;
use std::path::PathBuf;

use strata_engine::explicit::InboxError;
use strata_proto::net::convert::ConvertError;
use strata_proto::net::{NetError, Stalled};
use strata_proto::v1;
use strata_proto::v1::FailureKind;
use strata_run::{Retryable, StopReason, WorkerError};
use strata_store::StoreError;

/// Why a worker process cannot start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The data directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Token, TLS files or address cannot be used.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The worker's identity is damaged.
    #[error("{}: {why}", path.display())]
    Identity {
        /// The file that holds it.
        path: PathBuf,
        /// The cause.
        why: String,
    },
    /// The shared checkpoint store cannot be used.
    #[error("checkpoint store {url}: {why}")]
    CheckpointStore {
        /// URL of the store.
        url: String,
        /// The cause.
        why: String,
    },
    /// The operating system starts no more threads.
    #[error("cannot start the worker's thread: {source}")]
    Thread {
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The coordinator rejects this worker; another attempt would not help.
    #[error("the coordinator at {url} refuses this worker: {why}")]
    Refused {
        /// URL of the coordinator.
        url: String,
        /// The coordinator's reason.
        why: String,
    },
    /// The server failed.
    #[error("the server on {addr} failed: {why}")]
    Serve {
        /// The address.
        addr: SocketAddr,
        /// The cause.
        why: String,
    },
}

/// Why a link to another worker delivers no more exits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkError {
    /// A newer epoch has begun at this worker, or the coordinator has ended this one.
    #[error("epoch {epoch} is over")]
    EpochOver { epoch: u64 },
    /// This worker failed in the epoch; [`EpochFailure`] has the cause.
    #[error("epoch {epoch} has failed at this worker")]
    EpochFailed { epoch: u64 },
    /// The worker is not part of the epoch, or the coordinator gave no address for it.
    #[error("it has no address")]
    NoAddress,
    /// The peer is in a newer epoch.
    #[error("{address}: {why}")]
    Fenced { address: String, why: String },
    /// The peer's disk is full.
    #[error("{address}: {why}")]
    DiskFull { address: String, why: String },
    /// The peer rejects this worker's token.
    #[error("{address}: {why}")]
    Unauthenticated { address: String, why: String },
    /// The peer has failed in this epoch.
    #[error("{address}: {why}")]
    PeerFailed { address: String, why: String },
    /// The peer acknowledged nothing for a lease.
    #[error("{address}: {why}")]
    Unreachable { address: String, why: String },
}

/// Why a worker cannot finish its epoch: exits from other workers are lost.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum EpochFailure {
    /// The inbox has lost exits.
    #[error(transparent)]
    Inbox(#[from] InboxError),
    /// A panic interrupted the inbox, so accepted exits may be lost.
    #[error("the worker panicked while it accepted exits")]
    Panicked,
}

/// Why a layer cannot be completed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BarrierError {
    /// The epoch has ended meanwhile.
    #[error("epoch {epoch} is over")]
    EpochOver { epoch: u64 },
    /// Another worker cannot be told, or can tell nothing.
    #[error("worker {to} cannot end the layer with this one: {source}")]
    Link { to: u16, source: LinkError },
    /// Exits from other workers are lost.
    #[error(transparent)]
    Failed(EpochFailure),
}

/// Why a file did not arrive.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransferError {
    /// The local copy cannot be written.
    #[error(transparent)]
    Local(#[from] StoreError),
    /// The source did not send the file.
    #[error("{0}")]
    Source(String),
    /// The source has no such file, or one of another length.
    #[error("{0}")]
    Missing(String),
    /// The source has the file but cannot read it: its disk is faulty.
    #[error("{0}")]
    Unreadable(String),
    /// The file was damaged or cut short on its way, or too little of it came in time. Another attempt
    /// may succeed.
    #[error("{0}")]
    Interrupted(String),
}

impl From<Stalled> for TransferError {
    fn from(stalled: Stalled) -> Self {
        TransferError::Interrupted(stalled.to_string())
    }
}

/// Why a checkpoint file of another worker cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    /// The local copy cannot be written.
    #[error(transparent)]
    Local(#[from] StoreError),
    /// Neither the worker nor the shared store sent the file.
    #[error("{file} of worker {worker} cannot be fetched: {why}")]
    Unavailable { file: String, worker: u32, why: String },
    /// The worker cannot read the file, and the shared store does not have it.
    #[error("{file} of worker {worker} cannot be fetched: {why}")]
    Unreadable { file: String, worker: u32, why: String },
    /// The worker does not have the file any more, nor does the shared store.
    #[error("{file} of worker {worker} is missing: {why}")]
    Missing { file: String, worker: u32, why: String },
    /// The epoch has ended meanwhile.
    #[error("epoch {epoch} is over")]
    EpochOver { epoch: u64 },
}

/// Why an operation on the shared store failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SharedStoreError {
    /// The store is a folder.
    #[error(transparent)]
    Folder(#[from] StoreError),
    /// The store is behind the S3 protocol.
    #[cfg(feature = "s3")]
    #[error(transparent)]
    Bucket(#[from] object_store::Error),
}

impl SharedStoreError {
    /// Whether the store does not have the object.
    pub(crate) fn is_missing(&self) -> bool {
        match self {
            SharedStoreError::Folder(StoreError::Io { source, .. }) => {
                source.kind() == std::io::ErrorKind::NotFound
            }
            SharedStoreError::Folder(_) => false,
            #[cfg(feature = "s3")]
            SharedStoreError::Bucket(error) => {
                matches!(error, object_store::Error::NotFound { .. })
            }
        }
    }

    /// Whether the store's disk is full.
    pub(crate) fn is_disk_full(&self) -> bool {
        match self {
            SharedStoreError::Folder(error) => error.is_disk_full(),
            #[cfg(feature = "s3")]
            SharedStoreError::Bucket(_) => false,
        }
    }
}

/// Why a job cannot be removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemovalError {
    /// Its folder cannot be removed.
    #[error(transparent)]
    Local(#[from] StoreError),
    /// Its files cannot be deleted from the shared store.
    #[error("the shared store: {0}")]
    Shared(#[from] SharedStoreError),
    /// The removal panicked, which is a bug.
    #[error("the removal panicked: {0}")]
    Panicked(String),
}

/// Why a checkpoint file cannot be put into the shared store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UploadError {
    /// The local file cannot be read.
    #[error(transparent)]
    Local(#[from] StoreError),
    /// The shared store is a folder on a full disk.
    #[error("{file} cannot be put into the shared store: {why}")]
    DiskFull { file: String, why: String },
    /// The shared store rejected the file or cannot be reached.
    #[error("{file} cannot be put into the shared store: {why}")]
    Unavailable { file: String, why: String },
    /// The epoch has ended meanwhile.
    #[error("epoch {epoch} is over")]
    EpochOver { epoch: u64 },
}

/// Why an order failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderError {
    /// The search failed at this worker.
    #[error(transparent)]
    Search(#[from] WorkerError),
    /// The order is malformed.
    #[error(transparent)]
    Malformed(#[from] ConvertError),
    /// A checkpoint file of another worker is not available.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The checkpoint cannot be put into the shared store.
    #[error(transparent)]
    Upload(#[from] UploadError),
    /// Exits from other workers are lost.
    #[error(transparent)]
    Epoch(#[from] EpochFailure),
    /// The layer cannot be completed.
    #[error(transparent)]
    Barrier(#[from] BarrierError),
    /// The job cannot run on this worker.
    #[error("{0}")]
    Unfit(String),
    /// The order belongs to an older epoch than this worker's newest.
    #[error("epoch {epoch} is over")]
    EpochOver { epoch: u64 },
    /// The epoch's first order did not arrive.
    #[error("epoch {epoch} was not prepared here")]
    NotPrepared { epoch: u64 },
    /// The order requests a layer other than the next one.
    #[error("layer {depth} cannot follow layer {last}")]
    WrongLayer { depth: u32, last: u32 },
    /// The executor's thread panicked; the panic handler has printed the location.
    #[error("the worker panicked")]
    Panicked,
}

impl From<StoreError> for OrderError {
    fn from(error: StoreError) -> Self {
        OrderError::Search(error.into())
    }
}

impl OrderError {
    /// The protocol's kind of this failure.
    pub(crate) fn kind(&self) -> FailureKind {
        match self {
            OrderError::Search(WorkerError::Engine(strata_engine::explicit::Error::Exchange(
                error,
            ))) => error.source.downcast_ref().map_or(FailureKind::Unspecified, link_kind),
            OrderError::Search(error) => search_kind(error),
            OrderError::Fetch(FetchError::Local(error))
            | OrderError::Upload(UploadError::Local(error)) => store_kind(error),
            OrderError::Fetch(FetchError::Missing { .. }) => FailureKind::Corrupt,
            OrderError::Upload(UploadError::DiskFull { .. }) => FailureKind::DiskFull,
            OrderError::Fetch(FetchError::Unavailable { .. })
            | OrderError::Upload(UploadError::Unavailable { .. }) => FailureKind::Peer,
            OrderError::Epoch(failure) | OrderError::Barrier(BarrierError::Failed(failure)) => {
                epoch_kind(failure)
            }
            OrderError::Barrier(BarrierError::Link { source, .. }) => link_kind(source),
            OrderError::Unfit(_) => FailureKind::Unfit,
            OrderError::EpochOver { .. }
            | OrderError::Barrier(BarrierError::EpochOver { .. })
            | OrderError::NotPrepared { .. }
            | OrderError::Fetch(FetchError::EpochOver { .. })
            | OrderError::Upload(UploadError::EpochOver { .. }) => FailureKind::Fenced,
            // Another session would fail in the same way.
            OrderError::Fetch(FetchError::Unreadable { .. })
            | OrderError::Malformed(_)
            | OrderError::WrongLayer { .. }
            | OrderError::Panicked => FailureKind::Unspecified,
        }
    }

    /// The failure as a message.
    pub(crate) fn to_message(&self) -> v1::Failure {
        v1::Failure { kind: self.kind().into(), message: self.to_string() }
    }
}

fn search_kind(error: &WorkerError) -> FailureKind {
    match error.exhausted() {
        Some(StopReason::MemoryFull) => FailureKind::MemoryFull,
        _ => error.store().map_or(FailureKind::Unspecified, store_kind),
    }
}

fn store_kind(error: &StoreError) -> FailureKind {
    match error {
        StoreError::Corrupt { .. } | StoreError::NotFound { .. } => FailureKind::Corrupt,
        _ if error.is_disk_full() => FailureKind::DiskFull,
        _ => FailureKind::Unspecified,
    }
}

fn epoch_kind(failure: &EpochFailure) -> FailureKind {
    match failure {
        EpochFailure::Inbox(InboxError::Refused(error) | InboxError::Incomplete(error)) => {
            store_kind(error)
        }
        // Another session would fail in the same way.
        EpochFailure::Panicked => FailureKind::Unspecified,
    }
}

fn link_kind(error: &LinkError) -> FailureKind {
    match error {
        LinkError::EpochOver { .. } | LinkError::Fenced { .. } => FailureKind::Fenced,
        LinkError::DiskFull { .. } => FailureKind::DiskFull,
        LinkError::PeerFailed { .. } | LinkError::Unreachable { .. } => FailureKind::Peer,
        LinkError::EpochFailed { .. }
        | LinkError::NoAddress
        | LinkError::Unauthenticated { .. } => FailureKind::Unspecified,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use strata_engine::explicit::ExchangeError;
    use strata_run::StepError;

    use super::*;

    fn io_error(kind: io::ErrorKind) -> StoreError {
        StoreError::Io { op: "write", path: "layer".into(), source: kind.into() }
    }

    #[test]
    fn only_a_full_disk_is_reported_as_disk_full() {
        let kinds = [
            (io::ErrorKind::StorageFull, FailureKind::DiskFull),
            (io::ErrorKind::QuotaExceeded, FailureKind::DiskFull),
            (io::ErrorKind::PermissionDenied, FailureKind::Unspecified),
        ];
        for (cause, kind) in kinds {
            let lost = InboxError::Incomplete(io_error(cause).into());
            let errors = [
                OrderError::from(io_error(cause)),
                OrderError::from(FetchError::Local(io_error(cause))),
                OrderError::from(UploadError::Local(io_error(cause))),
                OrderError::from(WorkerError::from(lost.clone())),
                OrderError::from(EpochFailure::from(lost)),
            ];
            assert!(errors.iter().all(|error| error.kind() == kind), "{cause}");
        }
    }

    #[test]
    fn a_diagram_that_is_too_large_is_reported_as_full_memory() {
        let kind = |source| {
            let error = WorkerError::Symbolic { folder: "job".into(), source };
            OrderError::from(error).kind()
        };
        assert_eq!(kind(StepError::Memory { budget: 7 }), FailureKind::MemoryFull);
        let many = StepError::TooMany { what: "nodes", limit: 9 };
        assert_eq!(kind(many), FailureKind::MemoryFull);
        assert_eq!(kind(StepError::Mismatch { level: 3 }), FailureKind::Unspecified);
    }

    #[test]
    fn failures_of_peers_are_transient() {
        let (address, why) = ("http://w2:1".to_owned(), "the connection was closed".to_owned());
        let lost = LinkError::Unreachable { address, why: why.clone() };
        let sent =
            strata_engine::explicit::Error::from(ExchangeError { to: 2, source: Box::new(lost) });
        let error = OrderError::from(WorkerError::from(sent));
        assert_eq!(error.kind(), FailureKind::Peer);
        let text = error.to_string();
        assert_eq!(
            text,
            "cannot send exits to another worker: http://w2:1: the connection was closed"
        );
        let fetch = FetchError::Unavailable { file: "f".to_owned(), worker: 2, why: why.clone() };
        assert_eq!(OrderError::from(fetch).kind(), FailureKind::Peer);
        // Another session would not find it either.
        let missing = FetchError::Missing { file: "f".to_owned(), worker: 2, why };
        assert_eq!(OrderError::from(missing).kind(), FailureKind::Corrupt);
    }
}

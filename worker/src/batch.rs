//! Batches of exits from other workers, and ends of layers: checked and accepted once.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use strata_engine::explicit::InboxError;
use strata_proto::v1;
use strata_proto::v1::refusal::Reason;
use strata_store::StoreError;

use crate::barrier::NotDue;
use crate::epoch::Epoch;
use crate::error::EpochFailure;
use crate::orders::EpochId;
use crate::state::NodeState;

/// Longest batch, in bytes, that is decoded on the thread that received it. Decoding it takes 0.1
/// ms, about as long as the switch to another thread and back.
const SMALL: usize = 16 << 10;

/// Why a batch was not accepted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchError {
    /// The batch belongs to an older epoch than this worker's newest.
    #[error("epoch {epoch} is over")]
    EpochOver { epoch: u64 },
    /// This worker has not yet executed the epoch's first order.
    #[error("epoch {epoch} has not begun here")]
    NotPrepared { epoch: u64 },
    /// The sender owns no shard in this epoch.
    #[error("the sender is not a worker of the epoch")]
    UnknownSender,
    /// The exits of this layer are already consumed, the layer is beyond the one after the layer in
    /// progress, or the sender has ended it. Or its end is for another worker.
    #[error("exits of layer {depth} are not due")]
    WrongLayer { depth: u32 },
    /// Batches before this one are missing.
    #[error("batch {sequence} after batch {last} of worker {from}")]
    Gap { sequence: u64, last: u64, from: u16 },
    /// The batch is damaged or not for this worker.
    #[error(transparent)]
    Refused(Arc<StoreError>),
    /// Exits are lost, so the epoch fails at this worker.
    #[error(transparent)]
    Failed(EpochFailure),
}

impl From<BatchError> for v1::Refusal {
    fn from(error: BatchError) -> v1::Refusal {
        let message = error.to_string();
        let reason = match error {
            BatchError::EpochOver { .. } => Reason::EpochOver,
            BatchError::NotPrepared { .. }
            | BatchError::UnknownSender
            | BatchError::WrongLayer { .. }
            | BatchError::Gap { .. }
            | BatchError::Refused(_) => Reason::Unspecified,
            BatchError::Failed(EpochFailure::Inbox(
                InboxError::Incomplete(cause) | InboxError::Refused(cause),
            )) if cause.is_disk_full() => Reason::DiskFull,
            BatchError::Failed(_) => Reason::LostExits,
        };
        v1::Refusal { reason: reason.into(), message }
    }
}

/// A batch that has been accepted, now or before.
#[derive(Debug)]
pub(crate) struct Accepted {
    /// Number of the last accepted batch.
    pub(crate) sequence: u64,
    /// Whether the sender waits for a receipt.
    pub(crate) wants_receipt: bool,
}

/// Accepts a batch, unless it was accepted before.
///
/// # Errors
/// See the variants of [`BatchError`]. After `Failed`, the epoch accepts no more batches.
pub(crate) async fn accept(state: &NodeState, batch: v1::Batch) -> Result<Accepted, BatchError> {
    let v1::Batch { epoch: number, from, sequence, depth, run, incarnation, .. } = batch;
    let v1::Batch { end, wants_receipt, .. } = batch;
    let epoch = current_epoch(state, EpochId { incarnation, number })?;
    let from = u16::try_from(from).ok().filter(|from| epoch.owners.contains(from));
    let from = from.ok_or(BatchError::UnknownSender)?;
    // A copy of the batch that comes over another connection waits here until this one is accepted.
    let mut last = epoch.received(from).lock_owned().await;
    if let Some(failure) = epoch.failure() {
        return Err(BatchError::Failed(failure.clone()));
    }
    if sequence <= *last {
        tracing::debug!(from, sequence, "a batch was sent again");
        return Ok(Accepted { sequence: *last, wants_receipt: true });
    }
    if sequence != *last + 1 {
        return Err(BatchError::Gap { sequence, last: *last, from });
    }
    // Only a request, which may come after the end of the layer.
    let is_empty = run.is_empty() && end.is_none() && wants_receipt;
    let end = end.map(|end| epoch.check_end(from, depth, end)).transpose();
    let end = end.map_err(|NotDue| BatchError::WrongLayer { depth })?;
    if !is_empty && end.is_none() && !epoch.expects(from, depth) {
        return Err(BatchError::WrongLayer { depth });
    }
    let carried = end.iter().flat_map(|end| &end.carried).map(|part| part.run.len());
    let bytes = run.len() + carried.sum::<usize>();
    let inbox = Arc::clone(&epoch);
    let is_quick = bytes <= SMALL && epoch.inbox.accepts_quickly(depth);
    let accept = move || {
        if !run.is_empty() || (end.is_none() && !is_empty) {
            inbox.accept(depth, &run, from)?;
        }
        for (origin, run) in end.iter().flat_map(|end| inbox.carried_here(end)) {
            inbox.accept(depth, run, origin)?;
        }
        *last = sequence;
        inbox.received_batch(from, sequence, depth, end);
        Ok(())
    };
    let accepted = if is_quick {
        std::panic::catch_unwind(AssertUnwindSafe(accept)).map_err(|_| ())
    } else {
        state.platform().blocking(accept).await.map_err(|_| ())
    };
    let failure = match accepted {
        Ok(Ok(())) => {
            state.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            return Ok(Accepted { sequence, wants_receipt });
        }
        Ok(Err(InboxError::Refused(error))) => {
            tracing::warn!("a batch was refused: {error}");
            return Err(BatchError::Refused(error));
        }
        Ok(Err(error)) => EpochFailure::Inbox(error),
        Err(()) => EpochFailure::Panicked,
    };
    epoch.fail(failure.clone());
    Err(BatchError::Failed(failure))
}

/// The current epoch, if its id is `id`.
fn current_epoch(state: &NodeState, id: EpochId) -> Result<Arc<Epoch>, BatchError> {
    if id.is_over(state.orders.newest()) {
        return Err(BatchError::EpochOver { epoch: id.number });
    }
    let current = state.current().filter(|current| current.id == id);
    current.ok_or(BatchError::NotPrepared { epoch: id.number })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn only_a_full_disk_is_named_as_the_reason() {
        let answer = |kind: io::ErrorKind| {
            let source = io::Error::from(kind);
            let error = StoreError::Io { op: "write", path: "run".into(), source };
            let lost = EpochFailure::Inbox(InboxError::Incomplete(Arc::new(error)));
            v1::Refusal::from(BatchError::Failed(lost)).reason()
        };
        assert_eq!(answer(io::ErrorKind::StorageFull), Reason::DiskFull);
        assert_eq!(answer(io::ErrorKind::PermissionDenied), Reason::LostExits);
        let panicked = BatchError::Failed(EpochFailure::Panicked);
        assert_eq!(v1::Refusal::from(panicked).reason(), Reason::LostExits);
    }
}

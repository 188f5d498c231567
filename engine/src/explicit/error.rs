//! Errors of the explicit engine.

use std::error::Error as StdError;
use std::sync::Arc;

use strata_space::{State, StateSpace};
use strata_store::StoreError;

/// Error of the explicit engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or an encoded run is missing or damaged, or cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An inbox did not accept exits.
    #[error(transparent)]
    Inbox(#[from] InboxError),
    /// Exits could not be delivered to another worker.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The space returned a state of the region that no state may have.
    #[error("the space returned {state}, whose region key u128::MAX is reserved")]
    ReservedRegion {
        /// The state, in the space's text form.
        state: String,
    },
    /// An expansion that another worker has learned is malformed, or is not what this one computes.
    #[error("an expansion from another worker is {what}")]
    Learned {
        /// What is wrong with it.
        what: &'static str,
    },
    /// A state has no neighbour in the files of the layer before.
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
#[derive(Debug, thiserror::Error)]
#[error("cannot send exits to another worker: {source}")]
pub struct ExchangeError {
    /// Number of the receiving worker.
    pub to: usize,
    /// The error of the transport.
    pub source: Box<dyn StdError + Send + Sync>,
}

/// An [`Inbox`](crate::explicit::Inbox) did not accept exits.
#[derive(Clone, Debug, thiserror::Error)]
pub enum InboxError {
    /// The run is damaged or not for this inbox. The inbox is unchanged.
    #[error(transparent)]
    Refused(Arc<StoreError>),
    /// There was no memory to set up decompression, or merging or spilling failed, now or earlier, so exits
    /// are lost. The inbox then accepts and returns no exits, so that no layer is made from an incomplete
    /// set.
    #[error(transparent)]
    Incomplete(Arc<StoreError>),
}

impl Error {
    /// The error of a file, or of an encoded or received run, if one is the cause.
    #[must_use]
    pub fn store(&self) -> Option<&StoreError> {
        match self {
            Error::Store(error) => Some(error),
            Error::Inbox(InboxError::Refused(error) | InboxError::Incomplete(error)) => Some(error),
            Error::Exchange(_)
            | Error::ReservedRegion { .. }
            | Error::Learned { .. }
            | Error::BrokenChain { .. } => None,
        }
    }

    /// Whether a file or a received run is damaged or missing.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        self.store().is_some_and(StoreError::is_corrupt)
    }
}

/// Checks that a state that enters the engine is not in the reserved region.
///
/// # Errors
/// [`Error::ReservedRegion`] otherwise.
#[inline]
pub(crate) fn check_region<S: StateSpace + ?Sized>(space: &S, state: State) -> Result<()> {
    if state.region.0 == u128::MAX {
        return Err(Error::ReservedRegion { state: space.text(state) });
    }
    Ok(())
}

/// Result of the explicit engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

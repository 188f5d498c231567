//! Errors of a pass.

use strata_store::StoreError;

/// Error of a pass.
pub type Error = StoreError;

/// Result of a pass.
pub type Result<T> = std::result::Result<T, Error>;

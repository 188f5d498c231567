//! Shared parts of the node commands: the runtime, and failures of the data directory.

use strata_store::StoreError;
use tokio::runtime::Runtime;

use crate::output::exit::{ExitCode, Failure};

/// Starts a runtime of several threads.
///
/// # Errors
/// If the system refuses.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| {
        Failure::new(ExitCode::Unexpected, format!("cannot start a runtime: {error}"))
    })
}

/// The failure for a data directory: a usage error, unless its files are damaged.
pub(super) fn store_failure(error: StoreError) -> Failure {
    match error {
        StoreError::Corrupt { .. } => error.into(),
        _ => Failure::usage(error),
    }
}

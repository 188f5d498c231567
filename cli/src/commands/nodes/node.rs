//! Shared parts of the node commands: the runtime and the host's name.

use tokio::runtime::Runtime;

use crate::output::exit::{ExitCode, Failure};

/// Name of a host that does not provide one.
const UNNAMED: &str = "worker";

/// The host's name; a placeholder if the system does not provide one.
pub(super) fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { UNNAMED.to_owned() } else { name.to_owned() }
}

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

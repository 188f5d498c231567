//! Helpers of several targets.

use tempfile::TempDir;

/// A temporary folder, on a memory file system if there is one: targets write files for most
/// inputs.
pub(super) fn scratch() -> TempDir {
    must(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()))
}

/// Unwraps a result that can only fail because of a defect of the target itself.
#[track_caller]
pub(super) fn must<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the target itself failed: {error}"),
    }
}

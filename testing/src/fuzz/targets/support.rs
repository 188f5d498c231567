//! What several targets need.

use tempfile::TempDir;

/// A folder in memory where there is one: targets write files for most inputs.
pub(super) fn scratch() -> TempDir {
    must(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()))
}

/// Unwraps what only a defect of a target itself can make fail.
#[track_caller]
pub(super) fn must<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the target itself failed: {error}"),
    }
}

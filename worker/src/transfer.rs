//! Local copy of a file that arrives in chunks.

use std::io;
use std::path::{Path, PathBuf};

use strata_store::StoreError;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

/// A file in the job's folder that is being received. Its errors are those of the local disk.
pub(crate) struct LocalCopy {
    file: File,
    path: PathBuf,
}

impl LocalCopy {
    /// Creates the file, or empties it.
    pub(crate) async fn create(path: &Path) -> Result<LocalCopy, StoreError> {
        let target = path.to_path_buf();
        let created =
            tokio::task::spawn_blocking(move || strata_store::create_private(&target)).await;
        let created = created.unwrap_or_else(|error| Err(io::Error::other(error)));
        let file = File::from_std(created.map_err(|source| failed("create", path, source))?);
        Ok(LocalCopy { file, path: path.to_path_buf() })
    }

    /// Appends a chunk.
    pub(crate) async fn write(&mut self, chunk: &[u8]) -> Result<(), StoreError> {
        let written = self.file.write_all(chunk).await;
        written.map_err(|source| failed("write", &self.path, source))
    }

    /// Waits for the last write. The file is not synced: a checkpoint does that.
    pub(crate) async fn finish(mut self) -> Result<(), StoreError> {
        let flushed = self.file.flush().await;
        flushed.map_err(|source| failed("write", &self.path, source))
    }
}

/// Error of an operation on a local file.
pub(crate) fn failed(op: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { op, path: path.to_path_buf(), source }
}

//! Local copy of a file that arrives in chunks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use strata_platform::{Panicked, Platform};
use strata_store::{FsFile, StoreError};

/// A file in the job's folder that is being received. Its errors are those of the local disk. The
/// file is not synced: a checkpoint does that.
pub(crate) struct LocalCopy {
    platform: Arc<dyn Platform>,
    file: Arc<dyn FsFile>,
    /// Bytes written.
    len: u64,
    path: PathBuf,
}

impl LocalCopy {
    /// Creates the file, or empties it.
    pub(crate) async fn create(
        platform: &Arc<dyn Platform>,
        path: &Path,
    ) -> Result<LocalCopy, StoreError> {
        let (fs, target) = (platform.fs(), path.to_path_buf());
        let created = flat(platform.blocking(move || fs.create(&target)).await);
        let file = created.map_err(|source| failed("create", path, source))?;
        let (platform, path) = (Arc::clone(platform), path.to_path_buf());
        Ok(LocalCopy { platform, file: Arc::from(file), len: 0, path })
    }

    /// Appends a chunk.
    pub(crate) async fn write(&mut self, chunk: Bytes) -> Result<(), StoreError> {
        let (file, offset) = (Arc::clone(&self.file), self.len);
        self.len += chunk.len() as u64;
        let written = self.platform.blocking(move || file.write_all_at(&chunk, offset)).await;
        flat(written).map_err(|source| failed("write", &self.path, source))
    }
}

fn flat<T>(done: Result<io::Result<T>, Panicked>) -> io::Result<T> {
    done.unwrap_or_else(|panicked| Err(io::Error::other(panicked)))
}

/// Error of an operation on a local file.
pub(crate) fn failed(op: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { op, path: path.to_path_buf(), source }
}

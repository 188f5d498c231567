//! Local copy of a file that arrives in chunks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use strata_proto::net::Pace;
use strata_proto::platform::{Panicked, Platform};
use strata_store::{FsFile, StoreError};

use crate::error::TransferError;

/// A file in the job's folder that is being received. The file is not synced; the next checkpoint
/// syncs it.
pub(crate) struct LocalCopy {
    platform: Arc<dyn Platform>,
    file: Arc<dyn FsFile>,
    /// Bytes written.
    len: u64,
    path: PathBuf,
}

impl LocalCopy {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// [`TransferError::Local`].
    pub(crate) async fn create(
        platform: &Arc<dyn Platform>,
        path: &Path,
    ) -> Result<LocalCopy, TransferError> {
        let (fs, target) = (platform.fs(), path.to_path_buf());
        let waiting = Arc::new(());
        let waits = Arc::downgrade(&waiting);
        let create = move || {
            let file = fs.create(&target)?;
            if waits.strong_count() == 0 {
                // The transfer has ended meanwhile, and the file may have been removed before it was created.
                let _ = fs.remove(&target);
            }
            Ok(file)
        };
        let created = flat(platform.blocking(create).await);
        drop(waiting);
        let file = created.map_err(|source| failed("create", path, source))?;
        let (platform, path) = (Arc::clone(platform), path.to_path_buf());
        Ok(LocalCopy { platform, file: Arc::from(file), len: 0, path })
    }

    /// Appends the chunks of a file of `bytes` bytes; `next` waits for the next chunk. Writing to
    /// the local disk does not count as time of the source.
    ///
    /// # Errors
    /// Those of `next`, [`TransferError::Local`] if a chunk cannot be written,
    /// [`TransferError::Source`] if there are more bytes, and [`TransferError::Interrupted`] if
    /// there are fewer bytes or too few come in time.
    pub(crate) async fn fill(
        &mut self,
        bytes: u64,
        pace: &mut Pace,
        mut next: impl AsyncFnMut() -> Result<Option<Bytes>, TransferError>,
    ) -> Result<(), TransferError> {
        let mut left = bytes;
        while let Some(chunk) = pace.wait(next()).await?? {
            let len = chunk.len() as u64;
            left = left.checked_sub(len).ok_or_else(|| {
                TransferError::Source("it is longer than the checkpoint records".to_owned())
            })?;
            // The time of a write does not count for the pace, so writes of empty chunks would let
            // a transfer run on.
            if len > 0 {
                pace.exclude(self.write(chunk)).await?;
                pace.count(len);
            }
        }
        match left {
            0 => Ok(()),
            _ => Err(TransferError::Interrupted(format!("{left} bytes are missing"))),
        }
    }

    /// Appends a chunk.
    async fn write(&mut self, chunk: Bytes) -> Result<(), StoreError> {
        let (file, offset) = (Arc::clone(&self.file), self.len);
        self.len += chunk.len() as u64;
        let written = self.platform.blocking(move || file.write_all_at(&chunk, offset)).await;
        flat(written).map_err(|source| failed("write", &self.path, source))
    }
}

/// Flattens the result of an operation that may have panicked: a panic becomes an I/O error.
pub(crate) fn flat<T>(done: Result<io::Result<T>, Panicked>) -> io::Result<T> {
    done.unwrap_or_else(|panicked| Err(io::Error::other(panicked)))
}

/// The error of operation `op` on the local file `path`.
pub(crate) fn failed(op: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { op, path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use strata_proto::platform::System;

    use super::*;

    /// The writes to a file: offset and length.
    #[derive(Debug, Default)]
    struct Writes(Mutex<Vec<(u64, usize)>>);

    impl FsFile for Writes {
        fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            self.0.lock().unwrap().push((offset, bytes.len()));
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }

        fn truncate(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_file_that_is_created_after_the_end_of_the_transfer_is_removed() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.max_blocking_threads(1).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy");
        let platform: Arc<dyn Platform> = System::new(runtime.handle());
        runtime.block_on(async {
            // The only thread of the pool is busy while the transfer begins and ends.
            let (release, released) = std::sync::mpsc::channel::<()>();
            let busy = platform.blocking(move || released.recv().is_err());
            let create = LocalCopy::create(&platform, &path);
            let late = tokio::time::timeout(Duration::from_millis(1), create).await;
            assert!(late.is_err());
            drop(release);
            assert!(busy.await.unwrap());
            platform.blocking(|| ()).await.unwrap();
        });
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn empty_chunks_are_not_written() {
        let writes = Arc::new(Writes::default());
        let platform: Arc<dyn Platform> = System::new(&tokio::runtime::Handle::current());
        let file: Arc<dyn FsFile> = writes.clone();
        let mut copy = LocalCopy { platform, file, len: 0, path: PathBuf::from("file") };
        let mut chunks = ["", "abc", "", "de", ""].into_iter();
        let next = async || Ok(chunks.next().map(|chunk| Bytes::from_static(chunk.as_bytes())));
        copy.fill(5, &mut Pace::of_bytes(Duration::from_secs(60)), next).await.unwrap();
        assert_eq!(*writes.0.lock().unwrap(), [(0, 3), (3, 2)]);
    }
}

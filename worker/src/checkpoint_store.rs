//! Shared store of checkpoint files, with which a job can continue without a lost worker.

use std::collections::HashSet;
use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use object_store::buffered::BufWriter;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use strata_net::Pace;
use strata_platform::Platform;
use strata_store::{CheckpointFile, Fs};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_stream::StreamExt;

use crate::epoch::Epoch;
use crate::error::{NodeError, TransferError, UploadError};
use crate::store_folder::{CopyError, StoreFolder};
use crate::transfer::{LocalCopy, failed};

/// Bytes read from a file at a time.
const READ_BYTES: usize = 1 << 20;

/// Least window for the progress of a download. A store answers the first request after its own
/// repetitions, which may take longer than a lease.
const LEAST_WINDOW: Duration = Duration::from_secs(60);

/// A shared store. The key of an object is the job's id and the file's name.
#[derive(Debug)]
pub(crate) struct CheckpointStore {
    objects: Arc<dyn ObjectStore>,
    prefix: Key,
    /// The folder of a store that is one. It writes the objects: [`LocalFileSystem`] would create
    /// files that others can read, and folders whose names a crash can lose.
    folder: Option<StoreFolder>,
    uploaded: Mutex<Uploaded>,
}

/// Objects that this process has uploaded for one job. Those of other jobs stay: the jobs may be
/// resumed.
#[derive(Debug, Default)]
struct Uploaded {
    job: String,
    /// Objects of earlier checkpoints, until the last checkpoint is durable.
    earlier: HashSet<Key>,
    /// Objects of the last checkpoint.
    last: HashSet<Key>,
}

/// Why an object could not be written, without its name.
enum PutError {
    Local(strata_store::StoreError),
    Remote(Box<dyn Error + Send + Sync>),
}

impl CheckpointStore {
    /// Opens a store by URL, for the worker with this id. A folder is accessed through `fs`, and created
    /// durably if it does not exist.
    ///
    /// # Errors
    /// [`NodeError::CheckpointStore`] if the URL is malformed, its scheme is not built in, or its
    /// folder cannot be created.
    pub(crate) fn open(
        url: &str,
        fs: &Arc<dyn Fs>,
        worker: &str,
    ) -> Result<CheckpointStore, NodeError> {
        let failed = |why: String| NodeError::CheckpointStore { url: url.to_owned(), why };
        if let Some(folder) = url.strip_prefix("file://") {
            if !folder.starts_with('/') {
                return Err(failed("a file URL needs an absolute path: file:///folder".to_owned()));
            }
            let opened = StoreFolder::open(Arc::clone(fs), Path::new(folder), worker);
            let opened = opened.map_err(|error| failed(error.to_string()))?;
            let local = LocalFileSystem::new_with_prefix(folder);
            let local = local.map_err(|error| failed(error.to_string()))?;
            return Ok(CheckpointStore {
                objects: Arc::new(local),
                prefix: Key::default(),
                folder: Some(opened),
                uploaded: Mutex::default(),
            });
        }
        Self::open_remote(url)
    }

    #[cfg(feature = "s3")]
    fn open_remote(url: &str) -> Result<CheckpointStore, NodeError> {
        let failed = |why: String| NodeError::CheckpointStore { url: url.to_owned(), why };
        let parsed = url::Url::parse(url).map_err(|error| failed(error.to_string()))?;
        let options = std::env::vars().filter(|(name, _)| name.starts_with("AWS_"));
        let options = options.map(|(name, value)| (name.to_ascii_lowercase(), value));
        let (objects, prefix) = object_store::parse_url_opts(&parsed, options)
            .map_err(|error| failed(error.to_string()))?;
        let objects = Arc::from(objects);
        Ok(CheckpointStore { objects, prefix, folder: None, uploaded: Mutex::default() })
    }

    #[cfg(not(feature = "s3"))]
    fn open_remote(url: &str) -> Result<CheckpointStore, NodeError> {
        let why = "only file:///folder is built in (s3://bucket/prefix with the feature s3)";
        Err(NodeError::CheckpointStore { url: url.to_owned(), why: why.to_owned() })
    }

    fn key(&self, job: &str, file: &str) -> Key {
        self.prefix.clone().join(job).join(file)
    }

    /// Uploads all files of a checkpoint. Skips files that the store still has from the last
    /// checkpoint.
    ///
    /// # Errors
    /// [`UploadError::Local`] if a file cannot be read, [`UploadError::EpochOver`] if the epoch ends
    /// meanwhile, otherwise the store's error.
    pub(crate) fn upload(
        &self,
        platform: &dyn Platform,
        epoch: &Epoch,
        records: &[CheckpointFile],
    ) -> Result<(), UploadError> {
        let folder = &epoch.folder;
        let mut keys = HashSet::new();
        for record in records {
            let key = self.key(folder.job(), &record.file);
            let path = folder.file_path(&record.file)?;
            let put = self.put(platform, epoch, &key, record, &path);
            let put = put.ok_or(UploadError::EpochOver { epoch: epoch.id.number })?;
            put.map_err(|error| match error {
                PutError::Local(error) => UploadError::Local(error),
                PutError::Remote(error) => {
                    let (file, why) = (record.file.clone(), error.to_string());
                    if is_disk_full(&*error) {
                        UploadError::DiskFull { file, why }
                    } else {
                        UploadError::Unavailable { file, why }
                    }
                }
            })?;
            keys.insert(key);
        }
        let mut uploaded = self.uploaded();
        if uploaded.job != folder.job() {
            *uploaded = Uploaded { job: folder.job().to_owned(), ..Uploaded::default() };
        }
        let last = std::mem::replace(&mut uploaded.last, keys);
        uploaded.earlier.extend(last);
        Ok(())
    }

    /// Writes an object, unless the store still has it from the last checkpoint; `None` if the epoch ends
    /// meanwhile.
    fn put(
        &self,
        platform: &dyn Platform,
        epoch: &Epoch,
        key: &Key,
        record: &CheckpointFile,
        path: &Path,
    ) -> Option<Result<(), PutError>> {
        let is_known = self.uploaded().last.contains(key);
        if is_known
            && epoch
                .wait(platform, self.objects.head(key))?
                .is_ok_and(|object| object.size == record.bytes)
        {
            return Some(Ok(()));
        }
        let Some(folder) = &self.folder else {
            return epoch.wait(platform, self.send(key, path));
        };
        let put = folder.put(epoch.folder.job(), &record.file, path);
        Some(put.map_err(|error| match error {
            CopyError::Source(error) => PutError::Local(error),
            CopyError::Store(error) => PutError::Remote(Box::new(error)),
        }))
    }

    /// Sends a file to a store that is no folder.
    async fn send(&self, key: &Key, path: &Path) -> Result<(), PutError> {
        let local = |op| move |source| PutError::Local(failed(op, path, source));
        let source = path.to_path_buf();
        let opened = tokio::task::spawn_blocking(move || strata_store::open_regular(&source)).await;
        let opened = opened.unwrap_or_else(|error| Err(io::Error::other(error)));
        let mut file = tokio::fs::File::from_std(opened.map_err(local("open"))?);
        let mut writer = BufWriter::new(Arc::clone(&self.objects), key.clone());
        loop {
            let mut buffer = BytesMut::with_capacity(READ_BYTES);
            if file.read_buf(&mut buffer).await.map_err(local("read"))? == 0 {
                break;
            }
            let put = writer.put(buffer.freeze()).await;
            put.map_err(|error| PutError::Remote(Box::new(error)))?;
        }
        writer.shutdown().await.map_err(|error| PutError::Remote(Box::new(error)))
    }

    /// Deletes the objects that only earlier checkpoints need. The last checkpoint must be durable.
    /// Objects that cannot be deleted stay; those that are left when the epoch ends are deleted after the
    /// next checkpoint of the job.
    pub(crate) fn delete_superseded(&self, platform: &dyn Platform, epoch: &Epoch) {
        let mut superseded: Vec<Key> = {
            let mut uploaded = self.uploaded();
            let earlier = std::mem::take(&mut uploaded.earlier);
            earlier.difference(&uploaded.last).cloned().collect()
        };
        while let Some(key) = superseded.last() {
            let Some(deleted) = epoch.wait(platform, self.objects.delete(key)) else { break };
            if let Err(error) = deleted {
                let (job, worker) = (epoch.folder.job(), epoch.own);
                tracing::warn!(job, worker, "{key} stays in the store: {error}");
            }
            superseded.pop();
        }
        self.uploaded().earlier.extend(superseded);
    }

    fn uploaded(&self) -> MutexGuard<'_, Uploaded> {
        self.uploaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes all objects of a job, of all workers.
    ///
    /// # Errors
    /// The store's error. Some objects may be deleted.
    pub(crate) async fn delete_job(&self, job: &str) -> Result<(), object_store::Error> {
        let mut objects = self.objects.list(Some(&self.prefix.clone().join(job)));
        while let Some(object) = objects.next().await {
            match self.objects.delete(&object?.location).await {
                // Another worker deletes them, too.
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(folder) = &self.folder {
            // It is empty, unless something that is no object is in it.
            let _ = std::fs::remove_dir(folder.job(job));
        }
        Ok(())
    }

    /// Writes the object of a checkpoint's file to a file. So much of it as the least rate asks for must
    /// come in each `window`.
    ///
    /// # Errors
    /// [`TransferError::Local`] if the file cannot be written, [`TransferError::Missing`] if there is
    /// no such object, [`TransferError::Interrupted`] if too little comes in time,
    /// [`TransferError::Source`] if it cannot be read or is too long.
    pub(crate) async fn download(
        &self,
        platform: &Arc<dyn Platform>,
        job: &str,
        record: &CheckpointFile,
        to: &Path,
        window: Duration,
    ) -> Result<(), TransferError> {
        let source = |error: object_store::Error| match error {
            object_store::Error::NotFound { .. } => TransferError::Missing(error.to_string()),
            error => TransferError::Source(error.to_string()),
        };
        let mut pace = Pace::of_bytes(window.max(LEAST_WINDOW));
        let key = self.key(job, &record.file);
        let object = pace.wait(self.objects.get(&key)).await?;
        let mut chunks = object.map_err(source)?.into_stream();
        let mut copy = pace.exclude(LocalCopy::create(platform, to)).await?;
        let next = async || chunks.next().await.transpose().map_err(source);
        copy.fill(record.bytes, &mut pace, next).await
    }
}

/// Whether a full disk is the cause of an error.
fn is_disk_full(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        next = error.source();
        if let Some(error) = error.downcast_ref::<io::Error>() {
            if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
                return true;
            }
            // `io::Error::source` skips the wrapped error itself and returns that error's source.
            next = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_found_behind_other_errors() {
        let generic = |source: io::Error| object_store::Error::Generic {
            store: "LocalFileSystem",
            source: Box::new(source),
        };
        let full = generic(io::ErrorKind::StorageFull.into());
        assert!(is_disk_full(&full));
        assert!(is_disk_full(&io::Error::other(full)));
        assert!(!is_disk_full(&generic(io::ErrorKind::PermissionDenied.into())));
    }
}

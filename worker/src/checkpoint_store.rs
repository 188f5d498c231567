//! Shared store of checkpoint files, with which a job can continue after the loss of a worker.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use strata_proto::net::Pace;
use strata_proto::platform::Platform;
use strata_store::{CheckpointFile, Fs};

use crate::epoch::Epoch;
use crate::error::{NodeError, SharedStoreError, TransferError, UploadError};
#[cfg(feature = "s3")]
use crate::store_bucket::StoreBucket;
use crate::store_folder::{StoreFolder, StoredFile};
use crate::store_object::{ObjectName, PutError};
use crate::transfer::LocalCopy;

/// Shortest window in which a download must progress. A store's client may repeat the first request
/// for longer than a lease.
const LEAST_WINDOW: Duration = Duration::from_secs(60);

/// A shared store.
#[derive(Debug)]
pub(crate) struct CheckpointStore {
    backend: Backend,
    uploaded: Mutex<Uploaded>,
}

#[derive(Debug)]
enum Backend {
    Folder(StoreFolder),
    #[cfg(feature = "s3")]
    Bucket(StoreBucket),
}

/// Reader of an object.
enum Reader {
    Folder(StoredFile),
    #[cfg(feature = "s3")]
    Bucket(crate::store_bucket::Chunks),
}

impl Reader {
    /// The next bytes of the object; `None` at its end.
    async fn next(&mut self) -> Result<Option<Bytes>, SharedStoreError> {
        match self {
            Reader::Folder(file) => Ok(file.next().await?),
            #[cfg(feature = "s3")]
            Reader::Bucket(chunks) => Ok(chunks.next().await?),
        }
    }
}

impl Backend {
    /// Length of an object in bytes.
    async fn len(&self, name: &ObjectName) -> Result<u64, SharedStoreError> {
        match self {
            Backend::Folder(folder) => Ok(folder.len(name)?),
            #[cfg(feature = "s3")]
            Backend::Bucket(bucket) => Ok(bucket.len(name).await?),
        }
    }

    async fn put(&self, name: &ObjectName, path: &Path) -> Result<(), PutError> {
        match self {
            Backend::Folder(folder) => folder.put(name, path),
            #[cfg(feature = "s3")]
            Backend::Bucket(bucket) => bucket.put(name, path).await,
        }
    }

    async fn delete(&self, name: &ObjectName) -> Result<(), SharedStoreError> {
        match self {
            Backend::Folder(folder) => Ok(folder.delete(name)?),
            #[cfg(feature = "s3")]
            Backend::Bucket(bucket) => Ok(bucket.delete(name).await?),
        }
    }

    async fn delete_job(&self, platform: &dyn Platform, job: &str) -> Result<(), SharedStoreError> {
        match self {
            Backend::Folder(folder) => Ok(folder.delete_job(platform, job).await?),
            #[cfg(feature = "s3")]
            Backend::Bucket(bucket) => Ok(bucket.delete_job(job).await?),
        }
    }

    async fn open(
        &self,
        platform: &Arc<dyn Platform>,
        name: &ObjectName,
    ) -> Result<Reader, SharedStoreError> {
        match self {
            Backend::Folder(folder) => Ok(Reader::Folder(folder.open_file(platform, name).await?)),
            #[cfg(feature = "s3")]
            Backend::Bucket(bucket) => Ok(Reader::Bucket(bucket.read(name).await?)),
        }
    }
}

/// Objects that this process has uploaded for the job that it uploaded for last. Objects of other
/// jobs stay in the store: the jobs may be resumed.
#[derive(Debug, Default)]
struct Uploaded {
    job: String,
    /// Objects of earlier checkpoints and of uploads that failed, until the next checkpoint is
    /// durable. Some of them may also be in `last`, and some may not exist.
    earlier: HashSet<ObjectName>,
    /// Objects of the last checkpoint whose upload succeeded.
    last: HashSet<ObjectName>,
}

impl Uploaded {
    /// Forgets the objects of other jobs.
    fn enter(&mut self, job: &str) {
        if self.job != job {
            *self = Uploaded { job: job.to_owned(), ..Uploaded::default() };
        }
    }
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
            let folder = opened.map_err(|error| failed(error.to_string()))?;
            return Ok(Self::new(Backend::Folder(folder)));
        }
        Self::open_remote(url)
    }

    fn new(backend: Backend) -> CheckpointStore {
        CheckpointStore { backend, uploaded: Mutex::default() }
    }

    #[cfg(feature = "s3")]
    fn open_remote(url: &str) -> Result<CheckpointStore, NodeError> {
        let opened = StoreBucket::open(url);
        let failed = |why: String| NodeError::CheckpointStore { url: url.to_owned(), why };
        Ok(Self::new(Backend::Bucket(opened.map_err(failed)?)))
    }

    #[cfg(not(feature = "s3"))]
    fn open_remote(url: &str) -> Result<CheckpointStore, NodeError> {
        let why = "only file:///folder is built in (s3://bucket/prefix with the feature s3)";
        Err(NodeError::CheckpointStore { url: url.to_owned(), why: why.to_owned() })
    }

    /// Uploads all files of a checkpoint, except those that the store still has from the last
    /// checkpoint. The objects of an upload that fails are deleted after the job's next checkpoint.
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
        self.uploaded().enter(folder.job());
        let mut names = HashSet::new();
        for record in records {
            let name = ObjectName { job: folder.job().to_owned(), file: record.file.clone() };
            let path = folder.file_path(&record.file)?;
            let put = self.put(platform, epoch, &name, record.bytes, &path);
            let put = put.ok_or(UploadError::EpochOver { epoch: epoch.id.number })?;
            put.map_err(|error| match error {
                PutError::Source(error) => UploadError::Local(error),
                PutError::Store(error) => {
                    let (file, why) = (record.file.clone(), error.to_string());
                    if error.is_disk_full() {
                        UploadError::DiskFull { file, why }
                    } else {
                        UploadError::Unavailable { file, why }
                    }
                }
            })?;
            names.insert(name);
        }
        let mut uploaded = self.uploaded();
        let last = std::mem::replace(&mut uploaded.last, names);
        uploaded.earlier.extend(last);
        Ok(())
    }

    /// Uploads the file at `path`, of `bytes` bytes, as an object, unless the store still has it
    /// from the last checkpoint. `None` if the epoch ends meanwhile.
    fn put(
        &self,
        platform: &dyn Platform,
        epoch: &Epoch,
        name: &ObjectName,
        bytes: u64,
        path: &Path,
    ) -> Option<Result<(), PutError>> {
        let is_known = self.uploaded().last.contains(name);
        if is_known && epoch.wait(platform, self.backend.len(name))?.is_ok_and(|len| len == bytes) {
            return Some(Ok(()));
        }
        // Recorded before the upload: one that fails may leave an object.
        self.uploaded().earlier.insert(name.clone());
        epoch.wait(platform, self.backend.put(name, path))
    }

    /// Deletes the objects that the last checkpoint does not need: those of earlier checkpoints and
    /// of uploads that failed. The last checkpoint must be durable. Objects that cannot be deleted
    /// stay. If the epoch ends meanwhile, the remaining ones are deleted after the job's next
    /// checkpoint.
    pub(crate) fn delete_superseded(&self, platform: &dyn Platform, epoch: &Epoch) {
        let mut superseded: Vec<ObjectName> = {
            let mut uploaded = self.uploaded();
            let earlier = std::mem::take(&mut uploaded.earlier);
            earlier.difference(&uploaded.last).cloned().collect()
        };
        while let Some(name) = superseded.last() {
            let Some(deleted) = epoch.wait(platform, self.backend.delete(name)) else { break };
            if let Err(error) = deleted
                && !error.is_missing()
            {
                let (job, worker) = (epoch.folder.job(), epoch.own);
                tracing::warn!(job, worker, "{name} stays in the store: {error}");
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
    pub(crate) async fn delete_job(
        &self,
        platform: &dyn Platform,
        job: &str,
    ) -> Result<(), SharedStoreError> {
        self.backend.delete_job(platform, job).await
    }

    /// Writes the object of the checkpoint file `record` to the file `to`. The object must arrive at
    /// the minimum rate over each window of length `window`, or of a minute if that is longer.
    ///
    /// # Errors
    /// [`TransferError::Local`] if the file cannot be written, [`TransferError::Missing`] if there
    /// is no such object, [`TransferError::Interrupted`] if too little arrives in time,
    /// [`TransferError::Source`] if the object cannot be read or is too long.
    pub(crate) async fn download(
        &self,
        platform: &Arc<dyn Platform>,
        job: &str,
        record: &CheckpointFile,
        to: &Path,
        window: Duration,
    ) -> Result<(), TransferError> {
        let source = |error: SharedStoreError| match error.is_missing() {
            true => TransferError::Missing(error.to_string()),
            false => TransferError::Source(error.to_string()),
        };
        let mut pace = Pace::of_bytes(window.max(LEAST_WINDOW));
        let name = ObjectName { job: job.to_owned(), file: record.file.clone() };
        let mut object = pace.wait(self.backend.open(platform, &name)).await?.map_err(source)?;
        let mut copy = pace.exclude(LocalCopy::create(platform, to)).await?;
        let next = async || object.next().await.map_err(source);
        copy.fill(record.bytes, &mut pace, next).await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use strata_engine::explicit::{Inbox, InboxOptions};
    use strata_proto::platform::System;
    use strata_store::{EncodeOptions, FaultyFs, Hex64, JobDir, LocalWidth, Weight};
    use tokio::runtime::Runtime;

    use super::*;
    use crate::epoch::EpochParts;
    use crate::orders::EpochId;

    const WORKER: &str = "0123456789abcdef0123456789abcdef";

    fn epoch(folder: JobDir) -> Epoch {
        let options = InboxOptions {
            memory: 0,
            width: LocalWidth::One,
            job: folder.job().to_owned(),
            folder: folder.path().to_owned(),
            prefix: "run-000".to_owned(),
            recycled_runs: 1,
            encode: EncodeOptions::default(),
        };
        let inbox = Arc::new(Inbox::new(Arc::clone(folder.fs()), options).unwrap());
        Epoch::new(EpochParts {
            id: EpochId { incarnation: 1, number: 1 },
            own: 0,
            folder,
            inbox,
            owners: Arc::new([0]),
            locals: 1,
            exit_edges: 1,
            links: BTreeMap::new(),
            columns: 0,
            learned: 0,
            changed: Arc::default(),
        })
    }

    /// A checkpoint's file of four bytes, which is created.
    fn file(folder: &JobDir, file: &str) -> CheckpointFile {
        std::fs::write(folder.file_path(file).unwrap(), "1234").unwrap();
        CheckpointFile {
            depth: 1,
            worker: 0,
            file: file.to_owned(),
            bytes: 4,
            states: 1,
            positions: 1,
            regions: 1,
            generated: 1,
            digest: Weight([0; 2]),
            seal: Hex64(0),
        }
    }

    #[test]
    fn objects_of_a_failed_upload_are_deleted_after_the_next_checkpoint() {
        let runtime = Runtime::new().unwrap();
        let platform = System::new(runtime.handle());
        let data = tempfile::tempdir().unwrap();
        let fs = FaultyFs::new();
        let folder =
            JobDir::attach(Arc::new(fs.clone()), &data.path().join("data"), "job").unwrap();
        let url = format!("file://{}", data.path().join("store").display());
        let shared: Arc<dyn Fs> = Arc::new(fs.clone());
        let store = CheckpointStore::open(&url, &shared, WORKER).unwrap();
        let stored = || {
            let files = std::fs::read_dir(data.path().join("store/job")).unwrap();
            let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
            names.sort_unstable();
            names
        };
        let [first, second, third, fourth] =
            ["first", "second", "third", "fourth"].map(|name| file(&folder, name));
        let epoch = epoch(folder);
        store.upload(&*platform, &epoch, std::slice::from_ref(&first)).unwrap();
        store.delete_superseded(&*platform, &epoch);
        // The disk is full in the middle of the third file.
        fs.fill_after(6);
        let uploaded = store.upload(&*platform, &epoch, &[first, second, third]);
        assert!(matches!(uploaded, Err(UploadError::DiskFull { .. })), "{uploaded:?}");
        assert_eq!(stored(), ["first", "second"]);
        fs.heal();
        store.upload(&*platform, &epoch, &[fourth]).unwrap();
        assert_eq!(stored(), ["first", "fourth", "second"]);
        store.delete_superseded(&*platform, &epoch);
        assert_eq!(stored(), ["fourth"]);
    }
}

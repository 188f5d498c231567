//! The shared store of checkpoints: with it a job can go on without a worker that is gone.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use strata_store::{CheckpointFile, JobDir};
use tokio::runtime::Handle;

use super::NodeError;

/// See the module. An object's key is the job's id and the file's name.
#[derive(Debug)]
pub(crate) struct CheckpointStore {
    objects: Arc<dyn ObjectStore>,
    prefix: Key,
    /// What this process has put, by key: the last checkpoint's, and those of the one before until
    /// the last is durable.
    put: Mutex<Put>,
}

#[derive(Debug, Default)]
struct Put {
    before: HashSet<Key>,
    last: HashSet<Key>,
}

impl CheckpointStore {
    /// Opens a store by URL.
    ///
    /// # Errors
    /// If the URL is malformed, of a kind that was not built in, or its folder cannot be made.
    pub(crate) fn open(url: &str) -> Result<CheckpointStore, NodeError> {
        let failed = |why: String| NodeError::CheckpointStore { url: url.to_owned(), why };
        if let Some(folder) = url.strip_prefix("file://") {
            if !folder.starts_with('/') {
                return Err(failed("a file URL takes an absolute path: file:///folder".to_owned()));
            }
            std::fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
            let local = LocalFileSystem::new_with_prefix(folder);
            // Without it what was put may be gone, or zeros, after a crash.
            let local = local.map_err(|error| failed(error.to_string()))?.with_fsync(true);
            return Ok(CheckpointStore {
                objects: Arc::new(local),
                prefix: Key::default(),
                put: Mutex::default(),
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
        Ok(CheckpointStore { objects: Arc::from(objects), prefix, put: Mutex::default() })
    }

    #[cfg(not(feature = "s3"))]
    fn open_remote(url: &str) -> Result<CheckpointStore, NodeError> {
        let why = "only file:///folder is built in (s3://bucket/prefix with the feature s3)";
        Err(NodeError::CheckpointStore { url: url.to_owned(), why: why.to_owned() })
    }

    fn key(&self, job: &str, file: &str) -> Key {
        self.prefix.clone().join(job).join(file)
    }

    /// Puts all files of a checkpoint, those that are there apart.
    ///
    /// # Errors
    /// If a file cannot be read or put.
    pub(crate) fn put_all(
        &self,
        runtime: &Handle,
        folder: &JobDir,
        records: &[CheckpointFile],
    ) -> Result<(), String> {
        let mut keys = HashSet::new();
        for record in records {
            let key = self.key(folder.job(), &record.file);
            let path = folder.file_path(&record.file).map_err(|error| error.to_string())?;
            runtime.block_on(self.put(&key, record.bytes, &path)).map_err(|why| {
                format!("{} cannot be put into the shared store: {why}", record.file)
            })?;
            keys.insert(key);
        }
        let mut put = self.put.lock().unwrap_or_else(PoisonError::into_inner);
        let last = std::mem::replace(&mut put.last, keys);
        put.before.extend(last);
        Ok(())
    }

    async fn put(&self, key: &Key, bytes: u64, path: &Path) -> Result<(), String> {
        let known = self.put.lock().unwrap_or_else(PoisonError::into_inner).last.contains(key);
        if known && self.objects.head(key).await.is_ok_and(|object| object.size == bytes) {
            return Ok(());
        }
        let mut file = tokio::fs::File::open(path).await.map_err(|error| error.to_string())?;
        let mut upload =
            object_store::buffered::BufWriter::new(Arc::clone(&self.objects), key.clone());
        tokio::io::copy(&mut file, &mut upload).await.map_err(|error| error.to_string())?;
        tokio::io::AsyncWriteExt::shutdown(&mut upload).await.map_err(|error| error.to_string())
    }

    /// A checkpoint is durable: what only the one before needed goes. What cannot be removed stays.
    pub(crate) fn forget_others(&self, runtime: &Handle, folder: &JobDir, own: u16) {
        let gone: Vec<Key> = {
            let mut put = self.put.lock().unwrap_or_else(PoisonError::into_inner);
            let before = std::mem::take(&mut put.before);
            before.difference(&put.last).cloned().collect()
        };
        for key in gone {
            if let Err(error) = runtime.block_on(self.objects.delete(&key)) {
                tracing::warn!(
                    job = folder.job(),
                    worker = own,
                    "{key} stays in the store: {error}"
                );
            }
        }
    }

    /// Writes an object to a file.
    ///
    /// # Errors
    /// If there is none, or it cannot be read or written.
    pub(crate) fn get(
        &self,
        runtime: &Handle,
        job: &str,
        file: &str,
        to: &Path,
    ) -> Result<(), String> {
        let key = self.key(job, file);
        runtime.block_on(async {
            use tokio_stream::StreamExt;
            let object = self.objects.get(&key).await.map_err(|error| error.to_string())?;
            let mut chunks = object.into_stream();
            let mut file = tokio::fs::File::create(to).await.map_err(|error| error.to_string())?;
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(|error| error.to_string())?;
                tokio::io::AsyncWriteExt::write_all(&mut file, &chunk)
                    .await
                    .map_err(|error| error.to_string())?;
            }
            tokio::io::AsyncWriteExt::flush(&mut file).await.map_err(|error| error.to_string())
        })
    }
}

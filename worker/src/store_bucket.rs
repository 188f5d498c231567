//! Shared store behind the S3 protocol.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use object_store::buffered::BufWriter;
use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_stream::{Stream, StreamExt};

use crate::store_object::{ObjectName, PutError};
use crate::transfer::failed;

/// Bytes read from a file at a time.
const READ_BYTES: usize = 1 << 20;

/// A bucket, or a prefix in one. The key of an object is the job's id and the file's name.
#[derive(Debug)]
pub(crate) struct StoreBucket {
    objects: Arc<dyn ObjectStore>,
    prefix: Key,
}

/// The bytes of an object.
pub(crate) struct Chunks(Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>);

impl Chunks {
    /// The next bytes; `None` at the end of the object.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        self.0.next().await.transpose()
    }
}

impl StoreBucket {
    /// Opens a store by URL. Credentials come from the environment.
    ///
    /// # Errors
    /// Says why the URL is malformed.
    pub(crate) fn open(url: &str) -> Result<StoreBucket, String> {
        let parsed = url::Url::parse(url).map_err(|error| error.to_string())?;
        let options = std::env::vars().filter(|(name, _)| name.starts_with("AWS_"));
        let options = options.map(|(name, value)| (name.to_ascii_lowercase(), value));
        let (objects, prefix) =
            object_store::parse_url_opts(&parsed, options).map_err(|error| error.to_string())?;
        Ok(StoreBucket { objects: Arc::from(objects), prefix })
    }

    fn key(&self, name: &ObjectName) -> Key {
        self.prefix.clone().join(name.job.as_str()).join(name.file.as_str())
    }

    /// Length of an object in bytes.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn len(&self, name: &ObjectName) -> Result<u64, Error> {
        Ok(self.objects.head(&self.key(name)).await?.size)
    }

    /// Sends a file.
    ///
    /// # Errors
    /// If the file cannot be read or the object cannot be written.
    pub(crate) async fn put(&self, name: &ObjectName, path: &Path) -> Result<(), PutError> {
        let local = |op| move |source| PutError::Source(failed(op, path, source));
        let remote = |error: io::Error| {
            let error = Error::Generic { store: "bucket", source: Box::new(error) };
            PutError::Store(error.into())
        };
        let source = path.to_path_buf();
        let opened = tokio::task::spawn_blocking(move || strata_store::open_regular(&source)).await;
        let opened = opened.unwrap_or_else(|error| Err(io::Error::other(error)));
        let mut file = tokio::fs::File::from_std(opened.map_err(local("open"))?);
        let mut writer = BufWriter::new(Arc::clone(&self.objects), self.key(name));
        loop {
            let mut buffer = BytesMut::with_capacity(READ_BYTES);
            if file.read_buf(&mut buffer).await.map_err(local("read"))? == 0 {
                break;
            }
            let put = writer.put(buffer.freeze()).await;
            put.map_err(|error| PutError::Store(error.into()))?;
        }
        writer.shutdown().await.map_err(remote)
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn delete(&self, name: &ObjectName) -> Result<(), Error> {
        self.objects.delete(&self.key(name)).await
    }

    /// Deletes all objects of a job.
    ///
    /// # Errors
    /// The store's. Some objects may be deleted.
    pub(crate) async fn delete_job(&self, job: &str) -> Result<(), Error> {
        let mut objects = self.objects.list(Some(&self.prefix.clone().join(job)));
        while let Some(object) = objects.next().await {
            match self.objects.delete(&object?.location).await {
                // Another worker deletes them, too.
                Ok(()) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Begins to read an object.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn read(&self, name: &ObjectName) -> Result<Chunks, Error> {
        let object = self.objects.get(&self.key(name)).await?;
        Ok(Chunks(object.into_stream()))
    }
}

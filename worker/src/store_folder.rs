//! Shared store in a folder that all workers see.
//!
//! Only their owner can access files and folders. A file is written under a temporary name, which
//! begins with a dot and ends with the id of the worker's data directory. No checkpoint file has
//! such a name, and the worker recognises the files that its earlier processes have left.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use strata_proto::platform::Platform;
use strata_store::{Fs, FsRead, StoreError, create_dir_durably};

use crate::store_object::{ObjectName, PutError};
use crate::transfer::{failed, flat};

/// Bytes copied or read at a time.
const COPY_BYTES: usize = 1 << 20;

/// The folder of a shared store, with a folder for each job.
#[derive(Clone, Debug)]
pub(crate) struct StoreFolder {
    fs: Arc<dyn Fs>,
    folder: PathBuf,
    /// End of the names of files that this worker is writing.
    suffix: String,
}

/// A file of the store that is being read.
pub(crate) struct StoredFile {
    platform: Arc<dyn Platform>,
    file: Arc<dyn FsRead>,
    path: PathBuf,
    /// Bytes read.
    offset: u64,
}

impl StoredFile {
    /// The next bytes; `None` at the end of the file.
    ///
    /// # Errors
    /// `Io` if they cannot be read.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        let (file, offset) = (Arc::clone(&self.file), self.offset);
        let read = self.platform.blocking(move || {
            let mut buffer = vec![0; COPY_BYTES];
            let len = file.read_at(&mut buffer, offset)?;
            buffer.truncate(len);
            Ok(buffer)
        });
        let chunk = flat(read.await).map_err(|source| failed("read", &self.path, source))?;
        self.offset += chunk.len() as u64;
        Ok(Some(chunk).filter(|chunk| !chunk.is_empty()).map(Bytes::from))
    }
}

impl StoreFolder {
    /// Creates the folder durably if it does not exist, and removes the temporary files that
    /// earlier processes of the worker have left in it. The caller holds the lock of the worker's
    /// data directory.
    ///
    /// # Errors
    /// `Io` if the folder cannot be created.
    pub(crate) fn open(
        fs: Arc<dyn Fs>,
        folder: &Path,
        worker: &str,
    ) -> Result<StoreFolder, StoreError> {
        create_dir_durably(&*fs, folder)?;
        let suffix = format!(".{worker}.tmp");
        let folder = StoreFolder { fs, folder: folder.to_path_buf(), suffix };
        if let Err(error) = folder.remove_leftovers() {
            tracing::warn!("a temporary file stays in the shared store: {error}");
        }
        Ok(folder)
    }

    fn job(&self, job: &str) -> PathBuf {
        self.folder.join(job)
    }

    fn path(&self, name: &ObjectName) -> PathBuf {
        self.job(&name.job).join(&name.file)
    }

    /// Length of a file in bytes.
    ///
    /// # Errors
    /// `Io` if there is no such file or it cannot be opened.
    pub(crate) fn len(&self, name: &ObjectName) -> Result<u64, StoreError> {
        let path = self.path(name);
        let size = self.fs.open_read(&path).and_then(|file| file.size());
        size.map_err(|source| failed("open", &path, source))
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// `Io` if there is no such file or it cannot be opened.
    pub(crate) async fn open_file(
        &self,
        platform: &Arc<dyn Platform>,
        name: &ObjectName,
    ) -> Result<StoredFile, StoreError> {
        let (fs, path) = (Arc::clone(&self.fs), self.path(name));
        let target = path.clone();
        let opened = flat(platform.blocking(move || fs.open_read(&target)).await);
        let file = Arc::from(opened.map_err(|source| failed("open", &path, source))?);
        Ok(StoredFile { platform: Arc::clone(platform), file, path, offset: 0 })
    }

    /// Deletes a file.
    ///
    /// # Errors
    /// `Io` if there is no such file or it cannot be deleted.
    pub(crate) fn delete(&self, name: &ObjectName) -> Result<(), StoreError> {
        let path = self.path(name);
        self.fs.remove(&path).map_err(|source| failed("delete", &path, source))
    }

    /// Deletes the files of a job, of all workers, and its folder if nothing else is in it.
    ///
    /// # Errors
    /// `Io`; some files may be deleted.
    pub(crate) async fn delete_job(
        &self,
        platform: &dyn Platform,
        job: &str,
    ) -> Result<(), StoreError> {
        let (folder, dir) = (self.clone(), self.job(job));
        let deleted = platform.blocking(move || Ok(folder.delete_files(&dir)));
        flat(deleted.await).map_err(|source| failed("delete", &self.job(job), source))?
    }

    fn delete_files(&self, dir: &Path) -> Result<(), StoreError> {
        let files = match self.fs.list(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            listed => listed.map_err(|source| failed("list", dir, source))?,
        };
        for (path, is_dir) in files {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // Another worker may be writing a file with a dot.
            if is_dir || name.starts_with('.') {
                continue;
            }
            match self.fs.remove(&path) {
                // Another worker deletes them, too.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("delete", &path, error));
                }
                _ => {}
            }
        }
        // It is empty, unless it has something other than objects.
        let _ = std::fs::remove_dir(dir);
        Ok(())
    }

    fn remove_leftovers(&self) -> Result<(), StoreError> {
        let list = |dir: &Path| self.fs.list(dir).map_err(|source| failed("list", dir, source));
        for (job, _) in list(&self.folder)?.into_iter().filter(|(_, is_dir)| *is_dir) {
            for (path, is_dir) in list(&job)? {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                if !is_dir && name.starts_with('.') && name.ends_with(&self.suffix) {
                    self.fs.remove(&path).map_err(|source| failed("remove", &path, source))?;
                }
            }
        }
        Ok(())
    }

    /// Copies a file into the folder of a job, durably and atomically.
    ///
    /// # Errors
    /// If a file cannot be read or written. The old file of the name, if there was one, is then
    /// unchanged, unless only the last step (syncing the folder) failed.
    pub(crate) fn put(&self, name: &ObjectName, from: &Path) -> Result<(), PutError> {
        let (dir, file) = (self.job(&name.job), &name.file);
        create_dir_durably(&*self.fs, &dir).map_err(stored)?;
        let temporary = dir.join(format!(".{file}{}", self.suffix));
        let copied = self.copy(from, &temporary).and_then(|()| {
            let renamed = self.fs.rename(&temporary, &dir.join(file));
            renamed.map_err(|source| stored(failed("rename", &temporary, source)))
        });
        if copied.is_err() {
            // The first error is reported. If the removal fails, the next start removes the leftover.
            let _ = self.fs.remove(&temporary);
        }
        copied?;
        let synced = self.fs.sync_dir(&dir);
        synced.map_err(|source| stored(failed("sync", &dir, source)))
    }

    fn copy(&self, from: &Path, to: &Path) -> Result<(), PutError> {
        let source = |op| move |source| PutError::Source(failed(op, from, source));
        let target = |op| move |source| stored(failed(op, to, source));
        let input = self.fs.open_read(from).map_err(source("open"))?;
        let output = self.fs.create(to).map_err(target("create"))?;
        let (mut buffer, mut offset) = (vec![0; COPY_BYTES], 0);
        loop {
            let len = input.read_at(&mut buffer, offset).map_err(source("read"))?;
            if len == 0 {
                return output.sync().map_err(target("sync"));
            }
            output.write_all_at(&buffer[..len], offset).map_err(target("write"))?;
            offset += len as u64;
        }
    }
}

fn stored(error: StoreError) -> PutError {
    PutError::Store(error.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use strata_store::{FaultyFs, RealFs};

    use super::*;

    const WORKER: &str = "0123456789abcdef0123456789abcdef";
    const FILE: &str = "layer-000003-000.strata";

    fn name() -> ObjectName {
        ObjectName { job: "job".to_owned(), file: FILE.to_owned() }
    }

    fn names(dir: &Path) -> Vec<String> {
        let names = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn files_and_folders_are_for_the_owner_only() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, source) = (parent.path().join("a/store"), parent.path().join("source"));
        std::fs::write(&source, vec![7; COPY_BYTES + 1]).unwrap();
        let store = StoreFolder::open(Arc::new(RealFs), &folder, WORKER).unwrap();
        store.put(&name(), &source).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        for dir in [&parent.path().join("a"), &folder, &store.job("job")] {
            assert_eq!(mode(dir), 0o700, "{}", dir.display());
        }
        let file = store.job("job").join(FILE);
        assert_eq!(mode(&file), 0o600);
        assert_eq!(std::fs::read(file).unwrap(), vec![7; COPY_BYTES + 1]);
        assert_eq!(names(&store.job("job")), [FILE]);
    }

    #[test]
    fn files_survive_a_loss_of_power() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, source) = (parent.path().join("a/store"), parent.path().join("source"));
        std::fs::write(&source, "content").unwrap();
        let fs = FaultyFs::new();
        let store = StoreFolder::open(Arc::new(fs.clone()), &folder, WORKER).unwrap();
        store.put(&name(), &source).unwrap();
        fs.crash_losing_names().unwrap();
        assert_eq!(std::fs::read(folder.join("job").join(FILE)).unwrap(), b"content");
    }

    #[test]
    fn a_failed_copy_keeps_the_old_file_and_leaves_no_temporary_file() {
        let parent = tempfile::tempdir().unwrap();
        let source = parent.path().join("source");
        std::fs::write(&source, "old").unwrap();
        let fs = FaultyFs::new();
        let folder = parent.path().join("store");
        let store = StoreFolder::open(Arc::new(fs.clone()), &folder, WORKER).unwrap();
        store.put(&name(), &source).unwrap();
        std::fs::write(&source, "new").unwrap();
        fs.fill_after(2);
        let PutError::Store(error) = store.put(&name(), &source).unwrap_err() else {
            panic!("the source is readable")
        };
        assert!(error.is_disk_full(), "{error}");
        fs.heal();
        assert!(matches!(
            store.put(&name(), &parent.path().join("missing")),
            Err(PutError::Source(_))
        ));
        assert_eq!(std::fs::read(folder.join("job").join(FILE)).unwrap(), b"old");
        assert_eq!(names(&folder.join("job")), [FILE]);
    }

    #[test]
    fn a_start_removes_temporary_files_of_the_workers_earlier_processes() {
        let parent = tempfile::tempdir().unwrap();
        let job = parent.path().join("job");
        std::fs::create_dir(&job).unwrap();
        let other = format!(".{FILE}.{}.tmp", "f".repeat(32));
        for name in [FILE, &other, &format!(".{FILE}.{WORKER}.tmp")] {
            std::fs::write(job.join(name), "").unwrap();
        }
        StoreFolder::open(Arc::new(RealFs), parent.path(), WORKER).unwrap();
        assert_eq!(names(&job), [&*other, FILE]);
    }
}

//! Shared store in a folder that all workers see: writing of its files.
//!
//! Files and folders are for their owner only. A file is written under a temporary name, which begins
//! with a dot and ends with the id of the worker's data directory. So no checkpoint file has such a name,
//! and the worker recognises what an earlier process of its own has left.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use strata_store::{Fs, StoreError, create_dir_durably};

use crate::transfer::failed;

/// Bytes copied at a time.
const COPY_BYTES: usize = 1 << 20;

/// The folder of a shared store, with a folder for each job.
#[derive(Debug)]
pub(crate) struct StoreFolder {
    fs: Arc<dyn Fs>,
    folder: PathBuf,
    /// End of the names of files that this worker is writing.
    suffix: String,
}

/// Why a file could not be written.
#[derive(Debug)]
pub(crate) enum CopyError {
    /// The worker's own file cannot be read.
    Source(StoreError),
    /// The file in the store cannot be written.
    Store(StoreError),
}

impl StoreFolder {
    /// Creates the folder durably if it does not exist, and removes what earlier processes of the
    /// worker have left in it. The caller holds the lock of the worker's data directory.
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

    /// The folder of a job.
    pub(crate) fn job(&self, job: &str) -> PathBuf {
        self.folder.join(job)
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
    pub(crate) fn put(&self, job: &str, file: &str, from: &Path) -> Result<(), CopyError> {
        let dir = self.job(job);
        create_dir_durably(&*self.fs, &dir).map_err(CopyError::Store)?;
        let temporary = dir.join(format!(".{file}{}", self.suffix));
        let copied = self.copy(from, &temporary).and_then(|()| {
            let renamed = self.fs.rename(&temporary, &dir.join(file));
            renamed.map_err(|source| CopyError::Store(failed("rename", &temporary, source)))
        });
        if copied.is_err() {
            // The first error is reported. If the removal fails, the next start removes the leftover.
            let _ = self.fs.remove(&temporary);
        }
        copied?;
        let synced = self.fs.sync_dir(&dir);
        synced.map_err(|source| CopyError::Store(failed("sync", &dir, source)))
    }

    fn copy(&self, from: &Path, to: &Path) -> Result<(), CopyError> {
        let source = |op| move |source| CopyError::Source(failed(op, from, source));
        let target = |op| move |source| CopyError::Store(failed(op, to, source));
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use strata_store::{FaultyFs, RealFs};

    use super::*;

    const WORKER: &str = "0123456789abcdef0123456789abcdef";
    const FILE: &str = "layer-000003-000.strata";

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
        store.put("job", FILE, &source).unwrap();
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
        store.put("job", FILE, &source).unwrap();
        fs.crash().unwrap();
        assert_eq!(std::fs::read(folder.join("job").join(FILE)).unwrap(), b"content");
    }

    #[test]
    fn a_copy_that_fails_leaves_the_old_file_and_no_other() {
        let parent = tempfile::tempdir().unwrap();
        let source = parent.path().join("source");
        std::fs::write(&source, "old").unwrap();
        let fs = FaultyFs::new();
        let folder = parent.path().join("store");
        let store = StoreFolder::open(Arc::new(fs.clone()), &folder, WORKER).unwrap();
        store.put("job", FILE, &source).unwrap();
        std::fs::write(&source, "new").unwrap();
        fs.fill_after(2);
        let CopyError::Store(error) = store.put("job", FILE, &source).unwrap_err() else {
            panic!("the source is readable")
        };
        assert!(error.is_disk_full(), "{error}");
        fs.heal();
        assert!(matches!(
            store.put("job", FILE, &parent.path().join("missing")),
            Err(CopyError::Source(_))
        ));
        assert_eq!(std::fs::read(folder.join("job").join(FILE)).unwrap(), b"old");
        assert_eq!(names(&folder.join("job")), [FILE]);
    }

    #[test]
    fn a_start_removes_what_earlier_processes_of_the_worker_have_left() {
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

//! The data directory: its lock and its jobs.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::fs::file_system::Fs;
use crate::fs::regular::{create_private_dir, open_private};
use crate::job::holder;
use crate::job::manifest::MANIFEST_FILE;
use crate::name::check_name;

/// A data directory that is locked for this process until the value is dropped.
#[derive(Debug)]
pub struct DataDir {
    dir: PathBuf,
    /// Closing it releases the lock.
    lock: File,
}

impl DataDir {
    /// Locks the directory, and creates it if it does not exist. The operating system releases the
    /// lock when the process ends, even if it is killed. The lock file says which process holds it.
    ///
    /// # Errors
    /// `Locked` if another process holds the lock, or `Io`.
    pub fn lock(dir: &Path) -> Result<Self> {
        create_private_dir(dir).map_err(StoreError::io("create", dir))?;
        let path = dir.join(holder::LOCK_FILE);
        let lock = open_private(File::options().create(true).truncate(false).write(true), &path);
        let lock = lock.map_err(StoreError::io("open", &path))?;
        match lock.try_lock() {
            Ok(()) => {
                holder::write(&lock);
                Ok(Self { dir: dir.to_path_buf(), lock })
            }
            Err(TryLockError::WouldBlock) => {
                let holder = holder::read(&path).map(Box::new);
                Err(StoreError::Locked { dir: dir.to_path_buf(), holder })
            }
            Err(TryLockError::Error(error)) => Err(StoreError::io("lock", &path)(error)),
        }
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Ids of the jobs that have a manifest, sorted.
    ///
    /// # Errors
    /// `Io`.
    pub fn jobs(&self, fs: &dyn Fs) -> Result<Vec<String>> {
        jobs_in(fs, &self.dir)
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        holder::clear(&self.lock);
    }
}

/// Ids of the jobs in a data directory that have a manifest, sorted. Takes no lock.
///
/// # Errors
/// `Io`, `NotFound`.
pub fn jobs_in(fs: &dyn Fs, data_dir: &Path) -> Result<Vec<String>> {
    let mut jobs = Vec::new();
    for (path, is_dir) in fs.list(data_dir).map_err(StoreError::io("list", data_dir))? {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name.filter(|name| is_dir && check_name("job id", name).is_ok()) else {
            continue;
        };
        let files = fs.list(&path).map_err(StoreError::io("list", &path))?;
        if files.iter().any(|(file, _)| file.file_name().is_some_and(|name| name == MANIFEST_FILE))
        {
            jobs.push(name.to_owned());
        }
    }
    jobs.sort_unstable();
    Ok(jobs)
}

//! The data directory: its lock and its jobs.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::fs::durable::{create_dir_durably, remove_files};
use crate::fs::file_system::Fs;
use crate::fs::regular::{open_private, open_regular};
use crate::job::lock_file;
use crate::job::manifest::MANIFEST_FILE;
use crate::name::check_name;

/// A data directory, locked for this process until the value is dropped.
#[derive(Debug)]
pub struct DataDir {
    dir: PathBuf,
    lock: File,
}

impl DataDir {
    /// Removes the data directories that killed processes have left in `parent`, of those for whose names
    /// `is_temporary` is true. In such a directory the lock file names a holder, and no process has the
    /// lock. Returns the number of directories removed. A directory that cannot be read, locked or
    /// removed stays.
    ///
    /// # Errors
    /// The operating system's error of listing `parent`.
    pub fn remove_abandoned(
        parent: &Path,
        is_temporary: impl Fn(&str) -> bool,
    ) -> std::io::Result<usize> {
        let mut removed = 0;
        for entry in std::fs::read_dir(parent)? {
            let entry = entry?;
            let is_named = entry.file_name().to_str().is_some_and(&is_temporary);
            if !is_named || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            // A process locks the file before it writes to it, and empties it before it ends. Other
            // users' files cannot be read. This lock is held until the directory is removed.
            let lock = open_regular(&entry.path().join(lock_file::LOCK_FILE));
            if let Ok(lock) = lock
                && lock.try_lock().is_ok()
                && lock.metadata().is_ok_and(|lock| lock.len() > 0)
                && std::fs::remove_dir_all(entry.path()).is_ok()
            {
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Locks the directory, and first creates it and missing folders above it, durably. The operating
    /// system releases the lock when the process ends, even if it is killed. The lock file names the
    /// process that holds the lock.
    ///
    /// # Errors
    /// `Locked` if another process holds the lock, or `Io`.
    pub fn lock(fs: &dyn Fs, dir: &Path) -> Result<Self> {
        create_dir_durably(fs, dir)?;
        let path = dir.join(lock_file::LOCK_FILE);
        let lock = open_private(File::options().create(true).truncate(false).write(true), &path);
        let lock = lock.map_err(StoreError::io("open", &path))?;
        match lock.try_lock() {
            Ok(()) => {
                lock_file::write(&lock);
                Ok(Self { dir: dir.to_path_buf(), lock })
            }
            Err(TryLockError::WouldBlock) => {
                let holder = lock_file::read(&path).map(Box::new);
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

    /// Removes the files directly in the directory for whose names `is_leftover` is true, which earlier
    /// processes left: as this process has the lock, no other can use them. Returns the number of files
    /// removed.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove_leftovers(
        &self,
        fs: &dyn Fs,
        is_leftover: impl Fn(&str) -> bool,
    ) -> Result<usize> {
        remove_files(fs, &self.dir, is_leftover)
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
        lock_file::clear(&self.lock);
        // Closing the file is not enough: a process that another thread starts has a copy of it for a moment,
        // which keeps the lock.
        let _ = self.lock.unlock();
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
        let files = match fs.list(&path) {
            Ok(files) => files,
            // The job is removed meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(StoreError::io("list", &path)(error)),
        };
        if files.iter().any(|(file, _)| file.file_name().is_some_and(|name| name == MANIFEST_FILE))
        {
            jobs.push(name.to_owned());
        }
    }
    jobs.sort_unstable();
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::real::RealFs;

    #[test]
    fn the_lock_ends_with_the_value_even_if_a_new_process_has_a_copy_of_the_file() {
        let data = tempfile::tempdir().unwrap();
        let lock = DataDir::lock(&RealFs, data.path()).unwrap();
        let copy = lock.lock.try_clone().unwrap();
        assert!(DataDir::lock(&RealFs, data.path()).is_err());
        drop(lock);
        DataDir::lock(&RealFs, data.path()).unwrap();
        drop(copy);
    }
}

//! The seam between this crate and the file system: the real one, and one that fails on demand.

mod faulty;
mod real;

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub use faulty::FaultyFs;
pub use real::RealFs;

use crate::error::{Result, StoreError};
use crate::mapping::Mapping;

/// A file opened for writing.
pub trait FsFile: Send + Sync + Debug {
    /// Writes all of `bytes` at a byte offset; several threads may write different ranges.
    ///
    /// # Errors
    /// Whatever the file system answers; part of the bytes may have been written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes the content durable.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn sync(&self) -> io::Result<()>;

    /// Cuts the file off after `len` bytes.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn truncate(&self, len: u64) -> io::Result<()>;
}

/// The operations on files and folders that the store needs.
pub trait Fs: Send + Sync + Debug {
    /// Creates a file for writing; an existing one is emptied.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn create(&self, path: &Path) -> io::Result<Box<dyn FsFile>>;

    /// Opens an existing file for writing.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn open_write(&self, path: &Path) -> io::Result<Box<dyn FsFile>>;

    /// Reads a whole file.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Maps a file that nobody writes any more.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn map(&self, path: &Path) -> io::Result<Mapping>;

    /// Renames a file, replacing the target.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes creations, renames and removals in a folder durable.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Creates a folder and its parents; an existing one is fine.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Removes a folder and everything in it.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn remove_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// The entries of a folder: path, and whether it is a folder itself. Unordered.
    ///
    /// # Errors
    /// Whatever the file system answers.
    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, bool)>>;
}

/// The folder that holds a file, for syncing it.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

/// A temporary name beside `path`, unique in this process. Nothing names such a file, so that it
/// is removed as a leftover after a crash.
pub(crate) fn temp_beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}-{number}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Makes a complete file of `bytes` appear under `path` durably, or leaves what was there.
pub fn write_durably(fs: &dyn Fs, path: &Path, bytes: &[u8]) -> Result<()> {
    let temp = temp_beside(path);
    let written = (|| {
        let file = fs.create(&temp).map_err(StoreError::io("create", &temp))?;
        file.write_all_at(bytes, 0).map_err(StoreError::io("write", &temp))?;
        file.sync().map_err(StoreError::io("sync", &temp))?;
        fs.rename(&temp, path).map_err(StoreError::io("rename", &temp))
    })();
    if written.is_err() {
        // The first error is the one to report; a leftover is removed at the next start anyway.
        let _ = fs.remove(&temp);
    }
    written?;
    let dir = parent(path);
    fs.sync_dir(dir).map_err(StoreError::io("sync", dir))
}

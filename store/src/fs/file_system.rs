//! The file system interface of this crate: every access to a file goes through [`Fs`].

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// A file opened for writing.
pub trait FsFile: Send + Sync + Debug {
    /// Writes all of `bytes` at a byte offset. Several threads may write different ranges.
    ///
    /// # Errors
    /// The operating system's error; some of the bytes may have been written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes the content durable.
    ///
    /// # Errors
    /// The operating system's error.
    fn sync(&self) -> io::Result<()>;

    /// Shortens the file to `len` bytes.
    ///
    /// # Errors
    /// The operating system's error.
    fn truncate(&self, len: u64) -> io::Result<()>;
}

/// A file opened for reading.
pub trait FsRead: Send + Sync + Debug {
    /// The size of the file, in bytes.
    ///
    /// # Errors
    /// The operating system's error.
    fn size(&self) -> io::Result<u64>;

    /// Reads bytes at a byte offset into a buffer. Returns the number read; 0 at the end of the file.
    ///
    /// # Errors
    /// The operating system's error.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// The operations on files and folders that the store needs.
pub trait Fs: Send + Sync + Debug {
    /// Creates a file for writing, or empties the existing one.
    ///
    /// # Errors
    /// The operating system's error.
    fn create(&self, path: &Path) -> io::Result<Box<dyn FsFile>>;

    /// Opens an existing file for writing.
    ///
    /// # Errors
    /// The operating system's error.
    fn open_write(&self, path: &Path) -> io::Result<Box<dyn FsFile>>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// The operating system's error.
    fn open_read(&self, path: &Path) -> io::Result<Box<dyn FsRead>>;

    /// Reads a whole file.
    ///
    /// # Errors
    /// The operating system's error.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Renames a file, replacing the target.
    ///
    /// # Errors
    /// The operating system's error.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The operating system's error.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes creations, renames and removals in a folder durable.
    ///
    /// # Errors
    /// The operating system's error.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Creates a folder in an existing one. Returns whether it is new; an existing folder is not an error.
    /// [`create_dir_durably`](crate::create_dir_durably) makes its name durable.
    ///
    /// # Errors
    /// The operating system's error; `NotFound` if the folder above does not exist.
    fn create_dir(&self, dir: &Path) -> io::Result<bool>;

    /// Removes a folder and everything in it.
    ///
    /// # Errors
    /// The operating system's error.
    fn remove_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// The entries of a folder, unordered: the path of each, and whether it is a folder (a symbolic link
    /// to a folder is not).
    ///
    /// # Errors
    /// The operating system's error.
    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, bool)>>;

    /// Whether a path is a folder. A symbolic link to a folder is not.
    ///
    /// # Errors
    /// The operating system's error, such as `NotFound`.
    fn is_folder(&self, path: &Path) -> io::Result<bool> {
        Ok(std::fs::symlink_metadata(path)?.is_dir())
    }

    /// Time of the last change of a file or folder, or of a symbolic link instead of its target.
    ///
    /// # Errors
    /// The operating system's error.
    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        std::fs::symlink_metadata(path)?.modified()
    }

    /// A part for the name of a temporary file, different at each call. By default it consists of the
    /// process id and a counter.
    fn unique_suffix(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}", std::process::id())
    }
}

//! Errors of stored files. Each names its file, and corruption also the offset.

use std::io;
use std::path::{Path, PathBuf};

use crate::holder::Holder;

/// Result type of this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error of an operation on stored data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An operation on a file or a folder failed.
    #[error("cannot {op} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb ("write", "rename").
        op: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A file cannot be read at an offset: a sector is unreadable, or the disk or file system is gone.
    #[error("cannot read {} at offset {offset}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Byte offset in the file.
        offset: u64,
        /// The operating system's error.
        source: io::Error,
    },
    /// The compression library failed, for example because there is no memory for its context.
    #[error("cannot {op}: {source}")]
    Codec {
        /// The operation ("set up compression for blocks").
        op: &'static str,
        /// The library's error.
        source: io::Error,
    },
    /// A file that must exist does not.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The missing file.
        path: PathBuf,
    },
    /// A file differs from what was written to it, or is not the expected file.
    #[error("{} is corrupt at offset {offset}: expected {expected}, found {found}", file.display())]
    Corrupt {
        /// The file; the name of an image or of received bytes; or `<memory>` for a layer that was only in
        /// memory.
        file: PathBuf,
        /// Byte offset in the file. For the content of a block, the offset of the block.
        offset: u64,
        /// The expected content.
        expected: String,
        /// The content found.
        found: String,
    },
    /// The content of a file, before compression, does not fit the memory budget.
    #[error("{} needs {bytes} bytes of memory, of which there are {limit}", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// Length of the content in bytes, as the file states it; or the length of the file, if that
        /// alone exceeds what the limit permits.
        bytes: u64,
        /// The limit of the content's length, in bytes.
        limit: u64,
    },
    /// Another process holds the lock on the data directory.
    #[error("the data directory {} is in use by {}", dir.display(), named(holder.as_deref()))]
    Locked {
        /// The data directory.
        dir: PathBuf,
        /// The process, if the lock file names it.
        holder: Option<Box<Holder>>,
    },
    /// The job exists already.
    #[error("the job folder {} exists already", dir.display())]
    Exists {
        /// The job's folder.
        dir: PathBuf,
    },
    /// A name is not a plain name (it could lead out of its folder) or is too long.
    #[error("{name:?} is not a valid {what}")]
    Name {
        /// The use of the name ("job id", "file name").
        what: &'static str,
        /// The refused name.
        name: String,
    },
    /// The caller passed blocks, regions or totals that contradict each other.
    #[error("{} is inconsistent: {what}", file.display())]
    Inconsistent {
        /// The file that is written or read, or a path that should be a folder and is not.
        file: PathBuf,
        /// The contradiction.
        what: String,
    },
}

/// A process in a message.
fn named(holder: Option<&Holder>) -> String {
    let other = || "another process".to_owned();
    holder.map_or_else(other, |holder| format!("another process ({holder})"))
}

impl StoreError {
    /// Whether the disk or the quota is full. The job can then be stopped and resumed later.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    /// Whether a diagram's file does not fit the memory budget. It can be read with a greater budget.
    #[must_use]
    pub fn is_memory_full(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }

    /// Whether stored data is damaged or missing.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::NotFound { .. })
    }

    /// For `map_err`: adds the operation and the path. A missing file becomes `NotFound`.
    pub(crate) fn io<'a>(op: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| {
            if source.kind() == io::ErrorKind::NotFound {
                Self::NotFound { path: path.to_path_buf() }
            } else {
                Self::Io { op, path: path.to_path_buf(), source }
            }
        }
    }

    #[cold]
    pub(crate) fn corrupt(
        file: &Path,
        offset: u64,
        expected: impl ToString,
        found: impl ToString,
    ) -> Self {
        Self::Corrupt {
            file: file.to_path_buf(),
            offset,
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

//! What can go wrong with files: each error names the file, and corruption also the offset.

use std::io;
use std::path::{Path, PathBuf};

/// Result of every operation of this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An operation on stored data failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused an operation.
    #[error("cannot {op} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb ("write", "rename").
        op: &'static str,
        /// The file or folder it was for.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A file that must exist is missing.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The missing file.
        path: PathBuf,
    },
    /// A file does not hold what was written to it, or is another file than the one expected.
    #[error("{} is corrupt at offset {offset}: expected {expected}, found {found}", file.display())]
    Corrupt {
        /// The file; the name of an image, `<memory>` for a layer that was never written to disk.
        file: PathBuf,
        /// Byte offset in the file (for a block's content: the offset of the block).
        offset: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Another process works in the data directory.
    #[error("the data directory {} is in use by another process", dir.display())]
    Locked {
        /// The data directory.
        dir: PathBuf,
    },
    /// A job of this name exists already.
    #[error("the job folder {} exists already", dir.display())]
    Exists {
        /// The job's folder.
        dir: PathBuf,
    },
    /// A name that could leave its folder, or that no file system takes.
    #[error("{name:?} is not a valid {what}")]
    Name {
        /// What the name is for ("job id", "file name").
        what: &'static str,
        /// The refused name.
        name: String,
    },
    /// A layer does not fit the memory budget.
    #[error("{what}")]
    Memory {
        /// What does not fit.
        what: String,
    },
    /// The caller handed over blocks, regions or totals that contradict each other.
    #[error("{} is inconsistent: {what}", file.display())]
    Inconsistent {
        /// The file being written.
        file: PathBuf,
        /// The contradiction.
        what: String,
    },
}

impl StoreError {
    /// Whether the disk or the quota is full: the job can be stopped and resumed with more space.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    /// Whether the data is damaged or missing, rather than an operation having failed.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::NotFound { .. })
    }

    /// For `map_err`: adds the operation and the path, and tells a missing file apart.
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

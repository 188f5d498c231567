//! Recycled files: small temporary files that are overwritten instead of removed.
//!
//! Creating, opening and removing a small file takes longer than writing it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::fs::file_system::{Fs, FsFile, FsRead};

/// The most bytes of a recycled file. A larger file is removed, because a recycled file keeps its disk
/// space.
pub(crate) const MAX_BYTES: u64 = 4 << 20;

/// Guard of an incomplete file: removes it unless it was sealed.
#[derive(Debug)]
pub(crate) struct Unsealed {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) path: PathBuf,
    pub(crate) sealed: bool,
}

impl Drop for Unsealed {
    fn drop(&mut self) {
        if !self.sealed {
            // If the removal fails, the file is a leftover, which is removed when the job is opened
            // again.
            let _ = self.fs.remove(&self.path);
        }
    }
}

/// A file that [`LayerWriter::recycling`](crate::LayerWriter::recycling) can overwrite. Dropping it
/// removes the file.
#[derive(Debug)]
pub struct RecycledFile {
    pub(crate) file: Box<dyn FsFile>,
    /// The same file, open for reading.
    pub(crate) reader: Arc<dyn FsRead>,
    pub(crate) bytes: u64,
    pub(crate) unsealed: Unsealed,
}

impl RecycledFile {
    /// Length of the file, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

//! Temporary files: removed unless they are sealed, and written anew when nobody needs them any more.
//! To create, map and remove a small file takes longer than to write it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::fs::{Fs, FsFile};
use crate::mapping::Mapping;

/// Larger files are not worth it: they would only hold on to their space.
pub(crate) const MAX_BYTES: u64 = 4 << 20;

/// Removes the file unless it was sealed.
#[derive(Debug)]
pub(crate) struct Unsealed {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) path: PathBuf,
    pub(crate) sealed: bool,
}

impl Drop for Unsealed {
    fn drop(&mut self) {
        if !self.sealed {
            // What cannot be removed now is a leftover, removed when the job is opened again.
            let _ = self.fs.remove(&self.path);
        }
    }
}

/// A file to be written anew, see [`LayerWriter::recycling`](crate::LayerWriter::recycling). Dropped, it
/// removes the file.
#[derive(Debug)]
pub struct RecycledFile {
    pub(crate) file: Box<dyn FsFile>,
    /// Nobody reads it any more.
    pub(crate) map: Mapping,
    pub(crate) unsealed: Unsealed,
}

impl RecycledFile {
    /// Bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.map.bytes().len() as u64
    }
}

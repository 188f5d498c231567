//! Location of a sealed file, in memory or on disk, and reads of byte ranges.
//!
//! Files are read by positioned reads into a buffer of the caller, not through a memory map. So an
//! unreadable sector, or a file that another process has cut, is an error of the read; with a memory map,
//! it would end the process with SIGBUS. A block is checked and decompressed in the buffer, so the
//! decompressed bytes are those that were checked.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Result, StoreError};
use crate::fs::file_system::{Fs, FsFile, FsRead};
use crate::fs::reading::{ends_early, read_exact};
use crate::layer::excerpt::Remote;

/// The most bytes of a buffer that is kept. The buffer of a larger block is freed after decoding.
const KEPT_BYTES: usize = 1 << 20;

/// Bytes and location of a sealed file.
#[derive(Debug)]
pub(crate) struct Source {
    content: Content,
    location: Mutex<Location>,
}

/// The bytes of a file, in memory or on disk.
#[derive(Debug)]
pub(crate) enum Content {
    Memory {
        bytes: Vec<u8>,
        /// Name in messages while there is no path.
        name: PathBuf,
    },
    /// Some bytes of a file that is elsewhere.
    Remote(Remote),
    /// A file on disk, open for reading; None if each read opens the file, see [`Source::close`].
    File(Mutex<Option<Arc<dyn FsRead>>>),
}

/// Location of a file on disk; empty if there is no file.
#[derive(Debug, Default)]
pub(crate) struct Location {
    pub(crate) file: Option<(Arc<dyn Fs>, PathBuf)>,
    /// Whether the file was synced under its final name.
    pub(crate) durable: bool,
    /// The file, open for writing, if it can be recycled.
    pub(crate) open: Option<Box<dyn FsFile>>,
}

impl Content {
    /// A file on disk.
    pub(crate) fn file(reader: Arc<dyn FsRead>) -> Content {
        Content::File(Mutex::new(Some(reader)))
    }
}

impl Source {
    pub(crate) fn new(content: Content, location: Location) -> Source {
        Source { content, location: Mutex::new(location) }
    }

    /// Length of the file, in bytes.
    ///
    /// # Errors
    /// `Io`, or `NotFound` if a closed file is not there any more.
    pub(crate) fn len(&self) -> Result<u64> {
        match &self.content {
            Content::Memory { bytes, .. } => Ok(bytes.len() as u64),
            Content::Remote(Remote { len, .. }) => Ok(*len),
            Content::File(open) => {
                self.reader(open)?.size().map_err(StoreError::io("read", &self.name()))
            }
        }
    }

    /// The `len` bytes from `offset` on. Bytes of a file on disk are read into `buffer`.
    ///
    /// # Errors
    /// `Read` if the file cannot be read there, `Corrupt` if it ends before, `Io` or `NotFound` if a
    /// closed file cannot be opened.
    pub(crate) fn read<'a>(
        &'a self,
        offset: u64,
        len: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        match &self.content {
            Content::Memory { bytes, name } => {
                let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..));
                rest.and_then(|rest| rest.get(..len)).ok_or_else(|| {
                    let left = (bytes.len() as u64).saturating_sub(offset);
                    ends_early(name, offset, len, left as usize)
                })
            }
            Content::Remote(Remote { excerpt, name, .. }) => {
                excerpt.read(name, offset, len, buffer)
            }
            Content::File(open) => {
                let reader = self.reader(open)?;
                if buffer.len() < len {
                    buffer.resize(len, 0);
                }
                let target = &mut buffer[..len];
                read_exact(&*reader, &|| self.name(), offset, target)?;
                Ok(target)
            }
        }
    }

    /// Replaces the content of `to` by the `len` bytes from `offset` on.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub(crate) fn copy(&self, offset: u64, len: usize, to: &mut Vec<u8>) -> Result<()> {
        if let Content::File(_) = &self.content {
            self.read(offset, len, to)?;
            to.truncate(len);
        } else {
            let mut joined = Vec::new();
            let bytes = self.read(offset, len, &mut joined)?;
            to.clear();
            to.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Frees the buffer of [`Self::read`] if a large block was read into it.
    pub(crate) fn trim(buffer: &mut Vec<u8>) {
        if buffer.capacity() > KEPT_BYTES {
            *buffer = Vec::new();
        }
    }

    fn reader(&self, open: &Mutex<Option<Arc<dyn FsRead>>>) -> Result<Arc<dyn FsRead>> {
        if let Some(reader) = &*lock(open) {
            return Ok(Arc::clone(reader));
        }
        match &lock(&self.location).file {
            Some((fs, path)) => {
                fs.open_read(path).map(Arc::from).map_err(StoreError::io("open", path))
            }
            // A file on disk always has a path.
            None => Err(StoreError::NotFound { path: PathBuf::default() }),
        }
    }

    /// Closes the file. Each later read opens the file by its path, and closes it again.
    pub(crate) fn close(&self) {
        if let Content::File(open) = &self.content {
            lock(open).take();
        }
        lock(&self.location).open = None;
    }

    /// Bytes of an excerpt; None for a whole file.
    pub(crate) fn held_bytes(&self) -> Option<u64> {
        match &self.content {
            Content::Remote(Remote { excerpt, .. }) => Some(excerpt.len()),
            Content::Memory { .. } | Content::File(_) => None,
        }
    }

    /// Whether all bytes of a range are there: of an excerpt some may be missing.
    pub(crate) fn holds(&self, range: Range<u64>) -> bool {
        match &self.content {
            Content::Remote(Remote { excerpt, .. }) => excerpt.holds(range),
            Content::Memory { .. } | Content::File(_) => true,
        }
    }

    /// The bytes of a file in memory.
    pub(crate) fn memory(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Memory { bytes, .. } => Some(bytes),
            Content::Remote(_) | Content::File(_) => None,
        }
    }

    pub(crate) fn location(&self) -> MutexGuard<'_, Location> {
        lock(&self.location)
    }

    /// Splits the source into the file open for reading and the location.
    pub(crate) fn into_parts(self) -> (Option<Arc<dyn FsRead>>, Location) {
        let reader = match self.content {
            Content::Memory { .. } | Content::Remote(_) => None,
            Content::File(open) => open.into_inner().unwrap_or_else(PoisonError::into_inner),
        };
        (reader, self.location.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The path, for messages.
    pub(crate) fn name(&self) -> PathBuf {
        match (&lock(&self.location).file, &self.content) {
            (Some((_, path)), _) => path.clone(),
            (None, Content::Memory { name, .. } | Content::Remote(Remote { name, .. })) => {
                name.clone()
            }
            // A file on disk always has a path.
            (None, Content::File(_)) => PathBuf::default(),
        }
    }
}

/// Locks a mutex; a panic of another holder leaves the data usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

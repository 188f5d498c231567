//! Read-only memory maps of sealed files: the only unsafe code of the crate.
#![allow(unsafe_code)]

use std::io;
use std::ops::Range;
use std::path::Path;

use crate::fs::regular::open_regular;
use memmap2::{Advice, Mmap, MmapOptions, UncheckedAdvice};

/// The length of a map is a multiple of this, so that a recycled file can grow under its map.
const STEP: usize = 64 << 10;

/// Linux maps all cached pages of an aligned part of the address space of this size when one of them
/// is read (`fault_around_bytes`).
const AROUND: usize = 64 << 10;

/// The content of a sealed file, paged in as it is read.
#[derive(Debug)]
pub struct Mapping {
    /// May be longer than the file.
    map: Mmap,
    len: usize,
}

impl Mapping {
    /// Maps a file whose content no longer changes.
    ///
    /// # Errors
    /// The operating system's error of opening or mapping the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        // SAFETY: the bytes must not change while they are borrowed. Only sealed files are mapped.
        // A recycled file is written again only by the owner of its map, when nothing borrows from
        // it; removing or renaming a file leaves its content. The lock on the data directory
        // excludes other processes. The map is read-only. Pages behind the end of the file must not
        // be accessed, and `bytes` ends with the file.
        let map =
            unsafe { MmapOptions::new().len(len.next_multiple_of(STEP).max(STEP)).map(&file)? };
        // Only a hint: reading works without it.
        let _ = map.advise(Advice::Sequential);
        Ok(Self { map, len })
    }

    /// The whole file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map[..self.len]
    }

    /// Reuses the map for the new content of its file, which has `len` bytes; `None` if the map is
    /// too short.
    pub(crate) fn with_len(self, len: usize) -> Option<Self> {
        (len <= self.map.len()).then_some(Self { map: self.map, len })
    }

    /// Drops the pages of `range` from resident memory, and those that were mapped with them; reading
    /// them loads them again.
    pub fn release(&self, range: Range<usize>) {
        let base = self.map.as_ptr().addr();
        let start = ((base + range.start) / AROUND * AROUND).saturating_sub(base);
        let end = ((base + range.end).next_multiple_of(AROUND) - base).min(self.len);
        if start < end {
            // SAFETY: MADV_DONTNEED drops changes made through private writable maps; this map is
            // read-only and backed by the file, so the pages' content comes back from the file.
            let _ = unsafe {
                self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end - start)
            };
        }
    }
}

//! Read-only maps of sealed files: the only unsafe code of the crate.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use memmap2::{Advice, Mmap, MmapOptions, UncheckedAdvice};

/// Maps are a multiple of this long, so that small files can be written anew under them.
const STEP: usize = 64 << 10;

/// The content of an immutable file, paged in as it is read.
#[derive(Debug)]
pub struct Mapping {
    /// Longer than the file.
    map: Mmap,
    len: usize,
}

impl Mapping {
    /// Maps a file that nobody changes any more.
    ///
    /// # Errors
    /// Whatever opening or mapping it fails with.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        // SAFETY: bytes must not change under the map while somebody reads them. Only sealed files are
        // mapped; this program writes to one again only if it owns the map, so that nobody borrows
        // from it (removing or renaming a file leaves its content), and the lock on the data
        // directory keeps other instances out. The map is read-only. Behind the file's end there is
        // nothing to read, but `bytes` does not go there.
        let map =
            unsafe { MmapOptions::new().len(len.next_multiple_of(STEP).max(STEP)).map(&file)? };
        // A hint only: reading works without it.
        let _ = map.advise(Advice::Sequential);
        Ok(Self { map, len })
    }

    /// The whole file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map[..self.len]
    }

    /// The same map of the file's new content, if it is long enough. The file must have so many bytes.
    pub(crate) fn of_new_content(self, len: usize) -> Option<Self> {
        (len <= self.map.len()).then_some(Self { map: self.map, len })
    }

    /// Takes the pages of `range` out of resident memory; reading them again brings them back.
    pub fn release(&self, range: Range<usize>) {
        let end = range.end.min(self.len);
        if range.start < end {
            // SAFETY: MADV_DONTNEED drops changes made through private writable maps; this map is
            // read-only and backed by the file, so the pages' content comes back from the file.
            let _ = unsafe {
                self.map.unchecked_advise_range(
                    UncheckedAdvice::DontNeed,
                    range.start,
                    end - range.start,
                )
            };
        }
    }
}

//! Read-only maps of sealed files: the only unsafe code of the crate.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use memmap2::{Advice, Mmap, UncheckedAdvice};

/// The content of an immutable file, paged in as it is read.
#[derive(Debug)]
pub struct Mapping {
    map: Mmap,
}

impl Mapping {
    /// Maps a file that nobody changes any more.
    ///
    /// # Errors
    /// Whatever opening or mapping it fails with.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: bytes must not change under the map. Only sealed files are mapped; this program
        // never writes to one again (removing or renaming it leaves its content), and the lock on
        // the data directory keeps other instances out. The map is read-only.
        let map = unsafe { Mmap::map(&file)? };
        // A hint only: reading works without it.
        let _ = map.advise(Advice::Sequential);
        Ok(Self { map })
    }

    /// The whole file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Takes the pages of `range` out of resident memory; reading them again brings them back.
    pub fn release(&self, range: Range<usize>) {
        let end = range.end.min(self.map.len());
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

//! Excerpts of files: some of the bytes of a file that is elsewhere.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::buffer_pool::PooledBuffer;
use crate::error::{Result, StoreError};

/// Some of the bytes of a file, by offset.
#[derive(Debug, Default)]
pub struct Excerpt {
    bytes: PooledBuffer,
    /// By offset in the file, where the bytes are. Pieces that follow each other in both are one.
    pieces: BTreeMap<u64, Range<usize>>,
}

impl Excerpt {
    /// An empty excerpt in a buffer, whose content is dropped.
    #[must_use]
    pub fn in_buffer(mut bytes: PooledBuffer) -> Excerpt {
        bytes.clear();
        Excerpt { bytes, pieces: BTreeMap::new() }
    }

    /// Adds the bytes from `offset` on.
    pub fn insert(&mut self, offset: u64, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len();
        match self.pieces.range_mut(..=offset).next_back() {
            Some((first, piece)) if piece.end == start && first + piece.len() as u64 == offset => {
                piece.end = end;
            }
            _ => drop(self.pieces.insert(offset, start..end)),
        }
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The piece with the byte at `offset`, as its bytes from there on; None if there is none.
    fn bytes_at(&self, offset: u64) -> Option<&[u8]> {
        let (start, piece) = self.pieces.range(..=offset).next_back()?;
        let skipped = usize::try_from(offset - start).ok()?;
        self.bytes[piece.clone()].get(skipped..).filter(|rest| !rest.is_empty())
    }

    /// Whether all bytes of a range are there.
    pub(crate) fn holds(&self, range: Range<u64>) -> bool {
        let mut at = range.start;
        while at < range.end {
            match self.bytes_at(at) {
                Some(bytes) => at += bytes.len() as u64,
                None => return false,
            }
        }
        true
    }

    /// The `len` bytes from `offset` on; those of several pieces are copied to `buffer`.
    ///
    /// # Errors
    /// `Corrupt` if some of them are not there.
    pub(crate) fn read<'a>(
        &'a self,
        name: &Path,
        offset: u64,
        len: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let missing = |at: u64| {
            let expected = format!("bytes up to {}", offset + len as u64);
            StoreError::corrupt(name, at, expected, "an excerpt without them")
        };
        if len == 0 {
            return Ok(&[]);
        }
        let first = self.bytes_at(offset).ok_or_else(|| missing(offset))?;
        if let Some(bytes) = first.get(..len) {
            return Ok(bytes);
        }
        buffer.clear();
        while buffer.len() < len {
            let at = offset + buffer.len() as u64;
            let bytes = self.bytes_at(at).ok_or_else(|| missing(at))?;
            buffer.extend_from_slice(&bytes[..bytes.len().min(len - buffer.len())]);
        }
        Ok(buffer)
    }
}

/// An excerpt of a file, in place of the file.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) excerpt: Excerpt,
    /// Length of the file.
    pub(crate) len: u64,
    /// Name in messages.
    pub(crate) name: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer_pool::BufferPool;

    #[test]
    fn bytes_of_an_excerpt_are_read_across_pieces_and_missing_ones_are_errors() {
        let mut excerpt = Excerpt::default();
        for (offset, bytes) in [(0, &b"abc"[..]), (3, b"def"), (10, b"klm")] {
            excerpt.insert(offset, bytes);
        }
        let mut buffer = Vec::new();
        let mut read = |offset, len| {
            let read = excerpt.read(Path::new("f"), offset, len, &mut buffer);
            read.map(<[u8]>::to_vec).map_err(|error| error.to_string())
        };
        assert_eq!(read(1, 2).unwrap(), b"bc");
        assert_eq!(read(1, 4).unwrap(), b"bcde");
        assert_eq!(read(0, 6).unwrap(), b"abcdef");
        assert_eq!(read(11, 2).unwrap(), b"lm");
        assert_eq!(read(7, 0).unwrap(), b"");
        for (offset, len) in [(5, 2), (6, 1), (9, 2), (12, 2), (13, 1)] {
            let error = read(offset, len).unwrap_err();
            assert!(error.contains("an excerpt without them"), "{offset}, {len}: {error}");
            assert!(!excerpt.holds(offset..offset + len as u64));
        }
        assert!(excerpt.holds(0..6) && excerpt.holds(10..13) && excerpt.holds(7..7));
    }

    #[test]
    fn a_buffer_is_used_again_without_its_content() {
        let pool = BufferPool::new(1);
        let mut excerpt = Excerpt::in_buffer(pool.buffer());
        excerpt.insert(4, &[7; 1000]);
        drop(excerpt);
        let mut excerpt = Excerpt::in_buffer(pool.buffer());
        assert!(excerpt.bytes.capacity() >= 1000 && !excerpt.holds(4..5));
        excerpt.insert(0, &[1; 8]);
        assert_eq!(excerpt.read(Path::new("f"), 4, 4, &mut Vec::new()).unwrap(), [1; 4]);
    }
}

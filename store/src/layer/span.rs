//! Unread ranges of bytes.

use crate::layer::varint;

/// The unread part of a column, as a range of bytes.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Span {
    pub(crate) at: usize,
    pub(crate) end: usize,
}

impl Span {
    /// Skips `count` bytes and returns their start; `None` if fewer are left.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Option<usize> {
        let start = self.at;
        if count > self.left() {
            return None;
        }
        self.at += count;
        Some(start)
    }

    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.end - self.at
    }

    #[inline]
    pub(crate) fn varint(&mut self, raw: &[u8]) -> Option<u32> {
        varint::get(raw.get(..self.end)?, &mut self.at)
    }
}

//! Shape and numbering of the states of a dense layer.

use std::path::PathBuf;

use super::chunk;
use crate::error::StoreError;
use crate::layer::columns::MAX_DIRECTORY;

/// Version of the coding of chunks: the `encoding` of a dense layer's header.
pub const DENSE_ENCODING: u16 = 1;

/// The most words of a chunk before coding. A chunk has whole blocks, at least one.
const CHUNK_WORDS: usize = 1 << 15;

// The index accepts blocks whose stored bytes exceed the raw bytes by up to `MAX_DIRECTORY`.
const _: () = assert!(chunk::HEAD <= MAX_DIRECTORY);

/// Shape and numbering of the states in a dense layer.
///
/// A word has a bit for each lane of a row; a block has a word for each row.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct DenseNumbering {
    /// Blocks of the space, at least 1.
    pub blocks: u32,
    /// Rows of a block, 1 to 65,536.
    pub rows: u32,
    /// Lanes of a row, 1 to 64.
    pub lanes: u32,
    /// Checksum of the numbering and the moves. Files of another numbering are refused.
    pub fingerprint: u64,
}

impl DenseNumbering {
    /// The number of blocks that have `words` words, from block `first` on.
    ///
    /// # Errors
    /// A description of the range if the words are not whole blocks, or exceed the space.
    pub(super) fn blocks_of(&self, first: u32, words: usize) -> Result<u32, String> {
        let rows = self.rows as usize;
        let blocks = (words / rows.max(1)) as u64;
        let is_inside = u64::from(first) + blocks <= u64::from(self.blocks);
        if rows == 0 || !words.is_multiple_of(rows) || !is_inside {
            let Self { blocks, rows, .. } = self;
            return Err(format!("{words} words from block {first} of {blocks} of {rows} rows"));
        }
        Ok(blocks as u32)
    }

    /// The most blocks of a chunk, at least 1.
    #[must_use]
    pub fn chunk_blocks(&self) -> u32 {
        self.blocks_per_chunk() as u32
    }

    pub(super) fn blocks_per_chunk(&self) -> usize {
        (CHUNK_WORDS / self.rows.max(1) as usize).max(1)
    }

    /// The mask of the bits of a word that stand for states.
    pub(super) fn lane_mask(&self) -> u64 {
        u64::MAX >> (64 - self.lanes.clamp(1, 64))
    }
}

pub(super) fn inconsistent(file: PathBuf, what: String) -> StoreError {
    StoreError::Inconsistent { file, what }
}

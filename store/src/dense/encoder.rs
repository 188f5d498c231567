//! The encoder of dense layers: it takes the words of blocks and appends chunks to a layer file.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::chunk;
use super::numbering::{DenseNumbering, inconsistent};
use crate::error::Result;
use crate::key::EntryKey;
use crate::layer::index::{BlockMeta, FilePart, ShardCount};
use crate::layer::writer::LayerWriter;

/// Encodes blocks of a dense space into chunks and appends them to a
/// [dense](crate::FileKind::is_dense) file. Each thread has its own.
#[derive(Debug)]
pub struct DenseEncoder {
    numbering: DenseNumbering,
    /// The number of the block after the last one pushed.
    next: u32,
    regions: u64,
    states: u64,
    blocks: Vec<BlockMeta>,
    buffer: Vec<u8>,
}

impl DenseEncoder {
    /// An encoder without any chunk.
    pub fn new(numbering: DenseNumbering) -> DenseEncoder {
        let (blocks, buffer) = (Vec::new(), Vec::new());
        DenseEncoder { numbering, next: 0, regions: 0, states: 0, blocks, buffer }
    }

    /// The number of the block after the last one pushed: the least that the next call of [`Self::push`] may
    /// begin with.
    pub fn next_block(&self) -> u32 {
        self.next
    }

    /// Adds the states of consecutive blocks, from block `first` on: `words` has a word for each row. The
    /// blocks must follow those of earlier calls. Calls with many blocks make fewer chunks; a chunk
    /// begins and ends with a block that has states.
    ///
    /// # Errors
    /// `Io` if the file cannot be written; `Inconsistent` if it is not a dense file, or if the words are
    /// out of order, are not those of whole blocks, or have states in lanes that do not exist. The caller
    /// must then drop the writer.
    pub fn push(&mut self, to: &LayerWriter, first: u32, words: &[u64]) -> Result<()> {
        let blocks = self.numbering.blocks_of(first, words.len());
        let blocks = blocks.map_err(|what| inconsistent(to.name(), what))?;
        if first < self.next || !to.header().kind.is_dense() {
            let what = format!("block {first} in a {:?} after {}", to.header().kind, self.next);
            return Err(inconsistent(to.name(), what));
        }
        self.next = first + blocks;
        let rows = self.numbering.rows as usize;
        let chunks = words.chunks(self.numbering.blocks_per_chunk() * rows);
        for (index, words) in chunks.enumerate() {
            let first = first + (index * self.numbering.blocks_per_chunk()) as u32;
            if let Some(filled) = filled_blocks(words, rows) {
                let words = &words[filled.start * rows..filled.end * rows];
                self.push_chunk(to, first + filled.start as u32, words)?;
            }
        }
        Ok(())
    }

    /// Appends a chunk whose first and last blocks have states.
    fn push_chunk(&mut self, to: &LayerWriter, first: u32, words: &[u64]) -> Result<()> {
        let rows = self.numbering.rows as usize;
        let outside = !self.numbering.lane_mask();
        let mut meta = BlockMeta { first: key(first), ..BlockMeta::default() };
        for block in words.chunks(rows) {
            let states: u32 = block.iter().map(|word| word.count_ones()).sum();
            meta.states += states;
            meta.regions += u32::from(states > 0);
        }
        if words.iter().any(|word| word & outside != 0) {
            let what = format!("a chunk from block {first} has states in lanes that do not exist");
            return Err(inconsistent(to.name(), what));
        }
        meta.last = key(first + (words.len() / rows) as u32 - 1);
        self.buffer.clear();
        chunk::encode(self.numbering.fingerprint, words, meta.states, &mut self.buffer);
        meta.offset = to.append(&self.buffer)?;
        meta.stored_len = self.buffer.len() as u32;
        meta.raw_len = size_of_val(words) as u32;
        meta.checksum = xxh3_64(&self.buffer);
        self.regions += u64::from(meta.regions);
        self.states += u64::from(meta.states);
        self.blocks.push(meta);
        Ok(())
    }

    /// Returns this encoder's part of the file, for [`LayerWriter::seal`]. The encoder is then ready for
    /// the next file.
    pub fn finish(&mut self) -> FilePart {
        let ready =
            DenseEncoder { buffer: std::mem::take(&mut self.buffer), ..Self::new(self.numbering) };
        let DenseEncoder { regions, states, blocks, .. } = std::mem::replace(self, ready);
        let shards =
            if states == 0 { Vec::new() } else { vec![ShardCount { shard: 0, regions, states }] };
        FilePart { blocks, shards, samples: Vec::new() }
    }
}

/// The range of blocks from the first to the last with states; None if no block has states.
fn filled_blocks(words: &[u64], rows: usize) -> Option<Range<usize>> {
    let first = words.iter().position(|word| *word != 0)? / rows;
    let last = words.iter().rposition(|word| *word != 0)? / rows;
    Some(first..last + 1)
}

/// The key of a block: its number, as the region in shard 0.
pub(super) fn key(block: u32) -> EntryKey {
    EntryKey { shard: 0, region: block.into() }
}

//! The block encoder: it takes sorted regions and appends compressed, checksummed blocks to a file.

use std::io;

use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

use crate::error::{Result, StoreError};
use crate::key::EntryKey;
use crate::layer::columns::{Columns, Directory, MAX_DIRECTORY, grow};
use crate::layer::format::{FileKind, LayerHeader};
use crate::layer::index::{BlockMeta, FilePart, MAX_ENTRY_WORDS, ShardCount};
use crate::layer::list::{List, ListBuf};
use crate::layer::local::Word;
use crate::layer::sample::Sampler;
use crate::layer::writer::LayerWriter;

const MAX_BLOCK_BYTES: usize = 16 << 20;
/// A block is closed at this many states, because few bytes can stand for many states, and threads share
/// the work on a file by blocks.
const BLOCK_STATES: u32 = 4 << 20;
/// Blocks are written once this many bytes are buffered, so that writes are few.
const WRITE_BYTES: usize = 128 << 10;
/// Blocks of fewer bytes are stored uncompressed: zstd would gain little and cost microseconds.
const MIN_COMPRESS: usize = 1 << 10;
/// Columns of fewer bytes are stored uncompressed.
const MIN_COLUMN: usize = 128;

/// Options of block encoding.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct EncodeOptions {
    /// Compression level of zstd; negative levels are faster.
    pub zstd_level: i32,
    /// Size before compression at which a block is closed, in bytes; at most 16 MiB. A block with
    /// many states is closed earlier.
    pub block_bytes: usize,
    /// The most words of states in one entry; a longer list is cut into several entries. At most
    /// [`MAX_ENTRY_WORDS`].
    pub entry_words: usize,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { zstd_level: 1, block_bytes: 256 << 10, entry_words: MAX_ENTRY_WORDS }
    }
}

/// Encodes sorted regions into blocks and appends them to a file.
///
/// Each thread uses its own encoder, which keeps its buffers and its compression context from file to
/// file.
pub struct BlockEncoder {
    block_bytes: usize,
    entry_words: usize,
    compressor: Compressor<'static>,
    columns: Columns,
    list: ListBuf,
    /// The block being filled; `last` is the key of the last region pushed.
    open: BlockMeta,
    directory: Vec<u8>,
    /// Closed blocks that are not in the file yet, in the first `pending_len` bytes.
    pending: Vec<u8>,
    pending_len: usize,
    /// Number of blocks of `part` that are in the file. The offsets of later blocks count from the start
    /// of the pending bytes.
    appended: usize,
    sampler: Sampler,
    part: FilePart,
}

impl std::fmt::Debug for BlockEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockEncoder").field("open", &self.open).finish_non_exhaustive()
    }
}

impl BlockEncoder {
    /// An encoder without any block.
    ///
    /// # Errors
    /// `Codec` if zstd rejects the level or has no memory.
    pub fn new(options: EncodeOptions) -> Result<Self> {
        let compressor = Compressor::new(options.zstd_level)
            .map_err(|source| StoreError::Codec { op: "set up compression for blocks", source })?;
        let block_bytes = options.block_bytes.clamp(1, MAX_BLOCK_BYTES);
        Ok(Self {
            block_bytes,
            entry_words: options.entry_words.clamp(1, MAX_ENTRY_WORDS),
            compressor,
            columns: Columns::new(block_bytes),
            list: ListBuf::default(),
            open: BlockMeta::default(),
            directory: Vec::new(),
            pending: Vec::new(),
            pending_len: 0,
            appended: 0,
            sampler: Sampler::new(),
            part: FilePart::default(),
        })
    }

    /// Adds a region. Its key must be greater than that of the region before (in a run, it may be equal).
    /// `words` has one or more locals of the file's width, strictly increasing.
    ///
    /// # Errors
    /// `Io` if the file cannot be written, `Inconsistent` if the region is out of order, empty or of
    /// another width. The encoder is then empty, and the caller must drop the writer.
    pub fn push(&mut self, to: &LayerWriter, key: EntryKey, words: &[Word]) -> Result<()> {
        let width = to.header().width;
        debug_assert!(width.is_sorted(words), "locals of {key} out of order");
        if words.len() > self.entry_words {
            return self.push_parts(to, key, words);
        }
        let mut buffer = std::mem::take(&mut self.list);
        let pushed = self.push_list(to, key, buffer.encode_words(width, words));
        self.list = buffer;
        pushed
    }

    /// [`Self::push`] for an encoded list.
    ///
    /// # Errors
    /// Those of [`Self::push`].
    #[inline]
    pub fn push_list(&mut self, to: &LayerWriter, key: EntryKey, list: List<'_>) -> Result<()> {
        let width = to.header().width;
        if !self.in_order(to, key) || list.is_empty() || list.width != width {
            return Err(self.reject(to, key, list.len()));
        }
        if list.len() * width.words() > self.entry_words {
            return self.push_long(to, key, list);
        }
        self.push_entry(key, list, 1);
        if self.is_full() { self.close_block(to) } else { Ok(()) }
    }

    /// Adds a list that is too long for one entry.
    #[cold]
    fn push_long(&mut self, to: &LayerWriter, key: EntryKey, list: List<'_>) -> Result<()> {
        let mut words = Vec::new();
        if list.decode(&mut words).is_none() {
            return Err(self.reject(to, key, list.len()));
        }
        self.push_parts(to, key, &words)
    }

    /// Adds a region as several entries. Each entry but the last ends its block, so that the keys in the
    /// index tell a reader whether a list continues.
    #[cold]
    fn push_parts(&mut self, to: &LayerWriter, key: EntryKey, words: &[Word]) -> Result<()> {
        let LayerHeader { width, kind, .. } = *to.header();
        if !self.in_order(to, key) {
            return Err(self.reject(to, key, width.count(words)));
        }
        let most = self.entry_words.max(width.words()) / width.words() * width.words();
        let mut rest = words;
        let mut regions = 1;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(most.min(rest.len()));
            let mut buffer = std::mem::take(&mut self.list);
            self.push_entry(key, buffer.encode_words(width, part), regions);
            self.list = buffer;
            if !after.is_empty() || self.is_full() {
                self.close_block(to)?;
            }
            // A run counts entries as regions.
            regions = u64::from(kind == FileKind::Run);
            rest = after;
        }
        Ok(())
    }

    /// Whether a region may be the next one.
    #[inline]
    fn in_order(&self, to: &LayerWriter, key: EntryKey) -> bool {
        if self.open.regions == 0 {
            self.part.blocks.last().is_none_or(|block| in_order(to, block.last, key))
        } else {
            in_order(to, self.open.last, key)
        }
    }

    /// Adds an entry to the open block; it counts as `regions` regions. The entry must be in order.
    #[inline]
    fn push_entry(&mut self, key: EntryKey, list: List<'_>, regions: u64) {
        let is_first = self.open.regions == 0;
        // The first key of a block is relative to key 0:0, so that each block can be read by itself.
        let before = if is_first { EntryKey::default() } else { self.open.last };
        self.columns.push(before, key, list);
        if is_first {
            self.open.first = key;
        }
        self.open.last = key;
        self.open.regions += 1;
        self.open.states += list.len() as u32;
        self.count(key.shard, regions, list.len() as u64);
        self.sampler.count(key, list.len() as u64);
    }

    /// Whether the open block is large enough to be closed.
    #[inline]
    fn is_full(&self) -> bool {
        self.columns.len() >= self.block_bytes || self.open.states >= BLOCK_STATES
    }

    /// Writes the remaining blocks and returns this encoder's part of the file, for
    /// [`LayerWriter::seal`]. The encoder is then ready for the next file.
    ///
    /// # Errors
    /// `Io` if the file cannot be written; the encoder is then empty.
    pub fn finish(&mut self, to: &LayerWriter) -> Result<FilePart> {
        if self.open.regions > 0 {
            self.close_block(to)?;
        }
        self.append(to)?;
        self.appended = 0;
        self.part.samples = self.sampler.take();
        Ok(std::mem::take(&mut self.part))
    }

    /// Drops everything pushed since the last `finish`, for a file that is abandoned.
    pub fn discard(&mut self) {
        self.columns.clear();
        self.open = BlockMeta::default();
        self.pending_len = 0;
        self.appended = 0;
        self.sampler.take();
        self.part = FilePart::default();
    }

    #[inline]
    fn count(&mut self, shard: u32, regions: u64, states: u64) {
        match self.part.shards.last_mut() {
            Some(last) if last.shard == shard => {
                last.regions += regions;
                last.states += states;
            }
            _ => self.part.shards.push(ShardCount { shard, regions, states }),
        }
    }

    #[cold]
    fn reject(&mut self, to: &LayerWriter, key: EntryKey, states: usize) -> StoreError {
        let last = if self.open.regions == 0 {
            self.part.blocks.last().map(|block| block.last)
        } else {
            Some(self.open.last)
        };
        self.discard();
        let what = format!("region {key} with {states} states after region {last:?}");
        StoreError::Inconsistent { file: to.name(), what }
    }

    fn close_block(&mut self, to: &LayerWriter) -> Result<()> {
        let start = self.pending_len;
        let raw_len = match self.compress_columns() {
            Ok(raw_len) => raw_len,
            Err(error) => {
                self.discard();
                return Err(StoreError::io("compress a block of", &to.name())(error));
            }
        };
        let stored = &self.pending[start..self.pending_len];
        self.open.offset = start as u64;
        self.open.stored_len = stored.len() as u32;
        self.open.raw_len = raw_len as u32;
        self.open.checksum = xxh3_64(stored);
        self.part.blocks.push(std::mem::take(&mut self.open));
        self.columns.clear();
        if self.pending_len >= WRITE_BYTES { self.append(to) } else { Ok(()) }
    }

    /// Appends the columns to the pending bytes, compressed if that makes them shorter. Returns their
    /// length before compression.
    fn compress_columns(&mut self) -> io::Result<usize> {
        let raw_len = self.columns.len();
        let compress = |column: &[u8]| raw_len >= MIN_COMPRESS && column.len() >= MIN_COLUMN;
        let columns = self.columns.all();
        let bound = |column: &&[u8]| {
            if compress(column) { compress_bound(column.len()) } else { column.len() }
        };
        let room = self.pending_len + columns.iter().map(bound).sum::<usize>() + MAX_DIRECTORY;
        if self.pending.len() < room {
            grow(&mut self.pending, self.pending_len, room);
        }
        let mut directory = Directory::default();
        for (i, column) in columns.into_iter().enumerate() {
            let target = &mut self.pending[self.pending_len..];
            let mut stored = column.len();
            if compress(column) {
                stored = stored.min(self.compressor.compress_to_buffer(column, target)?);
            }
            if stored == column.len() {
                target[..stored].copy_from_slice(column);
            }
            directory.raw[i] = column.len() as u32;
            directory.stored[i] = stored as u32;
            self.pending_len += stored;
        }
        directory.write(&mut self.directory);
        let end = self.pending_len + self.directory.len();
        self.pending[self.pending_len..end].copy_from_slice(&self.directory);
        self.pending_len = end;
        Ok(raw_len)
    }

    fn append(&mut self, to: &LayerWriter) -> Result<()> {
        if self.pending_len == 0 {
            return Ok(());
        }
        match to.append(&self.pending[..self.pending_len]) {
            Ok(start) => {
                for block in &mut self.part.blocks[self.appended..] {
                    block.offset += start;
                }
                self.appended = self.part.blocks.len();
                self.pending_len = 0;
                Ok(())
            }
            Err(error) => {
                self.discard();
                Err(error)
            }
        }
    }
}

#[inline]
fn in_order(to: &LayerWriter, before: EntryKey, key: EntryKey) -> bool {
    before < key || (before == key && to.header().kind == FileKind::Run)
}

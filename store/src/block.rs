//! The block encoder: regions with sorted states in, checksummed zstd blocks out.

use std::io;

use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

use crate::columns::{Columns, Directory, MAX_DIRECTORY, grow};
use crate::error::{Result, StoreError};
use crate::format::FileKind;
use crate::key::EntryKey;
use crate::layer::LayerWriter;
use crate::list::{List, ListBuf};
use crate::sample::{Sample, Sampler};

/// Most states in one region: bounds what a reader has to allocate.
pub const MAX_REGION_STATES: usize = 1 << 24;
/// Largest block before compression: the largest region behind an almost full block.
pub(crate) const MAX_RAW: u32 = 128 << 20;
const MAX_BLOCK_BYTES: usize = 16 << 20;
/// Compressed blocks are gathered to about this many bytes, so that a file's writes are few.
const GATHER: usize = 128 << 10;
/// Blocks smaller than this are stored as they are: zstd would gain little and cost microseconds.
const MIN_COMPRESS: usize = 1 << 10;
/// The same for a single column of larger blocks.
const MIN_COLUMN: usize = 128;

/// What the index of a file knows of a block.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct BlockMeta {
    /// Key of its first region.
    pub first: EntryKey,
    /// Key of its last region.
    pub last: EntryKey,
    /// Byte offset in the file.
    pub offset: u64,
    /// Bytes in the file.
    pub stored_len: u32,
    /// Bytes of its columns when decompressed.
    pub raw_len: u32,
    /// Regions in it.
    pub regions: u32,
    /// States in it.
    pub states: u32,
    /// xxh3-64 of the stored bytes.
    pub checksum: u64,
}

/// How much of a shard an encoder has written.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct ShardCount {
    /// The shard.
    pub shard: u32,
    /// Its regions.
    pub regions: u64,
    /// Its states.
    pub states: u64,
}

/// One encoder's share of a file: its blocks in key order, and what it wrote of each shard.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FilePart {
    /// The blocks, in key order.
    pub blocks: Vec<BlockMeta>,
    /// The shards, in order.
    pub shards: Vec<ShardCount>,
    /// Samples of the keys, in order. They are not stored.
    pub samples: Vec<Sample>,
}

/// How blocks are made.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct EncodeOptions {
    /// zstd's compression level; negative ones are faster.
    pub zstd_level: i32,
    /// A block is closed when it has at least this many bytes before compression; at most 16 MiB.
    pub block_bytes: usize,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { zstd_level: 1, block_bytes: 256 << 10 }
    }
}

/// Encodes sorted regions into blocks and appends them to a file. One per thread; it keeps its
/// buffers and its compression context from one file to the next.
pub struct BlockEncoder {
    block_bytes: usize,
    compressor: Compressor<'static>,
    columns: Columns,
    list: ListBuf,
    /// The block being filled; its `last` is the key before the next one.
    open: BlockMeta,
    directory: Vec<u8>,
    gathered: Vec<u8>,
    gathered_len: usize,
    /// Blocks of `part` that are in the file; the offsets of later ones count from the gathered
    /// bytes' start.
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
    /// `Io` if zstd refuses the level or has no memory.
    pub fn new(options: EncodeOptions) -> Result<Self> {
        let compressor = Compressor::new(options.zstd_level)
            .map_err(StoreError::io("set up compression for", "blocks".as_ref()))?;
        let block_bytes = options.block_bytes.clamp(1, MAX_BLOCK_BYTES);
        Ok(Self {
            block_bytes,
            compressor,
            columns: Columns::new(block_bytes),
            list: ListBuf::default(),
            open: BlockMeta::default(),
            directory: Vec::new(),
            gathered: Vec::new(),
            gathered_len: 0,
            appended: 0,
            sampler: Sampler::new(),
            part: FilePart::default(),
        })
    }

    /// Adds a region. Keys increase (in a run, they may repeat); `locals` is strictly increasing,
    /// not empty and at most [`MAX_REGION_STATES`] long.
    ///
    /// # Errors
    /// `Io` if the file cannot be written, `Inconsistent` for a region out of order or of a size
    /// that is not allowed. Afterwards the encoder is empty and the file is to be dropped.
    pub fn push(&mut self, to: &LayerWriter, key: EntryKey, locals: &[u32]) -> Result<()> {
        debug_assert!(locals.is_sorted_by(|a, b| a < b), "locals of {key} out of order");
        let mut buffer = std::mem::take(&mut self.list);
        let pushed = self.push_list(to, key, buffer.encode(locals));
        self.list = buffer;
        pushed
    }

    /// [`Self::push`] for a list that is encoded already.
    ///
    /// # Errors
    /// The same.
    #[inline]
    pub fn push_list(&mut self, to: &LayerWriter, key: EntryKey, list: List<'_>) -> Result<()> {
        let before = self.open.last;
        let fresh = self.open.regions == 0;
        let ordered = if fresh {
            self.part.blocks.last().is_none_or(|block| in_order(to, block.last, key))
        } else {
            in_order(to, before, key)
        };
        if !ordered || list.is_empty() || list.len() > MAX_REGION_STATES {
            return Err(self.refuse(to, key, list.len()));
        }
        // A block starts from key 0:0, so that it can be read by itself.
        let before = if fresh { EntryKey::default() } else { before };
        self.columns.push(before, key, list);
        if fresh {
            self.open.first = key;
        }
        self.open.last = key;
        self.open.regions += 1;
        self.open.states += list.len() as u32;
        self.count(key.shard, list.len() as u64);
        self.sampler.count(key, list.len() as u64);
        if self.columns.len() >= self.block_bytes { self.close_block(to) } else { Ok(()) }
    }

    /// Writes what is left and hands over the file's part for [`LayerWriter::seal`]; the encoder is
    /// ready for the next file.
    ///
    /// # Errors
    /// `Io` if the file cannot be written; the encoder is empty then, too.
    pub fn finish(&mut self, to: &LayerWriter) -> Result<FilePart> {
        if self.open.regions > 0 {
            self.close_block(to)?;
        }
        self.append(to)?;
        self.appended = 0;
        self.part.samples = self.sampler.take();
        Ok(std::mem::take(&mut self.part))
    }

    /// Forgets what was pushed since the last `finish`: the file is given up.
    pub fn discard(&mut self) {
        self.columns.clear();
        self.open = BlockMeta::default();
        self.gathered_len = 0;
        self.appended = 0;
        self.sampler.take();
        self.part = FilePart::default();
    }

    #[inline]
    fn count(&mut self, shard: u32, states: u64) {
        match self.part.shards.last_mut() {
            Some(last) if last.shard == shard => {
                last.regions += 1;
                last.states += states;
            }
            _ => self.part.shards.push(ShardCount { shard, regions: 1, states }),
        }
    }

    #[cold]
    fn refuse(&mut self, to: &LayerWriter, key: EntryKey, states: usize) -> StoreError {
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
        let start = self.gathered_len;
        let raw_len = match self.gather_columns() {
            Ok(raw_len) => raw_len,
            Err(error) => {
                self.discard();
                return Err(StoreError::io("compress a block of", &to.name())(error));
            }
        };
        let stored = &self.gathered[start..self.gathered_len];
        self.open.offset = start as u64;
        self.open.stored_len = stored.len() as u32;
        self.open.raw_len = raw_len as u32;
        self.open.checksum = xxh3_64(stored);
        self.part.blocks.push(std::mem::take(&mut self.open));
        self.columns.clear();
        if self.gathered_len >= GATHER { self.append(to) } else { Ok(()) }
    }

    /// Compresses each column if it is worth it, gathers what is to be stored, and returns how many
    /// bytes it was before.
    fn gather_columns(&mut self) -> io::Result<usize> {
        let raw_len = self.columns.len();
        let compress = |column: &[u8]| raw_len >= MIN_COMPRESS && column.len() >= MIN_COLUMN;
        let columns = self.columns.all();
        let bound = |column: &&[u8]| {
            if compress(column) { compress_bound(column.len()) } else { column.len() }
        };
        let room = self.gathered_len + columns.iter().map(bound).sum::<usize>() + MAX_DIRECTORY;
        if self.gathered.len() < room {
            grow(&mut self.gathered, self.gathered_len, room);
        }
        let mut directory = Directory::default();
        for (i, column) in columns.into_iter().enumerate() {
            let target = &mut self.gathered[self.gathered_len..];
            let mut stored = column.len();
            if compress(column) {
                stored = stored.min(self.compressor.compress_to_buffer(column, target)?);
            }
            if stored == column.len() {
                target[..stored].copy_from_slice(column);
            }
            directory.raw[i] = column.len() as u32;
            directory.stored[i] = stored as u32;
            self.gathered_len += stored;
        }
        directory.write(&mut self.directory);
        let end = self.gathered_len + self.directory.len();
        self.gathered[self.gathered_len..end].copy_from_slice(&self.directory);
        self.gathered_len = end;
        Ok(raw_len)
    }

    fn append(&mut self, to: &LayerWriter) -> Result<()> {
        if self.gathered_len == 0 {
            return Ok(());
        }
        match to.append(&self.gathered[..self.gathered_len]) {
            Ok(start) => {
                for block in &mut self.part.blocks[self.appended..] {
                    block.offset += start;
                }
                self.appended = self.part.blocks.len();
                self.gathered_len = 0;
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

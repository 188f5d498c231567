//! Byte layout of a layer file around its blocks: header, indexes and trailer.
//!
//! `docs/format.md` describes the layout. All integers are little-endian. In this crate, the *footer* is
//! the block index together with the shard index.

use std::path::Path;

use strata_space::{Digest, Weight};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Result, StoreError};
use crate::key::EntryKey;
use crate::layer::columns::MAX_DIRECTORY;
use crate::layer::index::{BlockMeta, ShardEntry, first_block_of};
use crate::layer::local::LocalWidth;
use crate::layer::source::Source;

const MAGIC: [u8; 8] = *b"STRATALF";
pub(crate) const END_MAGIC: [u8; 8] = *b"STRATAND";
const VERSION: u16 = 1;

/// The most bytes of a block before compression: an almost full block, plus the largest entry.
pub(crate) const MAX_RAW: u32 = 128 << 20;
/// The most states of a block of lists. As lists repeat, the length of a block does not limit the states.
const MAX_BLOCK_STATES: u64 = 128 << 20;
/// Header bytes before the job id.
const HEADER_FIXED: usize = 20;
const MAX_JOB: usize = 255;
/// The most bytes of a header.
pub(crate) const HEADER_MOST: u64 = (HEADER_FIXED + MAX_JOB) as u64;
pub(crate) const TRAILER: usize = 96;
const BLOCK_ENTRY: usize = 72;
const SHARD_ENTRY: usize = 24;
/// Trailer bytes that the seal covers: all but the seal itself and the end magic.
const SEALED: usize = TRAILER - 16;

/// The kind of a file.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub enum FileKind {
    /// A layer of a search, with each region once.
    Layer,
    /// A sorted run of received states, in which a region may repeat.
    Run,
    /// A snapshot of the diagram of a symbolic search's last two layers.
    Diagram,
    /// A layer of a dense search, with a bit for each state.
    Dense,
    /// Several layers together, with each region once. The depth is that of the last layer.
    Older,
    /// Several layers of a dense search together, with a bit for each state. The depth is that of the last
    /// layer.
    OlderDense,
}

impl FileKind {
    fn code(self) -> u8 {
        match self {
            Self::Layer => 1,
            Self::Run => 2,
            Self::Diagram => 3,
            Self::Dense => 4,
            Self::Older => 5,
            Self::OlderDense => 6,
        }
    }

    fn of(code: u8) -> Option<Self> {
        let all =
            [Self::Layer, Self::Run, Self::Diagram, Self::Dense, Self::Older, Self::OlderDense];
        all.into_iter().find(|kind| kind.code() == code)
    }

    /// Whether a file of this kind has a bit for each state of some blocks.
    #[must_use]
    pub fn is_dense(self) -> bool {
        matches!(self, Self::Dense | Self::OlderDense)
    }

    /// Whether a file of this kind holds several layers before the last two.
    #[must_use]
    pub fn is_older(self) -> bool {
        matches!(self, Self::Older | Self::OlderDense)
    }

    /// Whether each region is stored once. Its list may then continue at the start of the next block.
    pub(crate) fn continues_lists(self) -> bool {
        matches!(self, Self::Layer | Self::Older)
    }

    /// The most states of a block with `raw_len` bytes before compression.
    fn most_states(self, raw_len: u32) -> u64 {
        if self.is_dense() { 8 * u64::from(raw_len) } else { MAX_BLOCK_STATES }
    }
}

/// The header of a file: its kind, its job and depth, and its encoding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LayerHeader {
    /// The kind of the file.
    pub kind: FileKind,
    /// The job's id, at most 255 bytes.
    pub job: String,
    /// Distance from the start of the search.
    pub depth: u32,
    /// Version of the state space's numbering of regions and locals. This crate only compares it
    /// with the expected value.
    pub encoding: u16,
    /// The width of all locals.
    pub width: LocalWidth,
}

impl LayerHeader {
    /// A header for locals of one word.
    pub fn new(kind: FileKind, job: impl Into<String>, depth: u32, encoding: u16) -> LayerHeader {
        LayerHeader { kind, job: job.into(), depth, encoding, width: LocalWidth::One }
    }
}

/// Totals of a file, as counted by the search that wrote it.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct LayerTotals {
    /// Number of regions (of entries, in a run).
    pub regions: u64,
    /// Number of states.
    pub states: u64,
    /// Number of positions that the states stand for; zero in a run, and if they are not counted.
    pub positions: u64,
    /// Number of legal moves of the states; zero in a run.
    pub generated: u64,
    /// Order-independent digest of the states; zero in a run.
    pub digest: Digest,
}

/// Header, index and totals of a sealed file.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) header: LayerHeader,
    pub(crate) totals: LayerTotals,
    pub(crate) blocks: Vec<BlockMeta>,
    pub(crate) shards: Vec<ShardEntry>,
    pub(crate) bytes: u64,
    pub(crate) seal: u64,
}

impl Layout {
    /// Offset in the file of entry `i` of the shard index.
    pub(crate) fn shard_offset(&self, i: usize) -> u64 {
        let from_end = TRAILER + (self.shards.len().saturating_sub(i)) * SHARD_ENTRY;
        self.bytes - from_end as u64
    }
}

/// Encodes a header.
pub(crate) fn header_bytes(header: &LayerHeader) -> Result<Vec<u8>> {
    let job = header.job.as_bytes();
    if job.len() > MAX_JOB {
        return Err(StoreError::Name { what: "job id", name: header.job.clone() });
    }
    let mut out = Vec::with_capacity(HEADER_FIXED + job.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.push(header.kind.code());
    out.push(job.len() as u8);
    out.extend_from_slice(&header.depth.to_le_bytes());
    out.extend_from_slice(&header.encoding.to_le_bytes());
    out.extend_from_slice(&[header.width.code(), 0]);
    out.extend_from_slice(job);
    debug_assert_eq!(out.len(), HEADER_FIXED + job.len());
    Ok(out)
}

/// Encodes footer and trailer for appending at offset `at`; also returns the seal.
pub(crate) fn tail_bytes(
    header: &[u8],
    totals: &LayerTotals,
    blocks: &[BlockMeta],
    shards: &[ShardEntry],
    at: u64,
) -> (Vec<u8>, u64) {
    let footer = blocks.len() * BLOCK_ENTRY + shards.len() * SHARD_ENTRY;
    let mut out = Vec::with_capacity(footer + TRAILER);
    for block in blocks {
        for key in [block.first, block.last] {
            out.extend_from_slice(&key.shard.to_le_bytes());
            out.extend_from_slice(&key.region.to_le_bytes());
        }
        out.extend_from_slice(&block.offset.to_le_bytes());
        for number in [block.stored_len, block.raw_len, block.regions, block.states] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&block.checksum.to_le_bytes());
    }
    for shard in shards {
        out.extend_from_slice(&shard.shard.to_le_bytes());
        out.extend_from_slice(&shard.first_block.to_le_bytes());
        out.extend_from_slice(&shard.regions.to_le_bytes());
        out.extend_from_slice(&shard.states.to_le_bytes());
    }
    let checksum = xxh3_64(&out);
    let words = [
        at,
        at + (footer + TRAILER) as u64,
        blocks.len() as u64 | (shards.len() as u64) << 32,
        checksum,
        totals.regions,
        totals.states,
        totals.positions,
        totals.generated,
        totals.digest.0[0],
        totals.digest.0[1],
    ];
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
    let seal = seal_of(header, &out[footer..]);
    out.extend_from_slice(&seal.to_le_bytes());
    out.extend_from_slice(&END_MAGIC);
    (out, seal)
}

fn seal_of(header: &[u8], trailer: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(header);
    hash.update(trailer);
    hash.digest()
}

/// Reader of fixed-width integers.
struct Fields<'a> {
    bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    start: usize,
    /// Offset of the next field in the file.
    at: usize,
}

impl Fields<'_> {
    /// The next `N` bytes. The caller has checked that they exist; missing ones read as zero.
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let rest = self.at.checked_sub(self.start).and_then(|at| self.bytes.get(at..));
        let found = rest.and_then(|rest| rest.first_chunk::<N>());
        self.at += N;
        found.copied().unwrap_or([0; N])
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn key(&mut self) -> EntryKey {
        let shard = self.u32();
        EntryKey { shard, region: u128::from_le_bytes(self.take()) }
    }
}

/// Checks that a field has the expected value.
pub(crate) fn check<T: PartialEq + std::fmt::Debug>(
    file: &Path,
    offset: usize,
    what: &str,
    expected: &T,
    found: &T,
) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let expected = format!("{what} {expected:?}");
    Err(StoreError::corrupt(file, offset as u64, expected, format!("{found:?}")))
}

/// Reads and checks the header; returns it and its length in bytes. Its bytes are then at the start of
/// `buffer`, or of the memory of `source`.
pub(crate) fn read_header(
    file: &Path,
    source: &Source,
    buffer: &mut Vec<u8>,
) -> Result<(LayerHeader, usize)> {
    let len = source.len()?.min((HEADER_FIXED + MAX_JOB) as u64);
    let bytes = source.read(0, len as usize, buffer)?;
    if bytes.len() < HEADER_FIXED {
        let expected = format!("a header of at least {HEADER_FIXED} bytes");
        return Err(StoreError::corrupt(file, 0, expected, format!("{} bytes", bytes.len())));
    }
    let mut fields = Fields { bytes, start: 0, at: 0 };
    check(file, 0, "magic", &MAGIC, &fields.take())?;
    let version = fields.u16();
    if version != VERSION {
        let expected = format!("version {VERSION} of the file format");
        let found = format!("version {version} of another version of Strata");
        return Err(StoreError::corrupt(file, 8, expected, found));
    }
    let [kind, job_len] = fields.take();
    let Some(kind) = FileKind::of(kind) else {
        return Err(StoreError::corrupt(file, 10, "kind 1 to 5", kind));
    };
    let depth = fields.u32();
    let encoding = fields.u16();
    let [width, reserved] = fields.take();
    let Some(width) = LocalWidth::of(width) else {
        return Err(StoreError::corrupt(file, 18, "width 0 to 2", width));
    };
    check(file, 19, "reserved byte", &0, &reserved)?;
    let end = HEADER_FIXED + usize::from(job_len);
    let job = bytes.get(HEADER_FIXED..end).and_then(|job| std::str::from_utf8(job).ok());
    let Some(job) = job else {
        let expected = format!("a job id of {job_len} bytes");
        return Err(StoreError::corrupt(file, HEADER_FIXED as u64, expected, "other bytes"));
    };
    Ok((LayerHeader { kind, job: job.to_owned(), depth, encoding, width }, end))
}

/// Reads and checks all of a file except the content of its blocks.
pub(crate) fn read_layout(file: &Path, source: &Source) -> Result<Layout> {
    let len = source.len()? as usize;
    let mut buffer = Vec::new();
    let (header, header_len) = read_header(file, source, &mut buffer)?;
    if len < header_len + TRAILER {
        let expected = format!("at least {} bytes", header_len + TRAILER);
        return Err(StoreError::corrupt(file, len as u64, expected, format!("{len} bytes")));
    }
    let mut hash = Xxh3::new();
    hash.update(source.read(0, header_len, &mut buffer)?);
    let trailer = len - TRAILER;
    let bytes = source.read(trailer as u64, TRAILER, &mut buffer)?;
    let mut fields = Fields { bytes, start: trailer, at: trailer + TRAILER - 8 };
    check(file, fields.at, "end magic", &END_MAGIC, &fields.take())?;
    fields.at = trailer + SEALED;
    hash.update(&bytes[..SEALED]);
    let (computed, seal) = (hash.digest(), fields.u64());
    check(file, trailer + SEALED, "seal", &format!("{computed:016x}"), &format!("{seal:016x}"))?;

    fields.at = trailer;
    let footer = fields.u64();
    check(file, trailer + 8, "file length", &(len as u64), &fields.u64())?;
    let (block_count, shard_count) = (fields.u32() as usize, fields.u32() as usize);
    let index = block_count * BLOCK_ENTRY + shard_count * SHARD_ENTRY;
    let start = trailer.checked_sub(index).filter(|&start| start >= header_len);
    let Some(start) = start.filter(|&start| start as u64 == footer) else {
        let expected = format!("a footer of {index} bytes before offset {trailer}");
        return Err(StoreError::corrupt(file, trailer as u64, expected, footer));
    };
    let checksum = fields.u64();
    let totals = LayerTotals {
        regions: fields.u64(),
        states: fields.u64(),
        positions: fields.u64(),
        generated: fields.u64(),
        digest: Weight([fields.u64(), fields.u64()]),
    };
    let bytes = source.read(start as u64, index, &mut buffer)?;
    let found = xxh3_64(bytes);
    check(file, start, "footer checksum", &format!("{checksum:016x}"), &format!("{found:016x}"))?;
    let mut fields = Fields { bytes, start, at: start };
    let blocks = (0..block_count).map(|_| read_block_entry(&mut fields)).collect();
    let shards = (0..shard_count)
        .map(|_| ShardEntry {
            shard: fields.u32(),
            first_block: fields.u32(),
            regions: fields.u64(),
            states: fields.u64(),
        })
        .collect();
    let layout = Layout { header, totals, blocks, shards, bytes: len as u64, seal };
    check_index(file, &layout, header_len, start)?;
    Ok(layout)
}

fn read_block_entry(fields: &mut Fields<'_>) -> BlockMeta {
    BlockMeta {
        first: fields.key(),
        last: fields.key(),
        offset: fields.u64(),
        stored_len: fields.u32(),
        raw_len: fields.u32(),
        regions: fields.u32(),
        states: fields.u32(),
        checksum: fields.u64(),
    }
}

/// Checks the index: keys are in order, blocks fill the space between header and footer, and sums match
/// the totals.
fn check_index(file: &Path, layout: &Layout, header_len: usize, footer: usize) -> Result<()> {
    let kind = layout.header.kind;
    let continues = kind.continues_lists();
    let mut by_offset: Vec<(u64, u64)> = Vec::with_capacity(layout.blocks.len());
    let mut sums = (0, 0);
    let mut before: Option<EntryKey> = None;
    for (i, block) in layout.blocks.iter().enumerate() {
        let at = (footer + i * BLOCK_ENTRY) as u64;
        let ordered = block.first <= block.last
            && before
                .is_none_or(|last| last < block.first || (last == block.first && !kind.is_dense()));
        if !ordered {
            let found = format!("{}..{} after {before:?}", block.first, block.last);
            return Err(StoreError::corrupt(file, at, "blocks in key order", found));
        }
        let sane = block.raw_len <= MAX_RAW
            && u64::from(block.stored_len) <= u64::from(block.raw_len) + MAX_DIRECTORY as u64
            && 0 < block.regions
            && block.regions <= block.states
            && block.regions <= block.raw_len
            && u64::from(block.states) <= kind.most_states(block.raw_len);
        if !sane {
            let found = format!(
                "{} stored, {} raw, {} regions, {} states",
                block.stored_len, block.raw_len, block.regions, block.states
            );
            return Err(StoreError::corrupt(file, at, "possible block sizes", found));
        }
        let is_continued = continues && before == Some(block.first);
        before = Some(block.last);
        by_offset.push((block.offset, u64::from(block.stored_len)));
        sums.0 += u64::from(block.regions) - u64::from(is_continued);
        sums.1 += u64::from(block.states);
    }
    let totals = (layout.totals.regions, layout.totals.states);
    let trailer = layout.bytes as usize - TRAILER;
    check(file, trailer + 32, "regions and states of all blocks", &sums, &totals)?;
    by_offset.sort_unstable();
    let mut end = header_len as u64;
    for (offset, len) in by_offset {
        check(file, footer, "the next block at", &end, &offset)?;
        end += len;
    }
    check(file, footer, "the end of the blocks at", &(footer as u64), &end)?;
    let found = layout.shards.iter().try_fold((0_u64, 0_u64), |sum, shard| {
        Some((sum.0.checked_add(shard.regions)?, sum.1.checked_add(shard.states)?))
    });
    check(file, footer, "regions and states of all shards", &Some(totals), &found)?;
    let shards_at = footer + layout.blocks.len() * BLOCK_ENTRY;
    let firsts = layout.shards.iter().map(|shard| (shard.shard, shard.first_block));
    for (i, (shard, first_block)) in firsts.clone().enumerate() {
        let at = shards_at + i * SHARD_ENTRY;
        let block = first_block_of(&layout.blocks, shard);
        check(file, at, "first block of the shard", &block, &first_block)?;
    }
    check(file, shards_at, "shards in order", &true, &firsts.is_sorted_by(|a, b| a.0 < b.0))
}

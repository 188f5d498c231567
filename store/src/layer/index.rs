//! The index of a layer file: its blocks and shards, joined from the parts of several encoders.

use crate::key::EntryKey;
use crate::layer::sample::{self, Sample};

/// The most words of states in one entry. A longer list takes several entries.
pub const MAX_ENTRY_WORDS: usize = 1 << 24;

/// A block's entry in the index.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct BlockMeta {
    /// Key of the first region.
    pub first: EntryKey,
    /// Key of the last region.
    pub last: EntryKey,
    /// Byte offset in the file.
    pub offset: u64,
    /// Bytes in the file.
    pub stored_len: u32,
    /// Bytes of its columns before compression.
    pub raw_len: u32,
    /// Number of entries. The first one may continue the last list of the block before.
    pub regions: u32,
    /// Number of states.
    pub states: u32,
    /// xxh3-64 of the stored bytes.
    pub checksum: u64,
}

impl BlockMeta {
    /// Whether the block begins with the same region as the block before ends. In a layer it then
    /// continues the list of that region.
    pub(crate) fn follows(&self, before: &BlockMeta) -> bool {
        before.last == self.first
    }
}

/// A shard's entry in the index.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct ShardEntry {
    /// The shard.
    pub shard: u32,
    /// Index of the block with the shard's first region.
    pub first_block: u32,
    /// Number of regions (of entries, in a run).
    pub regions: u64,
    /// Number of states.
    pub states: u64,
}

/// The counts of a shard in the part of a file that one encoder wrote.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct ShardCount {
    /// The shard.
    pub shard: u32,
    /// Number of regions (of entries, in a run).
    pub regions: u64,
    /// Number of states.
    pub states: u64,
}

/// The part of a file that one encoder wrote, for [`LayerWriter::seal`](crate::LayerWriter::seal).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FilePart {
    /// The blocks, in key order.
    pub blocks: Vec<BlockMeta>,
    /// The shards, in order.
    pub shards: Vec<ShardCount>,
    /// Samples of the keys, in order. They are not stored.
    pub samples: Vec<Sample>,
}

/// The index of a whole file, with the samples of its keys.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) blocks: Vec<BlockMeta>,
    pub(crate) shards: Vec<ShardEntry>,
    pub(crate) samples: Vec<Sample>,
}

impl Index {
    /// Joins the parts of all encoders. `repeats` is true if several parts may have the same key, as in a
    /// run; `continues`, if a list may continue in the next block.
    ///
    /// # Errors
    /// A description of the first two blocks that overlap.
    pub(crate) fn join(
        parts: Vec<FilePart>,
        repeats: bool,
        continues: bool,
    ) -> Result<Self, String> {
        let mut continued = if continues { continued(&parts) } else { Vec::new() };
        continued.sort_unstable();
        let mut continued = continued.into_iter();
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_default();
        let FilePart { mut blocks, shards: mut counts, mut samples } = first;
        for part in parts {
            blocks.extend(part.blocks);
            counts.extend(part.shards);
            samples.extend(part.samples);
        }
        blocks.sort_by_key(|block| (block.first, block.last));
        for pair in blocks.windows(2) {
            let (a, b) = (pair[0].last, pair[1].first);
            let is_known = a < b || repeats || continued.next() == Some(a);
            if a > b || !is_known {
                return Err(format!("a block that ends at {a} overlaps one from {b}"));
            }
        }
        let shards = add_up(counts, &blocks);
        Ok(Self { blocks, shards, samples: sample::merge(samples) })
    }
}

/// The keys of lists that continue in the next block of the same part, once for each such block.
fn continued(parts: &[FilePart]) -> Vec<EntryKey> {
    let pairs = parts.iter().flat_map(|part| part.blocks.windows(2));
    pairs.filter(|pair| pair[1].follows(&pair[0])).map(|pair| pair[1].first).collect()
}

/// Adds up the counts of each shard.
fn add_up(mut counts: Vec<ShardCount>, blocks: &[BlockMeta]) -> Vec<ShardEntry> {
    counts.sort_by_key(|count| count.shard);
    let mut shards: Vec<ShardEntry> = Vec::with_capacity(counts.len());
    for ShardCount { shard, regions, states } in counts {
        match shards.last_mut() {
            Some(last) if last.shard == shard => {
                last.regions += regions;
                last.states += states;
            }
            _ => {
                let first_block = first_block_of(blocks, shard);
                shards.push(ShardEntry { shard, first_block, regions, states });
            }
        }
    }
    shards
}

/// Index of the first block with a region of `shard` or of a later one.
pub(crate) fn first_block_of(blocks: &[BlockMeta], shard: u32) -> u32 {
    blocks.partition_point(|block| block.last.shard < shard) as u32
}

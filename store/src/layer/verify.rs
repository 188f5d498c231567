//! Verification of a layer file: every checksum, every key, every count.

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Result, StoreError};
use crate::key::{EntryKey, KeyRange};
use crate::layer::cursor::LayerCursor;
use crate::layer::file::Layer;
use crate::layer::format;
use crate::layer::local::Word;

/// What [`Layer::verify`] counted.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct VerifiedCounts {
    /// Number of regions (of entries, in a run).
    pub regions: u64,
    /// Number of states.
    pub states: u64,
}

impl Layer {
    /// Re-reads the whole file and checks the checksum of every block, without decoding any.
    ///
    /// # Errors
    /// `Corrupt` at the first mismatch; `Read` if the file cannot be read.
    pub fn check_blocks(&self) -> Result<()> {
        let source = &self.data().source;
        let mut buffer = Vec::new();
        for block in self.blocks() {
            let len = block.stored_len as usize;
            let found = xxh3_64(source.read(block.offset, len, &mut buffer)?);
            if found != block.checksum {
                let expected = format!("block checksum {:016x}", block.checksum);
                let found = format!("{found:016x}");
                return Err(StoreError::corrupt(&self.name(), block.offset, expected, found));
            }
        }
        Ok(())
    }

    /// Re-reads the whole file and checks the index, the checksum of every block, the order of keys
    /// and locals, and all counts.
    ///
    /// `visit` gets the words of every region, for instance to recompute the digest, which is not
    /// checked here.
    ///
    /// # Errors
    /// `Corrupt` at the first mismatch; `Read` if the file cannot be read; `Codec` if zstd has no memory.
    pub fn verify(&self, visit: &mut dyn FnMut(EntryKey, &[Word])) -> Result<VerifiedCounts> {
        let name = self.name();
        let layout = format::read_layout(&name, &self.data().source)?;
        let mut cursor = LayerCursor::new()?;
        // Each with its regions and states.
        let mut shards: Vec<(u32, u64, u64)> = Vec::with_capacity(layout.shards.len());
        let mut count = VerifiedCounts::default();
        let width = self.header().width;
        cursor.start(self, KeyRange::ALL)?;
        while let Some(key) = cursor.key() {
            let locals = cursor.locals()?;
            let states = width.count(locals) as u64;
            visit(key, locals);
            match shards.last_mut() {
                Some(last) if last.0 == key.shard => {
                    last.1 += 1;
                    last.2 += states;
                }
                _ => shards.push((key.shard, 1, states)),
            }
            count.regions += 1;
            count.states += states;
            cursor.advance()?;
        }
        let listed: Vec<_> = layout.shards.iter().map(|s| (s.shard, s.regions, s.states)).collect();
        let most = listed.len().max(shards.len());
        if let Some(i) = (0..most).find(|&i| listed.get(i) != shards.get(i)) {
            let offset = layout.shard_offset(i);
            let (expected, found) = (listed.get(i), shards.get(i));
            let expected = format!("(shard, regions, states) {expected:?}");
            return Err(StoreError::corrupt(&name, offset, expected, format!("{found:?}")));
        }
        Ok(count)
    }
}

//! Verification of a layer file: all checksums, keys and counts.

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Result, StoreError};
use crate::key::{EntryKey, KeyRange};
use crate::layer::cursor::LayerCursor;
use crate::layer::file::Layer;
use crate::layer::format;
use crate::layer::local::Word;

/// Counts of a layer by [`Layer::verify`].
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct VerifiedCounts {
    /// Number of regions (of entries, in a run).
    pub regions: u64,
    /// Number of states.
    pub states: u64,
}

impl Layer {
    /// Reads all blocks again and checks the checksum of each, without decoding them.
    ///
    /// # Errors
    /// `Corrupt` at the first mismatch; `Read` if the file cannot be read; `Io` or `NotFound` if a closed
    /// file cannot be opened.
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

    /// Reads the whole file again and checks the index, the checksum of every block, the order of keys
    /// and locals, and all counts. Returns the counts.
    ///
    /// The digest is not checked. `visit` is called with the key and the words of each region; a caller
    /// can compute the digest from them.
    ///
    /// # Errors
    /// `Corrupt` at the first mismatch; `Read` if the file cannot be read; `Io` or `NotFound` if a closed
    /// file cannot be opened; `Codec` if zstd has no memory.
    pub fn verify(&self, visit: &mut dyn FnMut(EntryKey, &[Word])) -> Result<VerifiedCounts> {
        let name = self.name();
        let layout = format::read_layout(&name, &self.data().source)?;
        let mut cursor = LayerCursor::new()?;
        // (shard, regions, states)
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

//! Sorted runs of exits, in memory or in a file, and merging of runs.

use std::sync::Arc;

use crate::memory::prefetch;
use strata_space::ExitEdge;
use strata_store::{EntryKey, KeyRange, Layer, LayerCursor, LocalWidth, Word};

use crate::explicit::kernel::Batches;
use crate::explicit::local_set::{LocalSet, sort_locals};

/// Header of one batch of exits in a run. Sorting moves headers, so they are small.
#[derive(Copy, Clone, Debug)]
struct BatchHeader {
    shard: u32,
    /// High and low half of the region's key.
    region: [u64; 2],
    from: u32,
    len: u32,
    inverse: Option<ExitEdge>,
}

impl BatchHeader {
    #[inline]
    fn key(&self) -> EntryKey {
        let [high, low] = self.region.map(u128::from);
        EntryKey { shard: self.shard, region: high << 64 | low }
    }
}

/// Number of batches by which prefetching is ahead while a run is read.
const PREFETCH: usize = 8;

const HEADER_BYTES: usize = size_of::<BatchHeader>();
const WORD_BYTES: usize = size_of::<Word>();

/// Bits of a batch's position in a run.
const POSITION_BITS: u32 = 32;

/// The most bytes of a run, as a batch stores the position of its locals in 32 bits.
pub(crate) const MAX_BYTES: usize = u32::MAX as usize;

/// Scratch memory for [`MemoryRun::sort`].
#[derive(Debug, Default)]
pub struct SortBuffers {
    keys: Vec<u128>,
    headers: Vec<BatchHeader>,
}

/// Exits in memory: batches of locals, each for one region.
#[derive(Debug, Default)]
pub struct MemoryRun {
    headers: Vec<BatchHeader>,
    words: Vec<Word>,
}

impl MemoryRun {
    /// Adds a batch of exits to one region; `inverse` as for [`ExitSink::send`].
    ///
    /// [`ExitSink::send`]: crate::explicit::ExitSink::send
    #[inline]
    pub fn push(&mut self, key: EntryKey, inverse: Option<ExitEdge>, words: &[Word]) {
        let EntryKey { shard, region } = key;
        let region = [(region >> 64) as u64, region as u64];
        let (from, len) = (self.words.len() as u32, words.len() as u32);
        self.headers.push(BatchHeader { shard, region, from, len, inverse });
        self.words.extend_from_slice(words);
    }

    /// Bytes that the run uses while it is being sorted.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.headers.len() * (2 * HEADER_BYTES + size_of::<u128>()) + self.words.len() * WORD_BYTES
    }

    /// Bytes allocated.
    pub fn capacity_bytes(&self) -> usize {
        self.headers.capacity() * HEADER_BYTES + self.words.capacity() * WORD_BYTES
    }

    /// Bytes in use, of those allocated.
    pub(crate) fn used_bytes(&self) -> usize {
        self.headers.len() * HEADER_BYTES + self.words.len() * WORD_BYTES
    }

    /// Frees unused memory if it is more than `spare` bytes.
    pub(crate) fn shrink(&mut self, spare: usize) {
        if self.capacity_bytes() - self.used_bytes() > spare {
            self.headers.shrink_to_fit();
            self.words.shrink_to_fit();
        }
    }

    /// Whether there are no exits.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Removes all exits and keeps the memory.
    pub fn clear(&mut self) {
        self.headers.clear();
        self.words.clear();
    }

    /// Sorts the batches by region, as reading requires.
    pub fn sort(&mut self, buffers: &mut SortBuffers) {
        let (shards, regions) = self.headers.iter().fold((0, 0), |(shards, regions), header| {
            let EntryKey { shard, region } = header.key();
            (shards | shard, regions | region)
        });
        let region_bits = u128::BITS - regions.leading_zeros();
        if region_bits + (u32::BITS - shards.leading_zeros()) > u128::BITS - POSITION_BITS {
            self.headers.sort_unstable_by_key(|header| (header.shard, header.region));
            return;
        }
        // Most keys are short, so that key and position fit into one integer.
        buffers.keys.clear();
        buffers.keys.extend((0..).zip(&self.headers).map(|(position, header): (u32, _)| {
            let EntryKey { shard, region } = header.key();
            let key = u128::from(shard).unbounded_shl(region_bits) | region;
            key << POSITION_BITS | u128::from(position)
        }));
        buffers.keys.sort_unstable();
        buffers.headers.clear();
        buffers.headers.extend(buffers.keys.iter().map(|key| self.headers[*key as u32 as usize]));
        std::mem::swap(&mut self.headers, &mut buffers.headers);
    }

    /// The batches of the run, in order.
    pub fn batches(&self) -> impl Iterator<Item = (EntryKey, Option<ExitEdge>, &[Word])> {
        self.headers.iter().map(|header| (header.key(), header.inverse, self.batch(header)))
    }

    /// The batches of several runs as one sorted run.
    pub(crate) fn merge(runs: &[MemoryRun], buffers: &mut SortBuffers) -> MemoryRun {
        let mut merged = MemoryRun::default();
        merged.headers.reserve_exact(runs.iter().map(|run| run.headers.len()).sum());
        merged.words.reserve_exact(runs.iter().map(|run| run.words.len()).sum());
        for run in runs {
            run.batches().for_each(|(key, inverse, words)| merged.push(key, inverse, words));
        }
        merged.sort(buffers);
        merged
    }

    /// Calls `visit` once for each region of a sorted run, in order, with the region's locals as words,
    /// sorted and without repetitions.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn for_each_region(
        &self,
        width: LocalWidth,
        mut visit: impl FnMut(EntryKey, &[Word]) -> strata_store::Result<()>,
    ) -> strata_store::Result<()> {
        let (mut all, mut set) = (Vec::new(), LocalSet::default());
        for group in self.headers.chunk_by(|a, b| a.key() == b.key()) {
            all.clear();
            group.iter().for_each(|header| all.extend_from_slice(self.batch(header)));
            sort_locals(width, &mut all, &mut set);
            visit(group[0].key(), &all)?;
        }
        Ok(())
    }

    fn batch(&self, header: &BatchHeader) -> &[Word] {
        &self.words[header.from as usize..][..header.len as usize]
    }
}

/// A sorted run.
#[derive(Clone, Debug)]
pub enum Run {
    /// In memory.
    Memory(Arc<MemoryRun>),
    /// In a file.
    File(Arc<Layer>),
}

/// Reads a range of keys of a run.
pub(crate) enum RunCursor {
    Memory { run: Arc<MemoryRun>, next: usize, end: usize },
    File { cursor: Box<LayerCursor> },
}

impl RunCursor {
    pub(crate) fn new(run: &Run, range: KeyRange) -> strata_store::Result<RunCursor> {
        match run {
            Run::Memory(run) => {
                let at = |key: Option<EntryKey>, default| {
                    key.map_or(default, |key| {
                        run.headers.partition_point(|header| header.key() < key)
                    })
                };
                let (next, end) = (at(range.start, 0), at(range.end, run.headers.len()));
                Ok(RunCursor::Memory { run: run.clone(), next, end })
            }
            Run::File(layer) => {
                let mut cursor = Box::new(LayerCursor::new()?);
                cursor.start(layer, range)?;
                Ok(RunCursor::File { cursor })
            }
        }
    }

    #[inline]
    pub(crate) fn key(&self) -> Option<EntryKey> {
        match self {
            RunCursor::Memory { run, next, end } => (next < end).then(|| run.headers[*next].key()),
            RunCursor::File { cursor } => cursor.key(),
        }
    }

    /// Appends all batches of the region `key` to `out`, and moves to the next region.
    #[inline]
    pub(crate) fn take(&mut self, key: EntryKey, out: &mut Batches) -> strata_store::Result<()> {
        match self {
            RunCursor::Memory { run, next, end } => {
                while next < end && run.headers[*next].key() == key {
                    let header = &run.headers[*next];
                    out.push(header.inverse, run.batch(header));
                    *next += 1;
                    // Sorted batches are scattered in memory, so a later one is prefetched.
                    if let Some(header) = run.headers.get(*next + PREFETCH) {
                        prefetch(&run.words, header.from as usize);
                    }
                }
            }
            RunCursor::File { cursor } => {
                while cursor.key() == Some(key) {
                    // Files do not record inverse edges.
                    out.push(None, cursor.locals()?);
                    cursor.advance()?;
                }
            }
        }
        Ok(())
    }
}

/// Reads a range of keys of several runs as one run. The default has no runs.
#[derive(Default)]
pub(crate) struct MergedRuns {
    /// The cursors, each with its current key.
    runs: Vec<(Option<EntryKey>, RunCursor)>,
    least: Option<EntryKey>,
}

impl MergedRuns {
    pub(crate) fn new(runs: &[Run], range: KeyRange) -> strata_store::Result<MergedRuns> {
        let cursor = |run| RunCursor::new(run, range).map(|cursor| (cursor.key(), cursor));
        let runs: Vec<_> = runs.iter().map(cursor).collect::<strata_store::Result<_>>()?;
        let mut merged = MergedRuns { runs, least: None };
        merged.find_least();
        Ok(merged)
    }

    #[inline]
    fn find_least(&mut self) {
        self.least = self.runs.iter().filter_map(|(key, _)| *key).min();
    }

    /// The least remaining key.
    #[inline]
    pub(crate) fn key(&self) -> Option<EntryKey> {
        self.least
    }

    /// Appends the batches of the region `key` from all runs to `out`.
    #[inline]
    pub(crate) fn take(&mut self, key: EntryKey, out: &mut Batches) -> strata_store::Result<()> {
        if self.least != Some(key) {
            return Ok(());
        }
        for (at, run) in &mut self.runs {
            if *at == Some(key) {
                run.take(key, out)?;
                *at = run.key();
            }
        }
        self.find_least();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Also with keys that leave no bits for a position.
        #[test]
        fn batches_are_read_in_order_and_none_is_lost(
            keys in proptest::collection::vec(
                (prop_oneof![0_u32..4, any::<u32>()], any::<u128>(), 0_u32..128), 0..60,
            ),
            short: bool,
        ) {
            let key = |(shard, region, shift): (u32, u128, u32)| {
                let (shard, shift) = if short { (shard & 63, shift.max(48)) } else { (shard, shift) };
                EntryKey { shard, region: region >> shift }
            };
            let (mut run, mut buffers) = (MemoryRun::default(), SortBuffers::default());
            let mut expected = Vec::new();
            for (i, parts) in (0..).zip(keys) {
                run.push(key(parts), None, &[Word(i), Word(i + 1)]);
                expected.push((key(parts), i));
            }
            run.sort(&mut buffers);
            prop_assert!(run.headers.is_sorted_by_key(BatchHeader::key));
            let mut found: Vec<(EntryKey, u32)> =
                run.headers.iter().map(|header| (header.key(), run.batch(header)[0].0)).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(&found, &expected);
            let used = run.used_bytes();
            run.shrink(used);
            prop_assert!(run.capacity_bytes() <= 2 * used);
            run.shrink(0);
            prop_assert_eq!(run.capacity_bytes(), used);
            let mut left: Vec<(EntryKey, u32)> =
                run.batches().map(|(key, _, words)| (key, words[0].0)).collect();
            left.sort_unstable();
            prop_assert_eq!(left, expected);
        }
    }
}

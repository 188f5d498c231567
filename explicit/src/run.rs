//! Sorted runs of exits: in memory, or spilled to a file.

use std::sync::Arc;

use strata_space::{ExitEdge, Local};
use strata_store::{EntryKey, KeyRange, Layer, LayerCursor};

use crate::Result;
use crate::kernel::Batches;

/// One batch of exits within a run. Sorting moves it about: it is kept small.
#[derive(Copy, Clone, Debug)]
struct Head {
    shard: u32,
    /// The region's high and low half.
    region: [u64; 2],
    from: u32,
    len: u32,
    back: Option<ExitEdge>,
}

impl Head {
    #[inline]
    fn key(&self) -> EntryKey {
        let [high, low] = self.region.map(u128::from);
        EntryKey { shard: self.shard, region: high << 64 | low }
    }
}

/// How many batches ahead of the one that is read memory is asked for.
const AHEAD: usize = 8;

const HEAD_BYTES: usize = size_of::<Head>();
const LOCAL_BYTES: usize = size_of::<Local>();

/// Bits of a batch's place in a run.
const PLACE_BITS: u32 = 32;

/// Memory for sorting runs.
#[derive(Debug, Default)]
pub struct SortBuffers {
    keys: Vec<u128>,
    heads: Vec<Head>,
}

/// Exits in memory: batches of locals, each for one region.
#[derive(Debug, Default)]
pub struct MemoryRun {
    heads: Vec<Head>,
    locals: Vec<Local>,
}

impl MemoryRun {
    /// Adds exits to one region; `back` as of [`ExitSink::send`](crate::ExitSink::send).
    #[inline]
    pub fn push(&mut self, key: EntryKey, back: Option<ExitEdge>, locals: &[Local]) {
        let EntryKey { shard, region } = key;
        let region = [(region >> 64) as u64, region as u64];
        let (from, len) = (self.locals.len() as u32, locals.len() as u32);
        self.heads.push(Head { shard, region, from, len, back });
        self.locals.extend_from_slice(locals);
    }

    /// Bytes in use once it is being sorted.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.heads.len() * (2 * HEAD_BYTES + size_of::<u128>()) + self.locals.len() * LOCAL_BYTES
    }

    /// Bytes allocated.
    pub fn capacity_bytes(&self) -> usize {
        self.heads.capacity() * HEAD_BYTES + self.locals.capacity() * LOCAL_BYTES
    }

    /// Whether there are no exits.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Forgets all exits, keeping the memory.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.locals.clear();
    }

    /// Orders the batches by region. Must come before reading.
    pub fn sort(&mut self, room: &mut SortBuffers) {
        let (shards, regions) = self.heads.iter().fold((0, 0), |(shards, regions), head| {
            let EntryKey { shard, region } = head.key();
            (shards | shard, regions | region)
        });
        let region_bits = u128::BITS - regions.leading_zeros();
        if region_bits + (u32::BITS - shards.leading_zeros()) > u128::BITS - PLACE_BITS {
            self.heads.sort_unstable_by_key(|head| (head.shard, head.region));
            return;
        }
        // Mostly keys are short, and a key with a place behind it is a single number.
        room.keys.clear();
        room.keys.extend((0..).zip(&self.heads).map(|(place, head): (u32, _)| {
            let EntryKey { shard, region } = head.key();
            let key = u128::from(shard).unbounded_shl(region_bits) | region;
            key << PLACE_BITS | u128::from(place)
        }));
        room.keys.sort_unstable();
        room.heads.clear();
        room.heads.extend(room.keys.iter().map(|key| self.heads[*key as u32 as usize]));
        std::mem::swap(&mut self.heads, &mut room.heads);
    }

    /// Calls `visit` once for each region, in order, with its locals sorted and without
    /// repetitions.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn for_each_region(
        &self,
        mut visit: impl FnMut(EntryKey, &[Local]) -> Result<()>,
    ) -> Result<()> {
        let mut all = Vec::new();
        for group in self.heads.chunk_by(|a, b| a.key() == b.key()) {
            all.clear();
            group.iter().for_each(|head| all.extend_from_slice(self.batch(head)));
            all.sort_unstable();
            all.dedup();
            visit(group[0].key(), &all)?;
        }
        Ok(())
    }

    fn batch(&self, head: &Head) -> &[Local] {
        &self.locals[head.from as usize..][..head.len as usize]
    }
}

/// A sorted run.
#[derive(Clone, Debug)]
pub enum Run {
    /// In memory.
    Memory(Arc<MemoryRun>),
    /// In memory, as it came from another process.
    Image(Arc<Layer>),
    /// In a file.
    File(Arc<Layer>),
}

/// Reads a range of keys of a run.
pub(crate) enum RunCursor {
    Memory { run: Arc<MemoryRun>, next: usize, end: usize },
    File { cursor: Box<LayerCursor> },
}

impl RunCursor {
    pub(crate) fn new(run: &Run, range: KeyRange) -> Result<RunCursor> {
        match run {
            Run::Memory(run) => {
                let at = |key: Option<EntryKey>, default| {
                    key.map_or(default, |key| run.heads.partition_point(|head| head.key() < key))
                };
                let (next, end) = (at(range.start, 0), at(range.end, run.heads.len()));
                Ok(RunCursor::Memory { run: run.clone(), next, end })
            }
            Run::Image(layer) | Run::File(layer) => {
                let mut cursor = Box::new(LayerCursor::new()?);
                cursor.start(layer, range)?;
                Ok(RunCursor::File { cursor })
            }
        }
    }

    #[inline]
    pub(crate) fn key(&self) -> Option<EntryKey> {
        match self {
            RunCursor::Memory { run, next, end } => (next < end).then(|| run.heads[*next].key()),
            RunCursor::File { cursor } => cursor.key(),
        }
    }

    /// Appends all batches of the region `key` and goes to the next region.
    #[inline]
    pub(crate) fn take(&mut self, key: EntryKey, out: &mut Batches) -> Result<()> {
        match self {
            RunCursor::Memory { run, next, end } => {
                while next < end && run.heads[*next].key() == key {
                    let head = &run.heads[*next];
                    out.push(head.back, run.batch(head));
                    *next += 1;
                    // Sorting has scattered the batches: ask for one of the next ones now.
                    if let Some(head) = run.heads.get(*next + AHEAD) {
                        std::hint::black_box(run.locals.get(head.from as usize).copied());
                    }
                }
            }
            RunCursor::File { cursor } => {
                while cursor.key() == Some(key) {
                    // Files do not tell where their exits come from.
                    out.push(None, cursor.locals()?);
                    cursor.advance()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// With short keys and with such as leave no room for a place.
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
            let (mut run, mut room) = (MemoryRun::default(), SortBuffers::default());
            let mut expected = Vec::new();
            for (i, parts) in (0..).zip(keys) {
                run.push(key(parts), None, &[i, i + 1]);
                expected.push((key(parts), i));
            }
            run.sort(&mut room);
            prop_assert!(run.heads.is_sorted_by_key(Head::key));
            let mut found: Vec<(EntryKey, u32)> =
                run.heads.iter().map(|head| (head.key(), run.batch(head)[0])).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}

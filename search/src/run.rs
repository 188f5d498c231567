//! Sorted runs of exits: in memory, or spilled to a file.

use std::sync::Arc;

use strata_space::Local;
use strata_store::{EntryKey, Layer, LayerCursor};

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

/// Exits in memory: batches of locals, each for one region.
#[derive(Debug, Default)]
pub struct MemoryRun {
    heads: Vec<Head>,
    locals: Vec<Local>,
}

impl MemoryRun {
    /// Adds exits to one region.
    #[inline]
    pub fn push(&mut self, key: EntryKey, locals: &[Local]) {
        let EntryKey { shard, region } = key;
        let region = [(region >> 64) as u64, region as u64];
        let (from, len) = (self.locals.len() as u32, locals.len() as u32);
        self.heads.push(Head { shard, region, from, len });
        self.locals.extend_from_slice(locals);
    }

    /// Bytes in use.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.heads.len() * HEAD_BYTES + self.locals.len() * LOCAL_BYTES
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
    pub fn sort(&mut self) {
        self.heads.sort_unstable_by_key(|head| (head.shard, head.region));
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
    pub(crate) fn new(
        run: &Run,
        from: Option<EntryKey>,
        to: Option<EntryKey>,
    ) -> Result<RunCursor> {
        match run {
            Run::Memory(run) => {
                let at = |key: Option<EntryKey>, default| {
                    key.map_or(default, |key| run.heads.partition_point(|head| head.key() < key))
                };
                let (next, end) = (at(from, 0), at(to, run.heads.len()));
                Ok(RunCursor::Memory { run: run.clone(), next, end })
            }
            Run::Image(layer) | Run::File(layer) => {
                let mut cursor = Box::new(LayerCursor::new()?);
                cursor.start(layer, from, to)?;
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
                    out.push(run.batch(&run.heads[*next]));
                    *next += 1;
                    // Sorting has scattered the batches: ask for one of the next ones now.
                    if let Some(head) = run.heads.get(*next + AHEAD) {
                        std::hint::black_box(run.locals.get(head.from as usize).copied());
                    }
                }
            }
            RunCursor::File { cursor } => {
                while cursor.key() == Some(key) {
                    out.push(cursor.locals()?);
                    cursor.advance()?;
                }
            }
        }
        Ok(())
    }
}

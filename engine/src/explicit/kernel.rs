//! Region kernels: the interface between a pass over a layer and the code for one kind of space.

use std::time::Duration;

use strata_space::{ExitEdge, LayerStats, Local};
use strata_store::{EntryKey, Layer, List, LocalWidth, StoreError, Word};

use crate::explicit::error::{Error, Result};

/// The inputs of one region.
#[derive(Copy, Clone, Debug)]
pub struct Inputs<'a> {
    /// States of layer d.
    pub current: List<'a>,
    /// States of layer d-1.
    pub previous: List<'a>,
    /// States of the layers before, in lists without common states. Empty if moves can be undone, as in
    /// all spaces with tables: successors are then in layer d-1 or later.
    pub older: &'a [List<'a>],
    /// Exits of layer d into this region.
    pub inbox: &'a Batches,
}

/// The inputs of one region of a space with tables, decoded.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Decoded<'a> {
    /// States of layer d, strictly increasing.
    pub(crate) current: &'a [Local],
    /// States of layer d-1, strictly increasing.
    pub(crate) previous: &'a [Local],
    /// Exits of layer d.
    pub(crate) inbox: &'a Batches,
}

/// Exits into one region, in batches as they arrived. A batch is unsorted and may repeat locals.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    words: Vec<Word>,
    /// For each batch, its end in `words` and its inverse edge.
    ends: Vec<(usize, Option<ExitEdge>)>,
}

impl Batches {
    /// Adds a batch; `inverse` as for [`ExitSink::send`].
    #[inline]
    pub fn push(&mut self, inverse: Option<ExitEdge>, batch: &[Word]) {
        self.words.extend_from_slice(batch);
        self.ends.push((self.words.len(), inverse));
    }

    /// Adds a batch from an iterator.
    pub(crate) fn push_all(
        &mut self,
        inverse: Option<ExitEdge>,
        batch: impl Iterator<Item = Word>,
    ) {
        self.words.extend(batch);
        self.ends.push((self.words.len(), inverse));
    }

    /// Removes all batches and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
    }

    /// The locals of all batches, as words.
    #[inline]
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The locals of all batches, which have one word.
    #[inline]
    pub(crate) fn narrow(&self) -> &[Local] {
        Word::locals(&self.words)
    }

    /// The batches, each with its inverse edge.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (Option<ExitEdge>, &[Word])> {
        let mut from = 0;
        self.ends.iter().map(move |(end, inverse)| {
            (*inverse, &self.words[std::mem::replace(&mut from, *end)..*end])
        })
    }
}

/// Receives the exits of regions.
pub trait ExitSink {
    /// Takes a batch of exits into one region, unsorted and possibly with repetitions.
    ///
    /// `inverse` is the exit edge by which all states of the batch lead back from the target region, if it
    /// is known. That edge only leads to states of the layer before, so the kernel may skip it for the
    /// states of the batch.
    ///
    /// # Errors
    /// If the exits cannot be delivered or spilled.
    fn send(&mut self, target: EntryKey, inverse: Option<ExitEdge>, words: &[Word]) -> Result<()>;

    /// Whether exits are needed. If not, a kernel may count them without sending them.
    fn wants_exits(&self) -> bool {
        true
    }
}

/// Receives the new states and the exits of a pass.
pub trait Output: ExitSink {
    /// Takes the new states of a region. Regions come in key order.
    ///
    /// # Errors
    /// If the states cannot be written.
    fn put(&mut self, at: EntryKey, states: List<'_>) -> Result<()>;

    /// The statistics of the pass, to which the kernel adds each region.
    fn stats(&mut self) -> &mut LayerStats;

    /// The error to return for a region with an input that cannot be decoded.
    fn damaged(&self, at: EntryKey) -> Error;
}

/// Memory limits of one kernel's caches, in bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct KernelMemory {
    /// Limit of the cache of regions: classes, weights and exit edges.
    pub regions: usize,
    /// This kernel's part of the limit of the memo table, which all kernels of an engine share.
    pub memo: usize,
    /// Limit of new expansions for other processes ([`Kernel::take_learned`]).
    pub learned: usize,
}

/// How often the memo table of expansions had what a kernel needed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoUse {
    /// Expansions found in the table.
    pub hits: u64,
    /// Expansions that were looked up, not found and computed. Regions that are not looked up, as wide ones
    /// are not, count neither here nor as hits.
    pub misses: u64,
    /// Time of the misses, from the look-up until the region was expanded, estimated from one of 16.
    pub miss_time: Duration,
}

impl MemoUse {
    /// Adds the figures of another kernel.
    pub fn add(&mut self, other: MemoUse) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.miss_time += other.miss_time;
    }
}

/// Expands regions for one thread.
///
/// A kernel holds caches. Between [`Self::expand`] and [`Self::finish`] it may also hold regions that it
/// has not expanded yet. Outside a pass, dropping a kernel loses only cached data.
pub trait Kernel: Send {
    /// The width of locals.
    fn width(&self) -> LocalWidth;

    /// Takes the inputs of a region. Regions come in key order.
    ///
    /// The kernel may expand the region later, but at the latest in [`Self::finish`]: it computes the
    /// region's new states, passes them to [`Output::put`], records whether the searches from both ends
    /// met, and counts the new states and sends their exits as [`Self::emit`] does.
    ///
    /// # Errors
    /// If an input is damaged or the output fails. The pass has then failed, and the caller must call
    /// [`Self::discard`].
    fn expand(&mut self, at: EntryKey, inputs: Inputs<'_>, output: &mut dyn Output) -> Result<()>;

    /// Expands all regions that are not expanded yet.
    ///
    /// # Errors
    /// Those of [`Self::expand`].
    fn finish(&mut self, output: &mut dyn Output) -> Result<()>;

    /// Drops all regions that are not expanded yet, after a failed pass.
    fn discard(&mut self);

    /// The use of the memo table since the last call. By default there is no table.
    fn take_memo_use(&mut self) -> MemoUse {
        MemoUse::default()
    }

    /// The expansions computed since the last call, as far as their limit permits, for [`Self::learn`] in other
    /// processes. By default there are none.
    fn take_learned(&mut self) -> Vec<u64> {
        Vec::new()
    }

    /// Adds expansions that another process has learned to the memo table. Call it between passes.
    ///
    /// # Errors
    /// [`Error::Learned`] if one is malformed. A well-formed wrong one is found in the passes to come, with
    /// this error, if it is used often: some of those used are computed again.
    fn learn(&mut self, _expansions: &[u64]) -> Result<()> {
        Ok(())
    }

    /// Counts states of a region and their moves, and sends their exits.
    ///
    /// # Errors
    /// If `exits` fails.
    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Word],
        stats: &mut LayerStats,
        exits: &mut dyn ExitSink,
    ) -> Result<()>;
}

/// Checks that the locals of a layer have a width.
///
/// # Errors
/// `Corrupt` if they have another width.
pub fn check_width(layer: &Layer, width: LocalWidth) -> strata_store::Result<()> {
    let found = layer.header().width;
    if found == width {
        return Ok(());
    }
    let [expected, found] = [width, found].map(|width| format!("locals of {} bits", width.bits()));
    // Magic, version, kind, depth and encoding come before the field.
    Err(StoreError::Corrupt { file: layer.name(), offset: 18, expected, found })
}

//! Region kernels: the interface between the structure of a space and the pass over a layer.

use strata_space::{ExitEdge, LayerStats, Local};
use strata_store::{EntryKey, Layer, List, LocalWidth, StoreError, Word};

use crate::explicit::error::{Error, Result};

/// The three inputs of one region.
#[derive(Copy, Clone, Debug)]
pub struct Inputs<'a> {
    /// Layer d.
    pub current: List<'a>,
    /// Layer d-1.
    pub previous: List<'a>,
    /// Parts of the layers before, which have no states in common. Empty where moves can be undone:
    /// no successor is there, and so for all spaces with tables.
    pub older: &'a [List<'a>],
    /// Exits of layer d into this region.
    pub inbox: &'a Batches,
}

/// The three inputs of one region, decoded.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Decoded<'a> {
    /// Layer d, strictly increasing.
    pub(crate) current: &'a [Local],
    /// Layer d-1, strictly increasing.
    pub(crate) previous: &'a [Local],
    /// Exits of layer d.
    pub(crate) inbox: &'a Batches,
}

/// Exits into one region, in the batches in which they arrived. Each batch is unsorted and may
/// repeat locals.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    words: Vec<Word>,
    /// The end of each batch in `words`, and its inverse edge.
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
    /// `inverse` is the exit edge of the target region that leads back to where the whole batch
    /// came from, if it is known. Moves are reversible, so the target region may skip that edge for
    /// the states of the batch: behind it are states of the layer before.
    ///
    /// # Errors
    /// If the exits cannot be delivered, or have to be spilled and the file cannot be written.
    fn send(&mut self, target: EntryKey, inverse: Option<ExitEdge>, words: &[Word]) -> Result<()>;

    /// Whether exits are needed. If not, a kernel may count them only.
    fn wants_exits(&self) -> bool {
        true
    }
}

/// Receives what a pass produces.
pub trait Output: ExitSink {
    /// Takes the new states of a region. Regions come in key order.
    ///
    /// # Errors
    /// If the states cannot be written.
    fn put(&mut self, at: EntryKey, states: List<'_>) -> Result<()>;

    /// The statistics to which each region is added.
    fn stats(&mut self) -> &mut LayerStats;

    /// The error for a region with an input that cannot be decoded.
    fn damaged(&self, at: EntryKey) -> Error;
}

/// Memory limits of one kernel's caches, in bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct KernelMemory {
    /// Cache of regions: classes, weights and exit edges.
    pub regions: usize,
    /// Memo table of expansions. The kernels of an engine share one table; this is one kernel's
    /// part of its limit.
    pub memo: usize,
}

/// Expands regions for one thread.
///
/// A kernel holds caches. Between [`Self::expand`] and [`Self::finish`] it may also hold regions
/// that are not expanded yet. Dropping a kernel outside a pass loses nothing but cached data.
pub trait Kernel: Send {
    /// The width of locals.
    fn width(&self) -> LocalWidth;

    /// Takes the inputs of a region. Regions come in key order.
    ///
    /// At the latest when [`Self::finish`] returns, the kernel has computed the region's new
    /// states, recorded whether two searches met in it, and done the same as [`Self::emit`].
    ///
    /// # Errors
    /// If an input is damaged or the output fails. The pass has failed then, and the caller must
    /// call [`Self::discard`].
    fn expand(&mut self, at: EntryKey, inputs: Inputs<'_>, output: &mut dyn Output) -> Result<()>;

    /// Expands all regions that are not expanded yet.
    ///
    /// # Errors
    /// As for [`Self::expand`].
    fn finish(&mut self, output: &mut dyn Output) -> Result<()>;

    /// Drops all regions that are not expanded yet, after a failed pass.
    fn discard(&mut self);

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

/// Checks that a layer has locals of a width.
///
/// # Errors
/// `Corrupt` if it has others.
pub fn check_width(layer: &Layer, width: LocalWidth) -> strata_store::Result<()> {
    let found = layer.header().width;
    if found == width {
        return Ok(());
    }
    let [expected, found] = [width, found].map(|width| format!("locals of {} bits", width.bits()));
    // Magic, version, kind, depth and encoding come before the field.
    Err(StoreError::Corrupt { file: layer.name(), offset: 18, expected, found })
}

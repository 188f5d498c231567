//! What expands a region: the interface between a space's structure and the pass over a layer.

use strata_space::{ExitEdge, LayerStats, Local};
use strata_store::{EntryKey, List};

use crate::{Error, Result};

/// The three inputs of one region.
#[derive(Copy, Clone, Debug)]
pub struct Inputs<'a> {
    /// Layer d.
    pub current: List<'a>,
    /// Layer d-1.
    pub previous: List<'a>,
    /// Exits of layer d that lead here.
    pub inbox: &'a Batches,
}

/// The same, decoded.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Decoded<'a> {
    /// Layer d, strictly increasing.
    pub(crate) current: &'a [Local],
    /// Layer d-1, strictly increasing.
    pub(crate) previous: &'a [Local],
    /// Exits of layer d.
    pub(crate) inbox: &'a Batches,
}

/// Exits that lead to one region, as they came: each batch in any order and repeated at will.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    locals: Vec<Local>,
    /// Where each batch ends, and by which gate all of it leads back.
    ends: Vec<(usize, Option<ExitEdge>)>,
}

impl Batches {
    /// Adds a batch; `back` as of [`ExitSink::send`].
    #[inline]
    pub fn push(&mut self, back: Option<ExitEdge>, batch: &[Local]) {
        self.locals.extend_from_slice(batch);
        self.ends.push((self.locals.len(), back));
    }

    /// The same.
    pub(crate) fn push_all(&mut self, back: Option<ExitEdge>, batch: impl Iterator<Item = Local>) {
        self.locals.extend(batch);
        self.ends.push((self.locals.len(), back));
    }

    /// Forgets all batches, keeping the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.locals.clear();
        self.ends.clear();
    }

    /// All exits.
    #[inline]
    pub fn locals(&self) -> &[Local] {
        &self.locals
    }

    /// The batches.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (Option<ExitEdge>, &[Local])> {
        let mut from = 0;
        self.ends
            .iter()
            .map(move |(end, back)| (*back, &self.locals[std::mem::replace(&mut from, *end)..*end]))
    }
}

/// Where a kernel sends what leaves a region.
pub trait ExitSink {
    /// Takes exits that lead to one region, in any order and repeated at will. If all of them lead
    /// back to the states that are left by one gate of that region, `back` is that gate: who knows it
    /// need not go that way.
    ///
    /// # Errors
    /// If they have to be spilled and that fails.
    fn send(&mut self, target: EntryKey, back: Option<ExitEdge>, locals: &[Local]) -> Result<()>;
}

/// Takes what a pass makes.
pub trait Output: ExitSink {
    /// Takes a region's new states; regions come in key order.
    ///
    /// # Errors
    /// If they cannot be written.
    fn put(&mut self, at: EntryKey, states: List<'_>) -> Result<()>;

    /// Where what is found is summed up.
    fn stats(&mut self) -> &mut LayerStats;

    /// The error of a region with an input that is not what was written.
    fn damaged(&self, at: EntryKey) -> Error;
}

/// Expands regions for one thread. It holds caches, and between [`Self::expand`] and
/// [`Self::finish`] regions that wait: dropping it then loses nothing but time.
pub trait Kernel: Send {
    /// Takes a region's inputs, in key order. When the kernel comes to it, but before
    /// [`Self::finish`] returns, it computes the new layer's states of the region, notes a meeting
    /// and does what [`Self::emit`] does.
    ///
    /// # Errors
    /// If an input is damaged or the output fails; then the pass has to be given up.
    fn expand(&mut self, at: EntryKey, inputs: Inputs<'_>, output: &mut dyn Output) -> Result<()>;

    /// Computes what waits.
    ///
    /// # Errors
    /// If an input is damaged or the output fails; then the pass has to be given up.
    fn finish(&mut self, output: &mut dyn Output) -> Result<()>;

    /// Forgets the regions that wait: the pass is given up.
    fn discard(&mut self);

    /// Counts a region's new states and their moves, and sends their exits.
    ///
    /// # Errors
    /// If `exits` fails.
    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Local],
        stats: &mut LayerStats,
        exits: &mut dyn ExitSink,
    ) -> Result<()>;
}

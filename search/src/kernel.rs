//! What expands a region: the interface between a space's structure and the pass over a layer.

use strata_space::{Digest, Local};
use strata_store::EntryKey;

use crate::Result;

/// The three inputs of one region.
#[derive(Copy, Clone, Debug)]
pub struct Inputs<'a> {
    /// Layer d, strictly increasing.
    pub current: &'a [Local],
    /// Layer d-1, strictly increasing.
    pub previous: &'a [Local],
    /// Exits of layer d that lead here, in any order and repeated at will.
    pub inbox: &'a [Local],
}

/// Where a kernel sends what leaves a region.
pub trait ExitSink {
    /// Takes exits that lead to one region, in any order and repeated at will.
    ///
    /// # Errors
    /// If they have to be spilled and that fails.
    fn send(&mut self, target: EntryKey, locals: &[Local]) -> Result<()>;
}

/// What a pass found, summed over regions.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Regions with at least one new state.
    pub regions: u64,
    /// New states.
    pub states: u64,
    /// Legal moves of the new states.
    pub generated: u64,
    /// Sum of the new states' weights.
    pub digest: Digest,
    /// Whether some index is in the new layer with one side and in the current one with the
    /// other: two searches have met after an odd number of moves.
    pub odd: bool,
    /// Whether some index is in the new layer with both sides.
    pub even: bool,
    /// Whether the goal state is in the new layer.
    pub found: bool,
}

impl Tally {
    /// Adds what another part of the pass found.
    pub fn add(&mut self, other: &Tally) {
        self.regions += other.regions;
        self.states += other.states;
        self.generated += other.generated;
        self.digest += other.digest;
        self.odd |= other.odd;
        self.even |= other.even;
        self.found |= other.found;
    }
}

/// Expands regions for one thread. It holds caches only: dropping it loses nothing but time.
pub trait Kernel: Send {
    /// Computes the new layer's states of a region (`next`, empty before, strictly increasing
    /// after), notes a meeting in `tally` and then does what [`Self::emit`] does.
    ///
    /// # Errors
    /// If `exits` fails.
    fn expand(
        &mut self,
        at: EntryKey,
        inputs: Inputs<'_>,
        next: &mut Vec<Local>,
        tally: &mut Tally,
        exits: &mut dyn ExitSink,
    ) -> Result<()>;

    /// Counts a region's new states and their moves, and sends their exits.
    ///
    /// # Errors
    /// If `exits` fails.
    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Local],
        tally: &mut Tally,
        exits: &mut dyn ExitSink,
    ) -> Result<()>;
}

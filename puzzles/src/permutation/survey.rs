//! Survey of a puzzle from a file: facts that need no search.

use crate::group::{BigUint, Element, GroupError, Invariants, StabiliserChain};
use strata_space::dense::DenseSize;
use strata_space::{SpaceError, Work};

use super::definition::Definition;
use super::dense::{self, Numbering};
use super::effort;
use super::keys::Keys;
use super::moves::{self, Expanded, Inverses, Metric, Selection};
use super::ranking::MAX_BITS;
use super::symmetry::Canonical;

/// Facts about a definition with selected moves.
#[derive(Debug)]
pub struct Survey {
    /// Names of the moves of a search, with powers.
    pub moves: Vec<String>,
    /// For each move whose name is not written in the usual form, how it is written and why.
    pub clashes: Vec<String>,
    /// The order of the group that the moves generate, or why it was not computed.
    pub order: Result<BigUint, GroupError>,
    /// Whether the order is exact. Otherwise it is a lower bound.
    pub is_exact: bool,
    /// Orbits of slots, and constraints of parity and orientation.
    pub invariants: Invariants,
    /// Whether the order is the number of states: no pieces look alike, no orientation is
    /// irrelevant, and no line of the file makes states illegal.
    pub counts_states: bool,
    /// Bits of the explicit engine's keys; as an error, the bits that it would need if these are more than
    /// [`Self::MAX_KEY_BITS`].
    pub key_bits: Result<u32, u64>,
    /// Whether these keys combine coordinates with transition tables of the moves. Other keys are ranks.
    pub has_coordinates: bool,
    /// The size of the dense form for a search from the solved state, or why there is no dense form.
    pub dense: Result<DenseSize, String>,
    /// The symmetries that a search from the solved state without a goal uses, or why it uses none.
    pub symmetries: Result<Symmetries, String>,
}

/// Numbers of symmetries.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Symmetries {
    /// All symmetries, the identity included.
    pub all: usize,
    /// Symmetries that reverse the sense of turns. Mirror images of a puzzle whose pieces do not show the
    /// sense are not counted.
    pub mirrors: usize,
}

impl Survey {
    /// The size of the dense form, as for an opened puzzle.
    ///
    /// # Errors
    /// Why there is no dense form.
    pub fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        self.dense.as_ref().copied().map_err(|why| dense::refused(why))
    }

    /// Maximum number of bits of a key of the explicit engine.
    pub const MAX_KEY_BITS: u64 = MAX_BITS as u64;

    /// Surveys a definition with the moves in `names` (all moves if None), and with the inverses of
    /// generators if `inverses` is set.
    ///
    /// # Errors
    /// If a name is not that of a move, `inverses` does not apply to the format, or there are too many
    /// moves.
    pub fn of(
        definition: &Definition,
        names: Option<&str>,
        inverses: bool,
    ) -> Result<Survey, SpaceError> {
        Survey::within(definition, names, inverses, &Work::default())
    }

    /// As [`Self::of`], with the steps charged to `work`. An analysis that exceeds its own limit leaves its
    /// facts unknown.
    ///
    /// # Errors
    /// As [`Self::of`]; [`SpaceError::Cancelled`] if the work is cancelled.
    pub fn within(
        definition: &Definition,
        names: Option<&str>,
        inverses: bool,
        work: &Work,
    ) -> Result<Survey, SpaceError> {
        let inverses = if inverses { Inverses::Added } else { Inverses::Optional };
        let selection = Selection { names, metric: Metric::Half, inverses };
        let Expanded { moves: selected, clashes } = moves::expand(definition, selection)?;
        let elements: Vec<Element> = selected.iter().map(|mv| mv.element.clone()).collect();
        let chain = effort::chain(&definition.shape, &elements, work);
        let invariants = Invariants::of(&definition.shape, &elements);
        let keys = Keys::new(definition, &definition.solved, &elements, MAX_BITS);
        let is_moved = |slot: &usize| elements.iter().any(|element| !element.fixes(*slot));
        let all_differ = definition.sets.iter().all(|set| {
            set.kinds.iter().all(|kind| kind.count == 1 && kind.orientations == set.orientations)
                || !set.slots().any(|slot| is_moved(&slot))
        });
        let numbering =
            Numbering::new(definition, &definition.solved, &selected, Some(&chain), work);
        let dense = numbering.and_then(|numbering| numbering.size(definition, false, false));
        let symmetries = Canonical::new(definition, &definition.solved, &elements, &[], work);
        let symmetries = symmetries.map(|canonical| Symmetries {
            all: canonical.symmetries(),
            mirrors: canonical.mirrors(),
        });
        work.spend(0).map_err(SpaceError::unfinished("the survey"))?;
        Ok(Survey {
            dense,
            symmetries,
            clashes,
            moves: selected.into_iter().map(|mv| mv.name).collect(),
            is_exact: chain.as_ref().is_ok_and(StabiliserChain::is_verified),
            order: chain.map(|chain| chain.order()),
            invariants,
            counts_states: all_differ && definition.illegal.is_empty(),
            has_coordinates: keys.as_ref().is_ok_and(|keys| keys.coordinates().is_some()),
            key_bits: keys.map(|keys| keys.bits()),
        })
    }
}

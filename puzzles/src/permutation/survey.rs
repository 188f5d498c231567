//! What is known about a puzzle from a file without a search.

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
    /// Of moves whose names are not written in the usual form: how, and why.
    pub clashes: Vec<String>,
    /// The order of the group that the moves generate.
    pub order: Result<BigUint, GroupError>,
    /// Whether the order is exact. Otherwise it is a lower bound.
    pub is_exact: bool,
    /// Orbits of slots, and constraints of parity and orientation.
    pub invariants: Invariants,
    /// Whether the order is the number of states: no pieces look alike, no orientation is
    /// irrelevant, and no line of the file makes states illegal.
    pub counts_states: bool,
    /// Bits of the explicit engine's keys; the bits that it would need, if they are too many.
    pub key_bits: Result<u32, u64>,
    /// Whether these keys are made of coordinates on which moves act by table. Others are ranks.
    pub has_coordinates: bool,
    /// The size of the dense form from the solved state, or why there is none.
    pub dense: Result<DenseSize, String>,
    /// The symmetries that a search from the solved state without a goal uses, or why it uses none.
    pub symmetries: Result<Symmetries, String>,
}

/// How many symmetries there are.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Symmetries {
    /// All of them, the identity included.
    pub all: usize,
    /// Those that change the sense of turns. Mirror images of a puzzle in which no piece shows the
    /// sense are not among them.
    pub mirrors: usize,
}

impl Survey {
    /// The size of the dense form, as an opened puzzle tells it.
    ///
    /// # Errors
    /// Why there is none.
    pub fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        self.dense.as_ref().copied().map_err(|why| dense::refused(why))
    }

    /// Most bits of a key of the explicit engine.
    pub const MAX_KEY_BITS: u64 = MAX_BITS as u64;

    /// Surveys a definition with these moves, all if there are none, and the inverses of generators
    /// if `inverses` is set.
    ///
    /// # Errors
    /// If a name is not that of a move, or there are too many moves.
    pub fn of(
        definition: &Definition,
        names: Option<&str>,
        inverses: bool,
    ) -> Result<Survey, SpaceError> {
        Survey::within(definition, names, inverses, &Work::default())
    }

    /// As [`Self::of`], as part of some work. What takes more steps than its analysis may is left open.
    ///
    /// # Errors
    /// As [`Self::of`]; [`SpaceError::Cancelled`].
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

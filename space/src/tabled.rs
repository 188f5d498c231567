//! Spaces whose moves are table look-ups by local index.

use std::hash::Hash;

use crate::digest::Weight;
use crate::error::SpaceError;
use crate::state::{Local, RegionKey, State};
use crate::state_space::StateSpace;

/// A kind of move of a [`Tabled`] space, from 0.
pub type MoveKind = u8;

/// The largest number of move kinds of a [`Tabled`] space: masks of them are bytes, and the cached targets
/// of a region have room for seven.
pub const MAX_MOVE_KINDS: MoveKind = 7;

/// The largest number of local indices of a [`Tabled`] space: sets of indices are bit sets of fixed
/// size, which must fit into the processor's cache.
pub const MAX_INDICES: u32 = (1 << 17) - 1;

/// The largest number of exit edges of a [`Tabled`] space. `ExitEdge::MAX` means no edge.
pub const MAX_EXIT_EDGES: ExitEdge = ExitEdge::MAX - 1;

/// An exit edge of a region of a [`Tabled`] space, from 0.
///
/// An exit edge stands for moves of one kind from one region to one other region. A scattering edge
/// leads to several regions, see [`Tabled::first_scattering_edge`].
pub type ExitEdge = u16;

/// The legal moves of a state: masks with one bit for each [`MoveKind`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct LegalMoves {
    /// Moves that stay inside the region.
    pub inside: u8,
    /// Moves into another region.
    pub exits: u8,
}

/// Successors of a state inside its region.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct InsideSuccessors {
    /// The indices of the successors. Unused places hold the index of the state itself. If the class has
    /// [`Tabled::links`], only the first two places hold the index before and the index after.
    pub first: [u32; 4],
    /// Whether there are more than four. If so, `first` is not valid, and [`Tabled::neighbour`] gives the
    /// successor for each legal inside move.
    pub more: bool,
}

/// Weights of the images of local parts, by index. A state stands for one position per image.
#[derive(Copy, Clone, Debug)]
pub enum LocalWeights<'a> {
    /// No state has a second image.
    One(&'a [[Weight; 1]]),
    /// States may have a second image.
    Two(&'a [[Weight; 2]]),
}

impl LocalWeights<'_> {
    /// The weights of the images of an index.
    #[must_use]
    pub fn images(&self, index: u32) -> [Weight; 2] {
        match self {
            Self::One(weights) => [weights[index as usize][0], Weight::ZERO],
            Self::Two(weights) => weights[index as usize],
        }
    }
}

/// Target of an exit edge.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct EdgeTarget {
    /// The canonical region behind the edge.
    pub region: RegionKey,
    /// The symmetry that made it canonical, in the space's own numbering.
    pub symmetry: u8,
}

/// A space whose local parts have the same moves in all regions, up to what a region's **class**
/// forbids.
///
/// The space keeps tables by local index, and engines read them in their inner loops:
/// [`Self::legal_moves`] and [`Self::inside_successors`] for every state of every layer,
/// [`Self::exit_edge`] and [`Self::transfer`] for every exit. These must be look-ups in tables that
/// fit into the processor's cache.
///
/// Sides are symmetric: what holds for a local with side 0 holds for side 1 with all side bits
/// flipped.
pub trait Tabled: StateSpace {
    /// Number of move kinds, at most [`MAX_MOVE_KINDS`].
    const MOVE_KINDS: MoveKind;

    /// The class of a region, which determines the legal moves of its local parts.
    type Class: Copy + Eq + Hash + Send + Sync;

    /// Number of local indices, at most [`MAX_INDICES`]. Locals are below twice this number.
    fn indices(&self) -> u32;

    /// The class of a region.
    fn class(&self, region: RegionKey) -> Self::Class;

    /// The legal moves of an index that is legal in the class.
    fn legal_moves(&self, class: &Self::Class, index: u32) -> LegalMoves;

    /// The inside successors of an index that is legal in the class.
    fn inside_successors(&self, class: &Self::Class, index: u32) -> InsideSuccessors;

    /// The set of indices that inside moves connect with the index before, in both directions: bit `i` is
    /// set if moves lead from `i` to `i - 1` and back.
    ///
    /// Local parts may be numbered so that many moves change the index by one. Engines make such
    /// moves for 64 indices at once. None, the default, if the class has no such moves.
    fn links(&self, _class: &Self::Class) -> Option<&[u64]> {
        None
    }

    /// The index behind a legal inside move.
    fn neighbour(&self, index: u32, kind: MoveKind) -> u32;

    /// Number of exit edges of a region, at most [`MAX_EXIT_EDGES`]. By default every move kind has
    /// an edge of its own.
    fn exit_edges(&self) -> ExitEdge {
        Self::MOVE_KINDS.into()
    }

    /// The exit edge of a legal exit move. All states of an edge use the same move kind.
    #[inline(always)]
    fn exit_edge(&self, _index: u32, kind: MoveKind) -> ExitEdge {
        kind.into()
    }

    /// The move kind of an exit edge. By default the inverse of the default of [`Self::exit_edge`].
    #[inline(always)]
    fn exit_kind(&self, edge: ExitEdge) -> MoveKind {
        edge as MoveKind
    }

    /// The first *scattering* edge; all later edges scatter, too. Such an edge leads each state to a
    /// region that depends on the state. [`Self::scatter`] computes it, instead of
    /// [`Self::edge_target`] and [`Self::transfer`], and takes much more time. By default there are no
    /// scattering edges.
    fn first_scattering_edge(&self) -> ExitEdge {
        self.exit_edges()
    }

    /// Appends the states to which a scattering edge leads, one for each of `locals`, in their order.
    fn scatter(
        &self,
        _region: RegionKey,
        _edge: ExitEdge,
        _locals: &[Local],
        _out: &mut Vec<State>,
    ) {
    }

    /// Sum of the weights that are not products of a region's and a local part's weight, over the positions
    /// for which these states of a region stand. By default all weights are such products.
    fn unfactored_weight(&self, _region: RegionKey, _locals: &[Local]) -> Weight {
        Weight::ZERO
    }

    /// Number of the positions that [`Self::unfactored_weight`] sums up.
    fn unfactored_positions(&self, _region: RegionKey, _locals: &[Local]) -> u64 {
        0
    }

    /// The local, in the target region, of a state with side 0 that leaves by an exit edge. `symmetry`
    /// makes the target region canonical and has been applied to the local.
    fn transfer(&self, index: u32, edge: ExitEdge, symmetry: u8) -> Local;

    /// The exit edge of the target region that leads back along `edge`, if it is known.
    ///
    /// Moves can be undone, so the inverse move of an arrival only leads back to the layer before.
    /// Engines skip it, which halves the number of exits. None by default.
    fn inverse_exit(&self, _edge: ExitEdge, _symmetry: u8) -> Option<ExitEdge> {
        None
    }

    /// Whether symmetries fix the regions of a class. Locals in them need [`Self::canonicalise`].
    fn needs_canonicalising(&self, class: &Self::Class) -> bool;

    /// The canonical image of a local under the symmetries that fix its region.
    fn canonicalise(&self, class: &Self::Class, local: Local) -> Local;

    /// Whether both images of a state are the same position.
    fn is_fixed(&self, class: &Self::Class, index: u32) -> bool;

    /// The target of an exit edge that at least one state of `region` has.
    ///
    /// Engines cache targets if there are at most [`MAX_MOVE_KINDS`] edges. Otherwise they call
    /// this for every batch of exits, and it should take little time.
    fn edge_target(&self, region: RegionKey, edge: ExitEdge) -> EdgeTarget;

    /// Weights of a region's images, by side.
    ///
    /// A state of side `s` stands for up to two positions, its images `[s][0]` and `[s][1]`. A
    /// position's weight is the product of its region's and its local part's weight.
    /// [`Weight::ZERO`] means no image. All states of a region, of either side, have the same number
    /// of images, and stand for as many positions; a [fixed](Self::is_fixed) state stands for one.
    fn region_weights(&self, region: RegionKey) -> [[Weight; 2]; 2];

    /// Weights of the images of all local parts of a side.
    fn local_weights(&self, side: usize) -> LocalWeights<'_>;

    /// Memory of the tables, in bytes.
    fn table_bytes(&self) -> usize;
}

/// Checks a space against the limits of [`Tabled`].
///
/// # Errors
/// [`SpaceError::OutOfRange`] if it has more than [`MAX_INDICES`] local indices,
/// [`MAX_MOVE_KINDS`] move kinds or [`MAX_EXIT_EDGES`] exit edges, or no index or move kind. No exit
/// edge is allowed, for a space of a single region. [`SpaceError::NoForm`] if moves cannot be undone:
/// engines compare the states of such a space with two layers only.
pub fn check_tabled<S: Tabled>(space: &S) -> Result<(), SpaceError> {
    SpaceError::check("the number of local indices", space.indices(), 1, MAX_INDICES)?;
    SpaceError::check("the number of move kinds", S::MOVE_KINDS.into(), 1, MAX_MOVE_KINDS.into())?;
    if !space.is_undirected() {
        let why = "a space with tables has moves that cannot be undone: it must be a KeySpace";
        return Err(SpaceError::NoForm { why: why.into() });
    }
    let edges = space.exit_edges().into();
    SpaceError::check("the number of exit edges", edges, 0, MAX_EXIT_EDGES.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Finish;

    /// A space of which only the sizes are defined.
    struct Sizes {
        indices: u32,
        exit_edges: ExitEdge,
        is_undirected: bool,
    }

    impl StateSpace for Sizes {
        fn is_undirected(&self) -> bool {
            self.is_undirected
        }

        fn seeds(&self) -> Vec<State> {
            Vec::new()
        }
        fn finish(&self) -> Finish {
            Finish::Exhausted
        }
        fn moves(&self, _: State, _: &mut Vec<State>) {}
        fn shard_hash(&self, _: RegionKey) -> u64 {
            0
        }
        fn weight(&self, _: State) -> Weight {
            Weight::ZERO
        }
        fn text(&self, _: State) -> String {
            String::new()
        }
    }

    impl Tabled for Sizes {
        const MOVE_KINDS: MoveKind = 1;
        type Class = ();

        fn indices(&self) -> u32 {
            self.indices
        }
        fn class(&self, _: RegionKey) {}
        fn legal_moves(&self, (): &(), _: u32) -> LegalMoves {
            LegalMoves::default()
        }
        fn inside_successors(&self, (): &(), index: u32) -> InsideSuccessors {
            InsideSuccessors { first: [index; 4], more: false }
        }
        fn neighbour(&self, index: u32, _: MoveKind) -> u32 {
            index
        }
        fn exit_edges(&self) -> ExitEdge {
            self.exit_edges
        }
        fn transfer(&self, index: u32, _: ExitEdge, _: u8) -> Local {
            index << 1
        }
        fn needs_canonicalising(&self, (): &()) -> bool {
            false
        }
        fn canonicalise(&self, (): &(), local: Local) -> Local {
            local
        }
        fn is_fixed(&self, (): &(), _: u32) -> bool {
            false
        }
        fn edge_target(&self, region: RegionKey, _: ExitEdge) -> EdgeTarget {
            EdgeTarget { region, symmetry: 0 }
        }
        fn region_weights(&self, _: RegionKey) -> [[Weight; 2]; 2] {
            [[Weight::ZERO; 2]; 2]
        }
        fn local_weights(&self, _: usize) -> LocalWeights<'_> {
            LocalWeights::One(&[])
        }
        fn table_bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn spaces_beyond_a_limit_are_refused() {
        let check =
            |indices, exit_edges| check_tabled(&Sizes { indices, exit_edges, is_undirected: true });
        assert_eq!(check(MAX_INDICES, 9), Ok(()));
        let error = check(MAX_INDICES + 1, 9).unwrap_err();
        let expected = "the number of local indices must be between 1 and 131071, not 131072";
        assert_eq!(error.to_string(), expected);
        assert_eq!(check(1, 0), Ok(()), "a single region");
        assert!(check(0, 9).is_err());
        assert!(check(9, ExitEdge::MAX).is_err());
        let directed = Sizes { indices: 9, exit_edges: 9, is_undirected: false };
        assert!(check_tabled(&directed).unwrap_err().to_string().contains("cannot be undone"));
    }
}

//! Symmetries of a set of moves: relabellings of slots and orientations that map moves to moves.

mod conjugation;
mod orbits;
mod pieces;
mod products;
mod search;

use strata_space::Work;

use crate::group::element::Element;
use crate::group::error::GroupError;
use crate::group::shape::Shape;

pub use conjugation::Symmetry;
pub use pieces::Pieces;
pub(crate) use products::Products;
pub use search::SymmetryLimits;

impl Symmetry {
    /// All symmetries of some moves that also keep the pieces: they map pieces that look alike to pieces
    /// that look alike, and the pieces forbidden in a slot to those forbidden in its image.
    ///
    /// Of several relabellings with the same effect on the moves, one is returned. The identity is the
    /// first. As permutations of the moves, the symmetries are a group.
    ///
    /// # Errors
    /// If a move or the pieces are not of the shape, a move appears twice, or a limit is exceeded.
    pub fn all(
        shape: &Shape,
        moves: &[Element],
        pieces: &Pieces,
        limits: SymmetryLimits,
    ) -> Result<Vec<Symmetry>, GroupError> {
        Symmetry::all_within(shape, moves, pieces, limits, &Work::unlimited())
    }

    /// As [`Self::all`], with the steps charged to `work`.
    ///
    /// # Errors
    /// As [`Self::all`]; [`GroupError::Stopped`] if the work has no steps left or is cancelled.
    pub fn all_within(
        shape: &Shape,
        moves: &[Element],
        pieces: &Pieces,
        limits: SymmetryLimits,
        work: &Work,
    ) -> Result<Vec<Symmetry>, GroupError> {
        if !pieces.fit(shape) || moves.iter().any(|element| !shape.has(element)) {
            return Err(GroupError::OtherShape);
        }
        search::Search::new(shape, moves, pieces, limits, work)?.run()
    }
}

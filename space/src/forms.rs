//! Forms of a puzzle: the types in which the explicit and the symbolic engine take it.
//!
//! A [`Puzzle`](crate::Puzzle) names them as its associated types.

use crate::error::SpaceError;
use crate::keyed::{KeySpace, Keyed};
use crate::nested::NestedSpace;
use crate::state_space::StateSpace;
use crate::symmetry::check_tables;
use crate::tabled::{Tabled, check_tabled};

/// The form of a puzzle for the explicit engine: [`Keyed`] if it is a [`KeySpace`], [`WithTables`] if it
/// is [`Tabled`].
pub trait ExplicitForm: Sized + Send + Sync + 'static {
    /// The puzzle.
    type Puzzle;

    /// Makes the form of a puzzle.
    ///
    /// # Errors
    /// [`SpaceError`] if its keys do not fit, or its tables are refused.
    fn of(puzzle: Self::Puzzle) -> Result<Self, SpaceError>;

    /// The puzzle.
    fn puzzle(&self) -> &Self::Puzzle;

    /// The state space.
    fn states(&self) -> &dyn StateSpace;

    /// Memory of its tables, in bytes.
    fn table_bytes(&self) -> usize;

    /// Passes the form to the method of `visitor` for its kind.
    fn visit<V: ExplicitVisitor>(self, visitor: V) -> V::Output;
}

/// Receives an [`ExplicitForm`], with a method for each kind.
pub trait ExplicitVisitor {
    /// The result of a visit.
    type Output;

    /// Visits a puzzle whose states are keys.
    fn keyed<S: KeySpace>(self, space: Keyed<S>) -> Self::Output;

    /// Visits a puzzle with tables.
    fn tabled<S: Tabled>(self, space: S) -> Self::Output;
}

impl<S: KeySpace> ExplicitForm for Keyed<S> {
    type Puzzle = S;

    fn of(puzzle: S) -> Result<Keyed<S>, SpaceError> {
        Keyed::new(puzzle)
    }

    fn puzzle(&self) -> &S {
        self.space()
    }

    fn states(&self) -> &dyn StateSpace {
        self
    }

    fn table_bytes(&self) -> usize {
        0
    }

    fn visit<V: ExplicitVisitor>(self, visitor: V) -> V::Output {
        visitor.keyed(self)
    }
}

/// The [`ExplicitForm`] of a puzzle with tables, which have been checked.
#[derive(Clone, Debug)]
pub struct WithTables<S>(S);

impl<S: Tabled> ExplicitForm for WithTables<S> {
    type Puzzle = S;

    fn of(puzzle: S) -> Result<WithTables<S>, SpaceError> {
        check_tabled(&puzzle)?;
        check_tables(&puzzle)?;
        Ok(WithTables(puzzle))
    }

    fn puzzle(&self) -> &S {
        &self.0
    }

    fn states(&self) -> &dyn StateSpace {
        &self.0
    }

    fn table_bytes(&self) -> usize {
        self.0.table_bytes()
    }

    fn visit<V: ExplicitVisitor>(self, visitor: V) -> V::Output {
        visitor.tabled(self.0)
    }
}

/// The form of a puzzle for the symbolic engine: a [`NestedSpace`], or [`NoNested`].
pub trait SymbolicForm: Sized {
    /// Passes the form to `visitor`.
    fn visit<V: SymbolicVisitor>(self, visitor: V) -> V::Output;
}

/// Receives a [`SymbolicForm`].
pub trait SymbolicVisitor {
    /// The result of a visit.
    type Output;

    /// Visits the nested form of a puzzle.
    fn nested<S: NestedSpace>(self, space: S) -> Self::Output;
}

impl<S: NestedSpace> SymbolicForm for S {
    fn visit<V: SymbolicVisitor>(self, visitor: V) -> V::Output {
        visitor.nested(self)
    }
}

/// The [`SymbolicForm`] of puzzles without a nested form. The type has no values.
#[derive(Clone, Copy, Debug)]
pub enum NoNested {}

impl SymbolicForm for NoNested {
    fn visit<V: SymbolicVisitor>(self, _: V) -> V::Output {
        match self {}
    }
}

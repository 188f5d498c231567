//! The forms of a puzzle that engines take, as types that a [`Puzzle`](crate::Puzzle) names.

use crate::error::SpaceError;
use crate::keyed::{KeySpace, Keyed};
use crate::nested::NestedSpace;
use crate::state_space::StateSpace;
use crate::symmetry::check_tables;
use crate::tabled::{Tabled, check_tabled};

/// A puzzle as the explicit engine takes it: [`Keyed`] if it is a [`KeySpace`], [`WithTables`] if it is
/// [`Tabled`].
pub trait ExplicitForm: Sized + Send + Sync + 'static {
    /// The puzzle.
    type Puzzle;

    /// Takes the puzzle over.
    ///
    /// # Errors
    /// If its keys do not fit, or its tables are refused.
    fn of(puzzle: Self::Puzzle) -> Result<Self, SpaceError>;

    /// The puzzle.
    fn puzzle(&self) -> &Self::Puzzle;

    /// Its states.
    fn states(&self) -> &dyn StateSpace;

    /// Memory of its tables, in bytes.
    fn table_bytes(&self) -> usize;

    /// Passes the form to `visitor` by its kind.
    fn visit<V: ExplicitVisitor>(self, visitor: V) -> V::Output;
}

/// Receives an [`ExplicitForm`] by its kind.
pub trait ExplicitVisitor {
    /// What is made of the form.
    type Output;

    /// A puzzle of keys.
    fn keyed<S: KeySpace>(self, space: Keyed<S>) -> Self::Output;

    /// A puzzle with tables.
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

/// A puzzle as the symbolic engine takes it: a [`NestedSpace`], or [`NoNested`].
pub trait SymbolicForm: Sized {
    /// Passes the form to `visitor`.
    fn visit<V: SymbolicVisitor>(self, visitor: V) -> V::Output;
}

/// Receives a [`SymbolicForm`].
pub trait SymbolicVisitor {
    /// What is made of the form.
    type Output;

    /// The nested form of a puzzle.
    fn nested<S: NestedSpace>(self, space: S) -> Self::Output;
}

impl<S: NestedSpace> SymbolicForm for S {
    fn visit<V: SymbolicVisitor>(self, visitor: V) -> V::Output {
        visitor.nested(self)
    }
}

/// The [`SymbolicForm`] of puzzles without one. There is no value of it.
#[derive(Clone, Copy, Debug)]
pub enum NoNested {}

impl SymbolicForm for NoNested {
    fn visit<V: SymbolicVisitor>(self, _: V) -> V::Output {
        match self {}
    }
}

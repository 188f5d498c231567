//! Type-erased spaces: identity, engines, and names of moves.

use std::fmt;
use std::sync::Arc;

use strata_engine::explicit::Engine;
use strata_engine::symbolic::{AnySearch, Options, StepError};
use strata_space::dense::{DenseSize, DenseSpace};
use strata_space::{
    Chain, DrawingTheme, Finish, KeySpace, Keyed, NestedPuzzle, Parameter, Parameters, Puzzle,
    SearchSize, SpaceError, StateSpace, Tabled, check_nested, check_tabled, check_tables,
};

/// A puzzle that has been opened, ready for any engine that takes it.
pub struct Space(Box<dyn AnySpace>);

/// The nested form of a puzzle that has one.
pub struct NestedForm(Box<OpenSearch>);

/// Opens a symbolic search.
type OpenSearch = dyn FnOnce(Options) -> Result<Box<dyn AnySearch>, StepError> + Send;

impl NestedForm {
    fn new<P: NestedPuzzle>(puzzle: &P) -> Result<NestedForm, SpaceError> {
        let nested = puzzle.nested()?;
        check_nested(&nested)?;
        Ok(NestedForm(Box::new(|options| strata_engine::symbolic::open(nested, options))))
    }

    /// A symbolic search that has made layer 0.
    ///
    /// # Errors
    /// If layer 0 does not fit the memory.
    pub fn open(self, options: Options) -> Result<Box<dyn AnySearch>, StepError> {
        (self.0)(options)
    }
}

impl fmt::Debug for NestedForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NestedForm").finish_non_exhaustive()
    }
}

impl Space {
    /// A puzzle of keys, for the explicit engine.
    ///
    /// # Errors
    /// [`SpaceError::KeyTooWide`] if its keys do not fit.
    pub fn keyed<P: Puzzle + KeySpace>(puzzle: P) -> Result<Space, SpaceError> {
        Ok(Space::of(Keyed::new(puzzle)?, no_nested_form::<P>))
    }

    /// A puzzle of keys with a nested form, for both engines.
    ///
    /// # Errors
    /// [`SpaceError::KeyTooWide`] if its keys do not fit.
    pub fn nested_keyed<P: NestedPuzzle + KeySpace>(puzzle: P) -> Result<Space, SpaceError> {
        Ok(Space::of(Keyed::new(puzzle)?, NestedForm::new::<P>))
    }

    /// A puzzle with tables, for the explicit engine.
    ///
    /// # Errors
    /// If the tables are outside the limits of [`check_tabled`], or [`check_tables`] refuses them.
    pub fn tabled<P: Puzzle + Tabled>(puzzle: P) -> Result<Space, SpaceError> {
        check_tabled(&puzzle)?;
        check_tables(&puzzle)?;
        Ok(Space::of(WithTables(puzzle), no_nested_form::<P>))
    }

    /// A puzzle with tables and a nested form, for both engines.
    ///
    /// # Errors
    /// If the tables are outside the limits of [`check_tabled`], or [`check_tables`] refuses them.
    pub fn nested_tabled<P: NestedPuzzle + Tabled>(puzzle: P) -> Result<Space, SpaceError> {
        check_tabled(&puzzle)?;
        check_tables(&puzzle)?;
        Ok(Space::of(WithTables(puzzle), NestedForm::new::<P>))
    }

    fn of<E: Explicit>(explicit: E, nest: Nest<E::Puzzle>) -> Space {
        Space(Box::new(Opened { explicit, nest }))
    }

    /// The puzzle's name.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// All parameters with the values in force: the identity of a search.
    pub fn parameters(&self) -> Parameters {
        self.0.parameters()
    }

    /// Name and size in one word, as in `panex-6`.
    pub fn label(&self) -> String {
        self.0.label()
    }

    /// Name of the length of a shortest solution, as in `X(6)`.
    pub fn distance_name(&self) -> String {
        self.0.distance_name()
    }

    /// Memory of the space's own tables, in bytes.
    pub fn table_bytes(&self) -> usize {
        self.0.table_bytes()
    }

    /// When the search is over.
    pub fn finish(&self) -> Finish {
        self.state_space().finish()
    }

    /// What is known of the size of the search.
    pub fn search_size(&self) -> SearchSize {
        self.0.search_size()
    }

    /// Whether the search has a goal: one that was given, even if no state matches it. Without, and if
    /// the whole space is asked for, the search ends when all reachable states are found.
    pub fn has_goal(&self) -> bool {
        !self.is_exhaustive()
            && (self.ends().is_some() || !matches!(self.finish(), Finish::Exhausted))
    }

    /// Whether the whole space is listed although there may be a goal.
    pub fn is_exhaustive(&self) -> bool {
        Parameter::EXHAUST.is_on(&self.parameters())
    }

    /// Depth at which the search is expected to end at the latest, where a bound is known.
    pub fn expected_layers(&self) -> Option<u32> {
        self.search_size().layers
    }

    /// The space as functions of states.
    pub fn state_space(&self) -> &dyn StateSpace {
        self.0.state_space()
    }

    /// Start and goal in text form, if the parameters `start` and `goal` accept any state.
    pub fn ends(&self) -> Option<[String; 2]> {
        self.0.ends()
    }

    /// Parameters with which a part of a path is searched from both of its ends.
    pub fn both_ends(&self) -> &'static [(&'static str, &'static str)] {
        self.0.both_ends()
    }

    /// Whether commands print paths as named moves. [`Self::moves`] works either way.
    pub fn names_moves(&self) -> bool {
        self.0.names_moves()
    }

    /// Names of the moves along a chain of stored states, or None if it does not lead from the
    /// start to the goal. A chain without states from the goal may end anywhere.
    pub fn moves(&self, chain: &Chain) -> Option<Vec<String>> {
        self.0.moves(chain)
    }

    /// Positions in text form, each one move from the one before, for which the states of a chain
    /// stand, if the puzzle finds them.
    pub fn positions(&self, chain: &Chain) -> Option<Vec<String>> {
        self.0.positions(chain)
    }

    /// Names of the moves between consecutive positions of a path in text form; None if two of them
    /// are not one move apart.
    pub fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        self.0.moves_between(path)
    }

    /// Drawing of a position in text form, as an SVG document; None if the puzzle has no drawings, or
    /// the text is no position.
    pub fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String> {
        self.0.drawing(position, theme)
    }

    /// The explicit engine for the space.
    pub fn engine(self, shards: u32) -> Engine {
        self.0.engine(shards)
    }

    /// The nested form, for the symbolic engine.
    ///
    /// # Errors
    /// If there is none for this puzzle or its parameters.
    pub fn nested(&self) -> Result<NestedForm, SpaceError> {
        self.0.nested()
    }

    /// Checks that the explicit engine can search the space.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check_explicit(&self) -> Result<(), SpaceError> {
        self.0.check_explicit()
    }

    /// What may make a search better, in one line, such as an option that adds moves.
    pub fn advice(&self) -> Option<String> {
        self.0.advice()
    }

    /// The size of the dense form.
    ///
    /// # Errors
    /// If there is none for this puzzle or its parameters.
    pub fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        self.0.dense_size()
    }

    /// The dense form, for the dense engine. Its tables are built at every call.
    ///
    /// # Errors
    /// If there is none for this puzzle or its parameters.
    pub fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        self.0.dense()
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Space").field(&self.name()).field(&self.label()).finish()
    }
}

/// [`Space`] without the type of its puzzle.
trait AnySpace: Send + Sync {
    fn name(&self) -> &'static str;
    fn parameters(&self) -> Parameters;
    fn label(&self) -> String;
    fn distance_name(&self) -> String;
    fn table_bytes(&self) -> usize;
    fn search_size(&self) -> SearchSize;
    fn state_space(&self) -> &dyn StateSpace;
    fn ends(&self) -> Option<[String; 2]>;
    fn both_ends(&self) -> &'static [(&'static str, &'static str)];
    fn names_moves(&self) -> bool;
    fn moves(&self, chain: &Chain) -> Option<Vec<String>>;
    fn positions(&self, chain: &Chain) -> Option<Vec<String>>;
    fn moves_between(&self, path: &[String]) -> Option<Vec<String>>;
    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String>;
    fn engine(self: Box<Self>, shards: u32) -> Engine;
    fn nested(&self) -> Result<NestedForm, SpaceError>;
    fn check_explicit(&self) -> Result<(), SpaceError>;
    fn advice(&self) -> Option<String>;
    fn dense_size(&self) -> Result<DenseSize, SpaceError>;
    fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError>;
}

/// The form in which the explicit engine takes a puzzle.
trait Explicit: Send + Sync + 'static {
    type Puzzle: Puzzle;

    fn puzzle(&self) -> &Self::Puzzle;
    fn state_space(&self) -> &dyn StateSpace;
    fn table_bytes(&self) -> usize;
    fn engine(self, shards: u32) -> Engine;
}

impl<P: Puzzle + KeySpace> Explicit for Keyed<P> {
    type Puzzle = P;

    fn puzzle(&self) -> &P {
        self.space()
    }

    fn state_space(&self) -> &dyn StateSpace {
        self
    }

    fn table_bytes(&self) -> usize {
        0
    }

    fn engine(self, shards: u32) -> Engine {
        Engine::keyed(self, shards)
    }
}

/// A puzzle with tables.
struct WithTables<P>(P);

impl<P: Puzzle + Tabled> Explicit for WithTables<P> {
    type Puzzle = P;

    fn puzzle(&self) -> &P {
        &self.0
    }

    fn state_space(&self) -> &dyn StateSpace {
        &self.0
    }

    fn table_bytes(&self) -> usize {
        self.0.table_bytes()
    }

    fn engine(self, shards: u32) -> Engine {
        Engine::tabled(self.0, shards)
    }
}

/// Makes the nested form of a puzzle.
type Nest<P> = fn(&P) -> Result<NestedForm, SpaceError>;

/// The [`Nest`] of a puzzle without a nested form.
fn no_nested_form<P: Puzzle>(_: &P) -> Result<NestedForm, SpaceError> {
    Err(SpaceError::NoForm { why: P::no_nested_form() })
}

/// An opened puzzle of a known type.
struct Opened<E: Explicit> {
    explicit: E,
    nest: Nest<E::Puzzle>,
}

impl<E: Explicit> AnySpace for Opened<E> {
    fn name(&self) -> &'static str {
        E::Puzzle::NAME
    }

    fn parameters(&self) -> Parameters {
        self.explicit.puzzle().parameters()
    }

    fn label(&self) -> String {
        self.explicit.puzzle().label()
    }

    fn distance_name(&self) -> String {
        self.explicit.puzzle().distance_name()
    }

    fn table_bytes(&self) -> usize {
        self.explicit.table_bytes()
    }

    fn search_size(&self) -> SearchSize {
        self.explicit.puzzle().search_size()
    }

    fn state_space(&self) -> &dyn StateSpace {
        self.explicit.state_space()
    }

    fn ends(&self) -> Option<[String; 2]> {
        self.explicit.puzzle().ends()
    }

    fn both_ends(&self) -> &'static [(&'static str, &'static str)] {
        E::Puzzle::BOTH_ENDS
    }

    fn names_moves(&self) -> bool {
        E::Puzzle::NAMES_MOVES
    }

    fn moves(&self, chain: &Chain) -> Option<Vec<String>> {
        self.explicit.puzzle().moves_along(self.explicit.state_space(), chain)
    }

    fn positions(&self, chain: &Chain) -> Option<Vec<String>> {
        self.explicit.puzzle().positions_along(self.explicit.state_space(), chain)
    }

    fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        self.explicit.puzzle().moves_between(path)
    }

    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String> {
        self.explicit.puzzle().drawing(position, theme)
    }

    fn engine(self: Box<Self>, shards: u32) -> Engine {
        self.explicit.engine(shards)
    }

    fn nested(&self) -> Result<NestedForm, SpaceError> {
        if !self.state_space().is_undirected() {
            let why = "some moves cannot be undone, and the symbolic engine keeps two layers only";
            return Err(SpaceError::NoForm { why: why.into() });
        }
        (self.nest)(self.explicit.puzzle())
    }

    fn check_explicit(&self) -> Result<(), SpaceError> {
        self.explicit.puzzle().check_explicit()
    }

    fn advice(&self) -> Option<String> {
        self.explicit.puzzle().advice()
    }

    fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        self.explicit.puzzle().dense_size()
    }

    fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        self.explicit.puzzle().dense()
    }
}

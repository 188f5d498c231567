//! Type-erased spaces: identity, engines, and names of moves.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use strata_engine::explicit::Engine;
use strata_engine::symbolic::{AnySearch, Options, StepError};
use strata_space::dense::{DenseSize, DenseSpace};
use strata_space::nested::NestedSpace;
use strata_space::{
    Chain, DrawingTheme, ExplicitForm, ExplicitVisitor, Finish, KeySpace, Keyed, Parameter,
    Parameters, Puzzle, SearchSize, SpaceError, StateSpace, SymbolicForm, SymbolicVisitor, Tabled,
    check_nested,
};

/// An opened puzzle, ready for any engine that supports it. Its methods are those of [`OpenedPuzzle`], and
/// some that follow from them.
pub struct Space(Box<dyn OpenedPuzzle>);

impl Space {
    /// Opens a puzzle.
    ///
    /// # Errors
    /// If the puzzle's keys do not fit, or its tables are refused.
    pub fn new<P: Puzzle>(puzzle: P) -> Result<Space, SpaceError> {
        Ok(Space(Box::new(Opened::<P> { states: P::States::of(puzzle)? })))
    }

    /// The condition that ends the search.
    pub fn finish(&self) -> Finish {
        self.state_space().finish()
    }

    /// Whether the search has a goal, even if no state matches it. Without a goal, and with `exhaust`, the
    /// search ends when all reachable states are found.
    pub fn has_goal(&self) -> bool {
        !self.is_exhaustive()
            && (self.ends().is_some() || !matches!(self.finish(), Finish::Exhausted))
    }

    /// Whether the parameter `exhaust` is on: the whole space is listed, whether or not there is a goal.
    pub fn is_exhaustive(&self) -> bool {
        Parameter::EXHAUST.is_on(&self.parameters())
    }

    /// Depth at which the search is expected to end at the latest, where a bound is known.
    pub fn expected_layers(&self) -> Option<u32> {
        self.search_size().layers
    }

    /// The explicit engine for the space.
    pub fn engine(self, shards: u32) -> Engine {
        self.0.engine(shards)
    }
}

impl Deref for Space {
    type Target = dyn OpenedPuzzle;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Space").field(&self.name()).field(&self.label()).finish()
    }
}

/// A [`Puzzle`] that has been opened, without its type.
pub trait OpenedPuzzle: Send + Sync {
    /// The puzzle's name.
    fn name(&self) -> &'static str;

    /// All parameters with the values in force: the identity of a search.
    fn parameters(&self) -> Parameters;

    /// Name and size in one word, as in `panex-6`.
    fn label(&self) -> String;

    /// Name of the length of a shortest solution, as in `X(6)`.
    fn distance_name(&self) -> String;

    /// Memory of the space's own tables, in bytes.
    fn table_bytes(&self) -> usize;

    /// The size of the search, as far as it is known.
    fn search_size(&self) -> SearchSize;

    /// The space as functions of states.
    fn state_space(&self) -> &dyn StateSpace;

    /// Start and goal in text form, if the parameters `start` and `goal` accept any state.
    fn ends(&self) -> Option<[String; 2]>;

    /// Values of parameters with which a part of a path is searched from both of its ends.
    fn both_ends(&self) -> &'static [(&'static str, &'static str)];

    /// Whether commands print paths as named moves. [`Self::moves`] works either way.
    fn names_moves(&self) -> bool;

    /// Names of the moves along a chain of stored states; None if the chain does not lead from the
    /// start to the goal. A chain without states from the goal may end anywhere.
    fn moves(&self, chain: &Chain) -> Option<Vec<String>>;

    /// The positions of a path through the states of a chain, in text form, each one move from the one
    /// before; None if the puzzle does not find them.
    fn positions(&self, chain: &Chain) -> Option<Vec<String>>;

    /// Names of the moves between consecutive positions of a path in text form; None if two of them
    /// are not one move apart.
    fn moves_between(&self, path: &[String]) -> Option<Vec<String>>;

    /// The text form of a position given in any notation that the puzzle takes.
    ///
    /// # Errors
    /// If it is not a position, or the puzzle takes none.
    fn position_text(&self, given: &str) -> Result<String, SpaceError>;

    /// Drawing of a position in text form, as an SVG document; None if the puzzle has no drawings, or
    /// the text is not a position.
    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String>;

    /// The explicit engine for the puzzle.
    fn engine(self: Box<Self>, shards: u32) -> Engine;

    /// The nested form, for the symbolic engine.
    ///
    /// # Errors
    /// If this puzzle with its parameters has no nested form.
    fn nested(&self) -> Result<NestedForm, SpaceError>;

    /// Checks that the explicit engine can search the space.
    ///
    /// # Errors
    /// Why it cannot.
    fn check_explicit(&self) -> Result<(), SpaceError>;

    /// A hint in one line that may improve the search, such as an option that adds moves.
    fn advice(&self) -> Option<String>;

    /// The size of the dense form.
    ///
    /// # Errors
    /// If this puzzle with its parameters has no dense form.
    fn dense_size(&self) -> Result<DenseSize, SpaceError>;

    /// The dense form, for the dense engine. Its tables are built at every call.
    ///
    /// # Errors
    /// If this puzzle with its parameters has no dense form.
    fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError>;
}

/// An opened puzzle of a known type.
struct Opened<P: Puzzle> {
    states: P::States,
}

impl<P: Puzzle> OpenedPuzzle for Opened<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn parameters(&self) -> Parameters {
        self.states.puzzle().parameters()
    }

    fn label(&self) -> String {
        self.states.puzzle().label()
    }

    fn distance_name(&self) -> String {
        self.states.puzzle().distance_name()
    }

    fn table_bytes(&self) -> usize {
        self.states.table_bytes()
    }

    fn search_size(&self) -> SearchSize {
        self.states.puzzle().search_size()
    }

    fn state_space(&self) -> &dyn StateSpace {
        self.states.states()
    }

    fn ends(&self) -> Option<[String; 2]> {
        self.states.puzzle().ends()
    }

    fn both_ends(&self) -> &'static [(&'static str, &'static str)] {
        P::BOTH_ENDS
    }

    fn names_moves(&self) -> bool {
        P::NAMES_MOVES
    }

    fn moves(&self, chain: &Chain) -> Option<Vec<String>> {
        self.states.puzzle().moves_along(self.states.states(), chain)
    }

    fn positions(&self, chain: &Chain) -> Option<Vec<String>> {
        self.states.puzzle().positions_along(self.states.states(), chain)
    }

    fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        self.states.puzzle().moves_between(path)
    }

    fn position_text(&self, given: &str) -> Result<String, SpaceError> {
        self.states.puzzle().position_text(given)
    }

    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String> {
        self.states.puzzle().drawing(position, theme)
    }

    fn engine(self: Box<Self>, shards: u32) -> Engine {
        self.states.visit(EngineMaker { shards })
    }

    fn nested(&self) -> Result<NestedForm, SpaceError> {
        if !self.state_space().is_undirected() {
            let why = "some moves cannot be undone, and the symbolic engine keeps two layers only";
            return Err(SpaceError::NoForm { why: why.into() });
        }
        self.states.puzzle().nested()?.visit(NestedMaker)
    }

    fn check_explicit(&self) -> Result<(), SpaceError> {
        self.states.puzzle().check_explicit()
    }

    fn advice(&self) -> Option<String> {
        self.states.puzzle().advice()
    }

    fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        self.states.puzzle().dense_size()
    }

    fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        self.states.puzzle().dense()
    }
}

/// Visitor that constructs the explicit engine of a space.
struct EngineMaker {
    shards: u32,
}

impl ExplicitVisitor for EngineMaker {
    type Output = Engine;

    fn keyed<S: KeySpace>(self, space: Keyed<S>) -> Engine {
        Engine::keyed(space, self.shards)
    }

    fn tabled<S: Tabled>(self, space: S) -> Engine {
        Engine::tabled(space, self.shards)
    }
}

/// The nested form of a puzzle that has one.
pub struct NestedForm(Box<OpenSearch>);

/// Opens a symbolic search.
type OpenSearch = dyn FnOnce(Options) -> Result<Box<dyn AnySearch>, StepError> + Send;

impl NestedForm {
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

/// Visitor that checks a nested space and wraps it.
struct NestedMaker;

impl SymbolicVisitor for NestedMaker {
    type Output = Result<NestedForm, SpaceError>;

    fn nested<S: NestedSpace>(self, space: S) -> Self::Output {
        check_nested(&space)?;
        Ok(NestedForm(Box::new(|options| strata_engine::symbolic::open(space, options))))
    }
}

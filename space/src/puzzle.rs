//! Puzzles: state spaces that commands and job records open by name and parameters.

use std::sync::Arc;

use crate::dense::{DenseSize, DenseSpace};
use crate::drawing::DrawingTheme;
use crate::error::SpaceError;
use crate::forms::{ExplicitForm, SymbolicForm};
use crate::parameter::{Parameter, ParameterReader, Parameters};
use crate::size::SearchSize;
use crate::state::Chain;
use crate::state_space::StateSpace;
use crate::work::Work;

/// A state space that is opened by name and parameters.
///
/// It defines a form for each engine: [`Self::States`] for the explicit one, [`Self::Nested`] for the
/// symbolic one; [`Self::dense`] returns the form for the dense engine.
///
/// ```
/// use strata_space::{
///     KeySpace, Keyed, NoNested, Parameter, ParameterReader, Parameters, Puzzle, Seed, SpaceError,
/// };
///
/// /// A walk on the integers 0..=limit.
/// struct Line {
///     limit: u32,
/// }
///
/// impl KeySpace for Line {
///     type Key = u64;
///     fn seeds(&self) -> Vec<Seed> {
///         vec![Seed::start(0)]
///     }
///     fn key_bits(&self) -> u32 {
///         32
///     }
///     fn successors(&self, key: u64, out: &mut Vec<u64>) {
///         out.extend(key.checked_sub(1));
///         out.extend((key < self.limit.into()).then_some(key + 1));
///     }
///     fn text(&self, key: u64) -> String {
///         key.to_string()
///     }
/// }
///
/// impl Puzzle for Line {
///     type States = Keyed<Line>;
///     type Nested = NoNested;
///     const NAME: &'static str = "line";
///     const SUMMARY: &'static str = "a walk on the integers from 0 to LIMIT";
///     const PARAMETERS: &'static [Parameter] =
///         &[Parameter::positional("limit", "the last integer")];
///
///     fn open(parameters: &Parameters) -> Result<Line, SpaceError> {
///         let limit = Line::reader(parameters).number("limit")?.unwrap_or_default();
///         Ok(Line { limit })
///     }
///
///     fn parameters(&self) -> Parameters {
///         [("limit".to_owned(), self.limit.to_string())].into()
///     }
/// }
///
/// let line = Line { limit: 10 };
/// assert_eq!(line.label(), "line-10");
/// assert_eq!(line.distance_name(), "distance(line-10)");
/// ```
pub trait Puzzle: Sized + Send + Sync + 'static {
    /// The form for the explicit engine: [`Keyed<Self>`](crate::Keyed) or
    /// [`WithTables<Self>`](crate::WithTables).
    type States: ExplicitForm<Puzzle = Self>;

    /// The nested form, for the symbolic engine; [`NoNested`](crate::NoNested) if there is none.
    type Nested: SymbolicForm + Send + 'static;

    /// The name in commands and job records: letters, digits and hyphens.
    const NAME: &'static str;

    /// One line that says what it is.
    const SUMMARY: &'static str;

    /// All parameters, positional ones first.
    const PARAMETERS: &'static [Parameter];

    /// Whether commands print paths as named moves. [`Self::moves_along`] works either way.
    const NAMES_MOVES: bool = true;

    /// Parameter values, as (name, value), with which a search between two positions runs from both
    /// ends. The search for paths by midpoints uses them.
    const BOTH_ENDS: &'static [(&'static str, &'static str)] = &[];

    /// Opens the puzzle. Missing parameters take their defaults. The caller has refused unknown ones.
    ///
    /// # Errors
    /// [`SpaceError`] if a parameter without a default is missing, or a value is invalid.
    fn open(parameters: &Parameters) -> Result<Self, SpaceError>;

    /// Opens the puzzle within a budget of steps, and stops when the budget is cancelled. By default it
    /// ignores the budget, which suits puzzles whose parameters are a few small numbers.
    ///
    /// # Errors
    /// Those of [`Self::open`], [`SpaceError::TooMuchWork`], and [`SpaceError::Cancelled`].
    fn open_within(parameters: &Parameters, _work: &Work) -> Result<Self, SpaceError> {
        Self::open(parameters)
    }

    /// Every parameter with its effective value. They identify a search: [`Self::open`] with them returns
    /// an equal puzzle.
    fn parameters(&self) -> Parameters;

    /// Name and size in one word, for names of jobs and folders. By default the name and the positional
    /// values, joined by hyphens: `panex-6`.
    fn label(&self) -> String {
        let values = self.parameters();
        let positional = Self::PARAMETERS.iter().filter(|parameter| parameter.positional);
        let values = positional.filter_map(|parameter| values.get(parameter.name));
        let words: Vec<&str> =
            std::iter::once(Self::NAME).chain(values.map(String::as_str)).collect();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
        words.join("-").chars().map(plain).collect()
    }

    /// Name of the length of a shortest solution, such as `X(6)`. By default `distance(LABEL)`.
    fn distance_name(&self) -> String {
        format!("distance({})", self.label())
    }

    /// The size of the search, as far as it is known, for forecasts of time, memory and disk. By default
    /// nothing is known.
    fn search_size(&self) -> SearchSize {
        SearchSize::default()
    }

    /// Start and goal in text form, if the parameters `start` and `goal` accept any state. Paths can then
    /// be found by midpoints, without keeping layers. None by default.
    fn ends(&self) -> Option<[String; 2]> {
        None
    }

    /// Names of the moves along a chain of stored states; None if it does not lead from the start to the
    /// goal. A chain with an empty [`Chain::from_goal`] may end anywhere. `space` is the space of the
    /// chain's states.
    ///
    /// By default it passes the result of [`Self::positions_along`] to [`Self::moves_between`].
    fn moves_along(&self, space: &dyn StateSpace, chain: &Chain) -> Option<Vec<String>> {
        self.moves_between(&self.positions_along(space, chain)?)
    }

    /// The path of positions for which the stored states of a chain stand: texts, each one move after the
    /// one before. None if there is no such path. Solutions are drawn from it.
    ///
    /// By default these are the texts of the states. If a stored state stands for several positions, the
    /// puzzle must find the one on the path. Unless [`Self::moves_along`] is overridden, the position of
    /// the last state of [`Chain::from_start`] must be the text of that state.
    fn positions_along(&self, space: &dyn StateSpace, chain: &Chain) -> Option<Vec<String>> {
        let states = chain.from_start.iter();
        // The searches met in the last state of both parts, which is there twice.
        let back = chain.from_goal.split_last().map_or(&[][..], |(_, back)| back);
        Some(states.chain(back.iter().rev()).map(|state| space.text(*state)).collect())
    }

    /// Names of the moves along a path of positions in text form; None if a position is not one move
    /// after the one before. By default a move has the text of the position that it leads to as its name.
    fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        path.split_first().map(|(_, moves)| moves.to_vec())
    }

    /// The text form of a position given in any notation that the puzzle takes, such as the moves that lead
    /// to it. By default it takes none. A puzzle that overrides this reads texts of its states, too:
    /// [`StateSpace::parse`].
    ///
    /// # Errors
    /// [`SpaceError`] if it is not a position.
    fn position_text(&self, _given: &str) -> Result<String, SpaceError> {
        let why = format!("{} does not read positions", Self::NAME);
        Err(SpaceError::NoForm { why })
    }

    /// Drawing of a position given in text form: an SVG document without scripts and styles, of the same
    /// size for all positions of the puzzle, with the text form as its title. None if `position` is
    /// invalid. By default there are no drawings.
    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String> {
        let _ = (position, theme);
        None
    }

    /// Makes the nested form, which the symbolic engine searches. By default there is none.
    ///
    /// # Errors
    /// [`SpaceError`] if there is no nested form for these parameters.
    fn nested(&self) -> Result<Self::Nested, SpaceError> {
        let why = format!("{} has no nested form, which the symbolic engine needs", Self::NAME);
        Err(SpaceError::NoForm { why })
    }

    /// Checks that the explicit engine can search the puzzle. By default it can.
    ///
    /// # Errors
    /// [`SpaceError`] if it cannot, for instance because a move has no inverse, or there are too many
    /// keys.
    fn check_explicit(&self) -> Result<(), SpaceError> {
        Ok(())
    }

    /// Advice in one line: how other parameters would improve a search. None by default.
    fn advice(&self) -> Option<String> {
        None
    }

    /// Size of the form that [`Self::dense`] would make. By default there is none.
    ///
    /// # Errors
    /// [`SpaceError`] if there is no dense form for these parameters.
    fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        Err(no_dense_form(Self::NAME))
    }

    /// Makes the dense form, which the dense engine searches. By default there is none.
    ///
    /// # Errors
    /// Those of [`Self::dense_size`].
    fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        Err(no_dense_form(Self::NAME))
    }

    /// Typed access to parameters given for this puzzle.
    fn reader(parameters: &Parameters) -> ParameterReader<'_> {
        ParameterReader::new(Self::NAME, Self::PARAMETERS, parameters)
    }
}

/// The error if the dense engine is requested and the puzzle has no dense form.
fn no_dense_form(puzzle: &str) -> SpaceError {
    SpaceError::NoForm { why: format!("{puzzle} has no dense form, which the dense engine needs") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeySpace, Keyed, NoNested, RegionKey, Seed, State};

    struct Word {
        word: String,
    }

    impl Puzzle for Word {
        type States = Keyed<Word>;
        type Nested = NoNested;

        const NAME: &'static str = "word";
        const SUMMARY: &'static str = "a word";
        const PARAMETERS: &'static [Parameter] = &[
            Parameter::positional("word", "any"),
            Parameter::optional("case", "lower", "lower or upper"),
        ];

        fn open(parameters: &Parameters) -> Result<Word, SpaceError> {
            Ok(Word { word: Word::reader(parameters).required("word")?.to_owned() })
        }

        fn parameters(&self) -> Parameters {
            [("word".to_owned(), self.word.clone()), ("case".to_owned(), "lower".to_owned())].into()
        }
    }

    impl KeySpace for Word {
        type Key = u64;
        fn seeds(&self) -> Vec<Seed> {
            vec![Seed::start(0)]
        }
        fn key_bits(&self) -> u32 {
            8
        }
        fn successors(&self, _: u64, _: &mut Vec<u64>) {}
        fn text(&self, key: u64) -> String {
            format!("at {key}")
        }
    }

    #[test]
    fn labels_are_valid_file_names() {
        let word = Word { word: "a b/../é".to_owned() };
        assert_eq!(word.label(), "word-a-b-..--");
        assert_eq!(word.distance_name(), "distance(word-a-b-..--)");
    }

    #[test]
    fn the_error_for_a_missing_form_names_the_puzzle_and_the_engine() {
        let word = Word { word: String::new() };
        let expected = "word has no dense form, which the dense engine needs";
        assert_eq!(word.dense_size().unwrap_err().to_string(), expected);
        assert_eq!(word.dense().unwrap_err().to_string(), expected);
        let expected = "word has no nested form, which the symbolic engine needs";
        assert_eq!(word.nested().unwrap_err().to_string(), expected);
    }

    #[test]
    fn moves_are_named_by_the_positions_they_lead_to() {
        let space = Keyed::new(Word { word: String::new() }).unwrap();
        let state = |key: u64| State {
            region: RegionKey((key >> 4).into()),
            local: u128::from(key & 15) << 1,
        };
        let moves = |from_start: &[u64], from_goal: &[u64]| {
            let states = |keys: &[u64]| keys.iter().map(|key| state(*key)).collect();
            let chain = Chain { from_start: states(from_start), from_goal: states(from_goal) };
            space.space().moves_along(&space, &chain)
        };
        assert_eq!(moves(&[1, 2, 17], &[]), Some(vec!["at 2".to_owned(), "at 17".to_owned()]));
        assert_eq!(moves(&[1, 2], &[3, 2]), Some(vec!["at 2".to_owned(), "at 3".to_owned()]));
        assert_eq!(moves(&[], &[]), None);
    }
}

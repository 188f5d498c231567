//! Permutation puzzles from files, by name and parameters.

use strata_space::{
    Key192, KeySpace, Keyed, NoNested, Parameter, ParameterReader, Parameters, Puzzle, SpaceError,
    Work, file_content, file_value,
};

use super::definition::Definition;
use super::delegate::{key_space_of_graph, puzzle_methods_of_graph};
use super::goals::{SOLVED, goal_lines};
use super::graph::Graph;
use super::moves::{Inverses, Metric, Selection};
use super::word::RankKey;

/// The word for all moves of the file.
const ALL: &str = "all";

/// The word for no goal.
const NONE: &str = "none";

/// The parameter `start` of permutation puzzles.
pub(super) const START: Parameter = {
    let mut start = Parameter::start(
        SOLVED,
        "where to begin: a state such as 'CORNERS 2 1 3 / 0 0 0; EDGES 1 2', or a sequence of \
         moves from the solved state",
        "",
    );
    // The general help of this flag has examples of other puzzles.
    start.flag.example = None;
    start
};

/// The parameter `goal` of permutation puzzles.
pub(super) const GOAL: Parameter = Parameter::goal(
    NONE,
    "where to end: a state, in which ? is any piece or turn, a sequence of moves from the solved \
     state, or @FILE with one of them a line",
)
.or_file();

/// The parameter `symmetry` of permutation puzzles.
pub(super) const SYMMETRY: Parameter = Parameter::symmetry(
    "off",
    "on: store one of the states that symmetries of the moves map to one another; off: every state",
);

/// Reads the parameter `symmetry`.
///
/// # Errors
/// If the value is neither `on` nor `off`.
pub(super) fn symmetry(read: ParameterReader<'_>) -> Result<bool, SpaceError> {
    Ok(read.choice("symmetry", &["off", "on"])? == Some(1))
}

/// The parameter `exhaust` of permutation puzzles.
pub(super) const EXHAUST: Parameter = Parameter {
    default: Some("true without a goal"),
    help: "list all states that can be reached",
    ..Parameter::EXHAUST
};

/// A permutation puzzle that a file defines, with keys of up to 128 bits: see [`PermutationPuzzle`].
pub type Permutation = PermutationPuzzle<u128>;

/// A permutation puzzle that a file defines, with slower keys of up to 192 bits.
pub type WidePermutation = PermutationPuzzle<Key192>;

/// A permutation puzzle that a file defines, for the explicit engine.
///
/// States have keys of type `K`. If `K` is too narrow for the number of states,
/// [`Puzzle::check_explicit`] returns [`SpaceError::KeyTooWide`].
///
/// ```
/// use strata_puzzles::permutation::Permutation;
/// use strata_space::{KeySpace, Puzzle, file_value};
///
/// let file = file_value("a = (1,2,3)\nb = (1,2)(3,4)\n");
/// let given = [("file", file.as_str()), ("inverses", "true")];
/// let given = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
/// let puzzle = Permutation::open(&given)?;
/// let mut next = Vec::new();
/// puzzle.successors(puzzle.seeds()[0].key(), &mut next);
/// let next: Vec<String> = next.into_iter().map(|key| puzzle.text(key)).collect();
/// assert_eq!(next, ["3 1 2 4", "2 1 4 3", "2 3 1 4"]);
/// # Ok::<(), strata_space::SpaceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PermutationPuzzle<K> {
    graph: Graph<K>,
    content: String,
    moves: Option<String>,
    metric: Metric,
    inverses: bool,
    ends: Ends,
}

/// Start and goal as parameters.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    start: Option<String>,
    goal: Option<String>,
}

impl Ends {
    /// Reads the parameters.
    ///
    /// # Errors
    /// If there is a goal, and `exhaust` is given.
    pub(super) fn read(read: ParameterReader<'_>) -> Result<Ends, SpaceError> {
        let given = |name: &str, default: &str| {
            read.text(name).map(str::trim).filter(|text| *text != default).map(str::to_owned)
        };
        let ends = Ends { start: given("start", SOLVED), goal: given("goal", NONE) };
        if read.switch("exhaust")? && ends.goal.is_some() {
            return Err(SpaceError::Conflict {
                name: "exhaust".into(),
                why: "the search ends at the goal".into(),
            });
        }
        Ok(ends)
    }

    pub(super) fn start(&self) -> Option<&str> {
        self.start.as_deref()
    }

    pub(super) fn goal(&self) -> Option<&str> {
        self.goal.as_deref()
    }

    /// Replaces sequences of moves by the texts of the states to which they lead.
    pub(super) fn of<K: RankKey>(self, graph: &Graph<K>) -> Ends {
        let goal = match (self.goal, graph.ends()) {
            (Some(_), Some([_, goal])) => Some(goal),
            (goal, _) => goal,
        };
        Ends { start: self.start.map(|_| graph.start_text()), goal }
    }

    /// The parameters.
    pub(super) fn parameters(&self) -> [(String, String); 3] {
        let value = |text: &Option<String>, default: &str| text.clone().unwrap_or(default.into());
        [
            ("start".into(), value(&self.start, SOLVED)),
            ("goal".into(), value(&self.goal, NONE)),
            ("exhaust".into(), self.goal.is_none().to_string()),
        ]
    }

    /// The name of the distance in reports: `distance(START to GOAL)`, or `distance(LABEL)` without a goal.
    pub(super) fn distance_name(&self, label: &str) -> String {
        match &self.goal {
            Some(goal) => {
                let (start, lines) = (self.start().unwrap_or(SOLVED), goal_lines(goal));
                match &lines[..] {
                    [goal] => format!("distance({start} to {goal})"),
                    lines => format!("distance({start} to any of {} goals)", lines.len()),
                }
            }
            None => format!("distance({label})"),
        }
    }
}

impl<K: RankKey> PermutationPuzzle<K> {
    /// The definition in the file.
    pub fn definition(&self) -> &Definition {
        self.graph.definition()
    }

    /// The puzzle with keys of another type.
    ///
    /// # Errors
    /// If no state can match the goal.
    pub fn with_keys<W: RankKey>(self) -> Result<PermutationPuzzle<W>, SpaceError> {
        let PermutationPuzzle { graph, content, moves, metric, inverses, ends } = self;
        let graph = graph.with_keys::<W>()?;
        Ok(PermutationPuzzle { graph, content, moves, metric, inverses, ends })
    }

    /// Names of the moves.
    pub fn move_names(&self) -> impl Iterator<Item = &str> {
        self.graph.moves().iter().map(|mv| mv.name.as_str())
    }
}

impl<K: RankKey> Puzzle for PermutationPuzzle<K> {
    type States = Keyed<PermutationPuzzle<K>>;
    type Nested = NoNested;

    const NAME: &'static str = "puzzle";

    const SUMMARY: &'static str = "a permutation puzzle from a file: .tws, ksolve .def, KPuzzle JSON or a list of permutations";

    const PARAMETERS: &'static [Parameter] = &[
        Parameter::file("file", "the file that defines the puzzle, up to 64 KiB"),
        Parameter::optional("moves", ALL, "the moves of the file to use, such as U,R2,F")
            .value_name("NAMES")
            .flag_help("the moves of the file to use, such as U,R2,F"),
        Parameter::optional(
            "metric",
            "half",
            "half: every power of a move is a move; quarter: a move and its inverse are",
        )
        .one_of(&[("half", "Every power of a move"), ("quarter", "A move and its inverse")])
        .value_name("METRIC"),
        Parameter::optional(
            "inverses",
            "false",
            "add the inverses of a list of permutations, which are moves as they stand otherwise",
        )
        .switch()
        .flag_help("add the inverses of a list of permutations"),
        START,
        GOAL,
        SYMMETRY,
        EXHAUST,
    ];

    fn open(parameters: &Parameters) -> Result<PermutationPuzzle<K>, SpaceError> {
        Self::open_within(parameters, &Work::default())
    }

    fn open_within(
        parameters: &Parameters,
        work: &Work,
    ) -> Result<PermutationPuzzle<K>, SpaceError> {
        let read = Self::reader(parameters);
        let content =
            file_content(read.required("file")?).ok_or_else(|| SpaceError::Malformed {
                name: "file".into(),
                value: "a text with an unknown escape".into(),
                expected: "the content of a file".into(),
            })?;
        let definition = Definition::read(&content).map_err(|error| SpaceError::File {
            name: "file".into(),
            line: error.line,
            column: error.column,
            why: error.why,
        })?;
        let symmetry = symmetry(read)?;
        let metric = match read.choice("metric", &["half", "quarter"])? {
            Some(1) => Metric::Quarter,
            _ => Metric::Half,
        };
        let names = read.text("moves").filter(|names| *names != ALL);
        let inverses = read.switch("inverses")?;
        let added = if inverses { Inverses::Added } else { Inverses::Optional };
        let selection = Selection { names, metric, inverses: added };
        let ends = Ends::read(read)?;
        let graph = Graph::new(definition, selection, ends.start(), ends.goal(), symmetry, work)?;
        let ends = ends.of(&graph);
        let moves = names.map(str::to_owned);
        Ok(PermutationPuzzle { content, moves, metric, inverses, ends, graph })
    }

    fn parameters(&self) -> Parameters {
        let metric = if self.metric == Metric::Half { "half" } else { "quarter" };
        let pairs = [
            ("file", file_value(&self.content)),
            ("moves", self.moves.clone().unwrap_or(ALL.into())),
            ("metric", metric.into()),
            ("inverses", self.inverses.to_string()),
            ("symmetry", if self.graph.symmetry() { "on" } else { "off" }.into()),
        ];
        let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value));
        pairs.chain(self.ends.parameters()).collect()
    }

    fn label(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
        let name = self.definition().name.chars().map(plain);
        std::iter::once("puzzle-").flat_map(str::chars).chain(name).collect()
    }

    fn distance_name(&self) -> String {
        self.ends.distance_name(&self.label())
    }

    puzzle_methods_of_graph!();
}

#[deny(clippy::missing_trait_methods)]
impl<K: RankKey> KeySpace for PermutationPuzzle<K> {
    key_space_of_graph!(K);
}

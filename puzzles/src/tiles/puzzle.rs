//! Sliding tiles by name and parameters, and the names of their moves.

use strata_space::{
    Chain, DrawingTheme, ExplicitSize, NoNested, Parameter, ParameterReader, Parameters, Puzzle,
    SearchSize, SpaceError, StateSpace, WithTables,
};

use super::board::{Board, Shape};
use super::drawing;
use super::state_space::{Tiles, TilesConfig};

/// The word for the tiles in order.
pub(super) const SORTED: &str = "sorted";

/// Largest distances from the sorted board, as counted (docs/tiles.md); 4x4 as published by Brüngger,
/// Marzetta, Fukuda and Nievergelt, 1999.
const RADII: [(&str, u32); 11] = [
    ("2x2", 6),
    ("2x3", 21),
    ("3x2", 21),
    ("2x4", 36),
    ("4x2", 36),
    ("3x3", 31),
    ("2x5", 55),
    ("3x4", 53),
    ("4x3", 53),
    ("2x6", 80),
    ("4x4", 80),
];

impl Puzzle for Tiles {
    type States = WithTables<Tiles>;
    type Nested = NoNested;

    const NAME: &'static str = "tiles";

    const SUMMARY: &'static str =
        "sliding tiles: SIZE squares with one blank, moved by one square at a time";

    const PARAMETERS: &'static [Parameter] = &[
        Parameter::positional(
            "size",
            "rows and columns such as 3x4, 2 to 12 each, at most 25 squares",
        ),
        Parameter::optional("k", "as many as the tables hold", "tiles 1 to k move inside a region")
            .short('k')
            .number()
            .flag_help("those with numbers up to N"),
        Parameter::start(
            SORTED,
            "where to begin: a board such as '1 2 3 / 4 _ 5', or sorted",
            "'1 2 / _ 3'",
        ),
        Parameter::goal(
            SORTED,
            "where to end: a board, or sorted: the tiles in order, the blank last",
        ),
        Parameter::symmetry(
            "on, or off if the search is exhaustive",
            "on: identify boards that a transposition exchanges, where one fixes the ends; off: \
             search every board",
        ),
        Parameter::EXHAUST,
        Parameter::optional("moves", "any", "any, or clockwise: straight or a right turn")
            .value_name("any/clockwise")
            .flag_help("the blank's moves; clockwise: straight or a right turn"),
        Parameter::optional(
            "choices",
            "free",
            "with clockwise moves, where the blank may turn though it could go straight: free \
             (everywhere), limited (between the corners of one side), bottom (of the bottom row)",
        )
        .value_name("free/limited/bottom")
        .flag_help("where the blank may choose to turn, with clockwise moves"),
    ];

    fn open(parameters: &Parameters) -> Result<Tiles, SpaceError> {
        Tiles::new(config(Tiles::reader(parameters))?)
    }

    fn parameters(&self) -> Parameters {
        let pairs = [
            ("size", self.shape().to_string()),
            ("k", self.k().to_string()),
            ("start", word(self.start())),
            ("goal", self.goal().map_or_else(|| SORTED.into(), word)),
            ("symmetry", if self.symmetry() { "on" } else { "off" }.into()),
            ("exhaust", self.goal().is_none().to_string()),
            ("moves", "any".into()),
            ("choices", "free".into()),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn distance_name(&self) -> String {
        let goal = self.goal().map_or_else(|| "anywhere".into(), ToString::to_string);
        format!("distance({} to {goal})", self.start())
    }

    /// Known for whole spaces without symmetry only: the distance of two boards is unknown before the
    /// search.
    fn search_size(&self) -> SearchSize {
        if self.goal().is_some() || self.symmetry() {
            return SearchSize::default();
        }
        let shape = self.shape();
        // Half of the arrangements are reachable.
        let states = (3..=u64::from(shape.squares())).try_fold(1_u64, u64::checked_mul);
        let is_sorted = *self.start() == Board::goal(shape);
        let radius = RADII.iter().find(|(board, _)| *board == shape.to_string());
        SearchSize {
            layers: radius.filter(|_| is_sorted).map(|(_, radius)| *radius),
            states,
            explicit: Some(ExplicitSize { states_per_second: 15e6, bytes_per_state: 0.5 }),
            ..SearchSize::default()
        }
    }

    fn ends(&self) -> Option<[String; 2]> {
        Some([self.start().to_string(), self.goal()?.to_string()])
    }

    fn moves_along(&self, _: &dyn StateSpace, chain: &Chain) -> Option<Vec<String>> {
        let boards = self.unfold(chain)?;
        boards.windows(2).map(|pair| move_name(&pair[0], &pair[1])).collect()
    }

    fn positions_along(&self, _: &dyn StateSpace, chain: &Chain) -> Option<Vec<String>> {
        Some(self.unfold(chain)?.iter().map(ToString::to_string).collect())
    }

    fn position_text(&self, given: &str) -> Result<String, SpaceError> {
        Ok(board_of(given, "state", self.shape())?.to_string())
    }

    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String> {
        Some(drawing::draw(&Board::parse(self.shape(), position).ok()?, theme))
    }

    fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        let read = |text: &String| Board::parse(self.shape(), text).ok();
        let boards: Vec<Board> = path.iter().map(read).collect::<Option<_>>()?;
        boards.windows(2).map(|pair| move_name(&pair[0], &pair[1])).collect()
    }

    fn nested(&self) -> Result<NoNested, SpaceError> {
        Err(no_nested_form())
    }
}

/// The error for a search of sliding tiles with the symbolic engine.
pub(super) fn no_nested_form() -> SpaceError {
    let why = "sliding tiles have no nested form, which the symbolic engine needs";
    SpaceError::NoForm { why: why.into() }
}

/// Directions of the blank: name, rows down, columns to the right.
const DIRECTIONS: [(&str, i8, i8); 4] = [("U", -1, 0), ("R", 0, 1), ("D", 1, 0), ("L", 0, -1)];

/// The direction in which the blank moves from one board to the next.
pub(super) fn move_name(from: &Board, to: &Board) -> Option<String> {
    let leads = |(_, down, right): &&(&str, i8, i8)| from.moved(*down, *right).as_ref() == Some(to);
    DIRECTIONS.iter().find(leads).map(|(name, ..)| (*name).to_owned())
}

/// A board as the value of a parameter.
pub(super) fn word(board: &Board) -> String {
    if *board == Board::goal(board.shape()) { SORTED.into() } else { board.to_string() }
}

/// The search that the parameters describe.
fn config(read: ParameterReader<'_>) -> Result<TilesConfig, SpaceError> {
    let shape = Shape::parse(read.required("size")?)?;
    let exhaust = read.switch("exhaust")?;
    if read.choice("moves", &["any", "clockwise"])? == Some(1) {
        return Err(SpaceError::Conflict {
            name: "moves".into(),
            why: "this search is for all moves".into(),
        });
    }
    if read.text("choices").is_some_and(|choices| choices != "free") {
        return Err(SpaceError::Conflict {
            name: "choices".into(),
            why: "only clockwise moves can have limited choices".into(),
        });
    }
    let sorted = Board::goal(shape);
    let start = board(read, "start", shape)?.unwrap_or_else(|| sorted.clone());
    let goal = board(read, "goal", shape)?.unwrap_or_else(|| sorted.clone());
    if exhaust && goal != sorted {
        return Err(SpaceError::Conflict {
            name: "goal".into(),
            why: "a search of the whole space has none".into(),
        });
    }
    // Symmetry is off by default for a whole space, so that its states are boards.
    let symmetry = read.choice("symmetry", &["on", "off"])?.map_or(!exhaust, |word| word == 0);
    let k = read.number("k")?.map(|k| u8::try_from(k).unwrap_or(u8::MAX));
    Ok(TilesConfig { start, goal: (!exhaust).then_some(goal), k, symmetry })
}

/// The board of a parameter, if it was given.
pub(super) fn board(
    read: ParameterReader<'_>,
    name: &str,
    shape: Shape,
) -> Result<Option<Board>, SpaceError> {
    read.text(name).map(|value| board_of(value, name, shape)).transpose()
}

/// The board with a text.
fn board_of(text: &str, name: &str, shape: Shape) -> Result<Board, SpaceError> {
    if text.trim() == SORTED {
        return Ok(Board::goal(shape));
    }
    Board::parse(shape, text).map_err(|error| SpaceError::State {
        name: name.into(),
        expected: format!("a board of {shape}"),
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(pairs: &[(&str, &str)]) -> Result<Tiles, SpaceError> {
        Tiles::open(&pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect())
    }

    #[test]
    fn moves_are_named_by_the_blanks_direction() {
        let tiles = open(&[("size", "2x3")]).unwrap();
        let path = ["1 2 3 / 4 5 _", "1 2 _ / 4 5 3", "1 _ 2 / 4 5 3", "1 5 2 / 4 _ 3"];
        let mut path = path.map(str::to_owned);
        assert_eq!(tiles.moves_between(&path).unwrap(), ["U", "L", "D"]);
        path.reverse();
        assert_eq!(tiles.moves_between(&path).unwrap(), ["U", "R", "D"]);
        assert_eq!(tiles.moves_between(&[path[0].clone(), path[2].clone()]), None);
    }

    #[test]
    fn symmetry_is_off_by_default_for_a_whole_space() {
        let on = |pairs: &[(&str, &str)]| open(pairs).unwrap().parameters()["symmetry"].clone();
        assert_eq!(on(&[("size", "3x3")]), "on");
        assert_eq!(on(&[("size", "3x3"), ("exhaust", "true")]), "off");
        assert_eq!(on(&[("size", "3x3"), ("exhaust", "true"), ("symmetry", "on")]), "on");
    }

    #[test]
    fn the_size_of_a_whole_space_is_known() {
        let size = |pairs: &[(&str, &str)]| {
            let SearchSize { layers, states, .. } = open(pairs).unwrap().search_size();
            (layers, states)
        };
        let whole = ("exhaust", "true");
        assert_eq!(size(&[("size", "3x4"), whole]), (Some(53), Some(239_500_800)));
        let middle = ("start", "1 2 3 / 4 _ 5");
        assert_eq!(size(&[("size", "2x3"), whole, middle]), (None, Some(360)));
        assert_eq!(size(&[("size", "5x5"), whole]), (None, None));
        assert_eq!(size(&[("size", "3x4")]), (None, None));
    }

    #[test]
    fn clockwise_moves_and_their_choices_are_refused() {
        for (name, value, why) in [
            ("moves", "clockwise", "this search is for all moves"),
            ("moves", "sideways", "moves must be 'any' or 'clockwise', not 'sideways'"),
            ("choices", "limited", "only clockwise moves can have limited choices"),
        ] {
            let error = open(&[("size", "3x3"), (name, value)]).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}

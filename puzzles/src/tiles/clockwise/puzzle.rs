//! Clockwise walks, under the name and with the parameters of sliding tiles.

use strata_space::{
    Chain, DrawingTheme, Key, Keyed, NoNested, Parameter, ParameterReader, Parameters, Puzzle,
    SpaceError, StateSpace,
};

use super::super::board::{Board, Shape};
use super::super::drawing;
use super::super::puzzle::{SORTED, board, move_name, no_nested_form, word};
use super::super::state_space::Tiles;
use super::rules::Choices;
use super::space::{ClockwiseConfig, ClockwiseSpace};

impl<K: Key> ClockwiseSpace<K> {
    /// Whether parameters of sliding tiles select clockwise moves.
    pub fn is_asked(parameters: &Parameters) -> bool {
        parameters.get("moves").is_some_and(|moves| moves == "clockwise")
    }

    /// Description of the rules in the name of the distance.
    fn rules(&self) -> &'static str {
        match self.choices() {
            Choices::Free => "clockwise",
            Choices::Limited => "clockwise, choices limited",
            Choices::Bottom => "clockwise, choices on the bottom row",
        }
    }
}

impl<K: Key> Puzzle for ClockwiseSpace<K> {
    type States = Keyed<ClockwiseSpace<K>>;
    type Nested = NoNested;

    const NAME: &'static str = Tiles::NAME;

    const SUMMARY: &'static str = Tiles::SUMMARY;

    const PARAMETERS: &'static [Parameter] = Tiles::PARAMETERS;

    fn open(parameters: &Parameters) -> Result<ClockwiseSpace<K>, SpaceError> {
        ClockwiseSpace::new(config(Self::reader(parameters))?)
    }

    fn parameters(&self) -> Parameters {
        let pairs = [
            ("size", self.goal().shape().to_string()),
            ("k", "0".into()),
            ("start", self.start().map_or_else(|| SORTED.into(), word)),
            ("goal", word(self.goal())),
            ("symmetry", "off".into()),
            ("exhaust", self.start().is_none().to_string()),
            ("moves", "clockwise".into()),
            ("choices", self.choices().word().into()),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn label(&self) -> String {
        let choices = match self.choices() {
            Choices::Free => String::new(),
            choices => format!("-{}", choices.word()),
        };
        format!("{}-{}-clockwise{choices}", Self::NAME, self.goal().shape())
    }

    fn distance_name(&self) -> String {
        let start = self.start().map_or_else(|| "anywhere".into(), ToString::to_string);
        format!("distance({start} to {}), {}", self.goal(), self.rules())
    }

    fn ends(&self) -> Option<[String; 2]> {
        Some([self.start()?.to_string(), self.goal().to_string()])
    }

    /// The search goes backwards, from the goal to the start.
    fn positions_along(&self, space: &dyn StateSpace, chain: &Chain) -> Option<Vec<String>> {
        let text = |state| space.text(state);
        // Markers are skipped: the board of a marker is that of the state before it, or the goal.
        let moves = chain.from_start.iter().rev().map(|state| text(*state));
        let boards = moves.filter_map(|text| Some(text.split_once(',')?.0.to_owned()));
        Some(boards.chain([self.goal().to_string()]).collect())
    }

    fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        let shape = self.goal().shape();
        let read = |text: &String| Board::parse(shape, text).ok();
        let boards: Vec<Board> = path.iter().map(read).collect::<Option<_>>()?;
        boards.windows(2).map(|pair| move_name(&pair[0], &pair[1])).collect()
    }

    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String> {
        let board = position.split(',').next()?;
        Some(drawing::draw(&Board::parse(self.goal().shape(), board).ok()?, theme))
    }

    fn nested(&self) -> Result<NoNested, SpaceError> {
        Err(no_nested_form())
    }
}

/// The search that the parameters describe.
fn config(read: ParameterReader<'_>) -> Result<ClockwiseConfig, SpaceError> {
    let shape = Shape::parse(read.required("size")?)?;
    let refuse =
        |name: &str, why: &str| Err(SpaceError::Conflict { name: name.into(), why: why.into() });
    if read.choice("moves", &["any", "clockwise"])? != Some(1) {
        return refuse("moves", "this search is for clockwise moves");
    }
    if read.number("k")?.is_some_and(|k| k > 0) {
        return refuse("k", "with clockwise moves, the first tiles of an order are the region");
    }
    if read.choice("symmetry", &["on", "off"])? == Some(0) {
        return refuse("symmetry", "a transposition makes left turns of right turns");
    }
    let choices = read.choice("choices", &Choices::WORDS)?;
    let choices = choices.map_or(Choices::Free, |number| Choices::ALL[number]);
    let exhaust = read.switch("exhaust")?;
    let sorted = Board::goal(shape);
    let start = board(read, "start", shape)?.unwrap_or_else(|| sorted.clone());
    let goal = board(read, "goal", shape)?.unwrap_or_else(|| sorted.clone());
    if exhaust && start != sorted {
        let why = "an exhaustive search with clockwise moves starts from every board and ends at the \
                   goal";
        return refuse("start", why);
    }
    Ok(ClockwiseConfig { start: (!exhaust).then_some(start), goal, choices })
}

#[cfg(test)]
mod tests {
    use strata_space::Keyed;

    use super::super::space::{ClockwiseTiles, WideClockwiseTiles};
    use super::*;

    fn open(pairs: &[(&str, &str)]) -> Result<ClockwiseTiles, SpaceError> {
        let clockwise = [("moves", "clockwise")];
        let pairs = pairs.iter().chain(&clockwise).map(|(a, b)| ((*a).into(), (*b).into()));
        ClockwiseTiles::open(&pairs.collect())
    }

    #[test]
    fn parameters_that_do_not_apply_are_refused() {
        for (name, value, why) in [
            ("k", "3", "the first tiles of an order are the region"),
            ("symmetry", "on", "makes left turns of right turns"),
            ("moves", "any", "this search is for clockwise moves"),
            ("choices", "some", "choices must be 'free' or 'limited' or 'bottom', not 'some'"),
        ] {
            let pairs = [("size", "3x3"), ("moves", "clockwise"), (name, value)];
            let given = pairs.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned()));
            let error = ClockwiseTiles::open(&given.collect()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let start = [("size", "2x2"), ("exhaust", "true"), ("start", "1 2 / _ 3")];
        let error = open(&start).unwrap_err().to_string();
        assert!(error.contains("starts from every board"), "{error}");
        let error = open(&[("size", "2x2"), ("start", "2 1 / 3 _")]).unwrap_err();
        assert!(matches!(error, SpaceError::Unsolvable { .. }), "{error}");
    }

    #[test]
    fn labels_and_distances_name_the_rules() {
        let names = |choices: &str| {
            let tiles = open(&[("size", "2x2"), ("choices", choices)]).unwrap();
            (tiles.label(), tiles.distance_name())
        };
        let distance = "distance(1 2 / 3 _ to 1 2 / 3 _), clockwise";
        assert_eq!(names("free"), ("tiles-2x2-clockwise".into(), distance.into()));
        let limited = format!("{distance}, choices limited");
        assert_eq!(names("limited"), ("tiles-2x2-clockwise-limited".into(), limited));
    }

    #[test]
    fn keys_of_either_type_are_the_same() {
        for size in ["2x2", "2x5", "4x5"] {
            let pairs = [("size", size), ("moves", "clockwise"), ("exhaust", "true")];
            let pairs: Parameters =
                pairs.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
            let narrow = Keyed::new(ClockwiseTiles::open(&pairs).unwrap()).unwrap();
            let wide = Keyed::new(WideClockwiseTiles::open(&pairs).unwrap()).unwrap();
            let mut layer = narrow.seeds();
            assert_eq!(wide.seeds(), layer);
            for _ in 0..12 {
                let (mut next, mut other) = (Vec::new(), Vec::new());
                for state in layer {
                    assert_eq!(narrow.text(state), wide.text(state));
                    assert_eq!(narrow.weight(state), wide.weight(state));
                    narrow.moves(state, &mut next);
                    wide.moves(state, &mut other);
                }
                assert_eq!(next, other);
                next.sort_unstable();
                next.dedup();
                layer = next;
            }
        }
        let largest = open(&[("size", "3x7")]).unwrap();
        let error = Keyed::new(largest).unwrap_err();
        assert!(matches!(error, SpaceError::KeyTooWide { limit: 64, .. }), "{error}");
    }

    #[test]
    fn a_chain_is_a_walk_in_reverse() {
        let space = Keyed::new(open(&[("size", "2x3"), ("exhaust", "true")]).unwrap()).unwrap();
        let find = |from, text: &str| {
            let mut next = Vec::new();
            space.moves(from, &mut next);
            next.into_iter().find(|state| space.text(*state) == text).unwrap()
        };
        let first = space.seeds().into_iter().find(|s| space.text(*s) == "1 2 _ / 4 5 3, D");
        let second = find(first.unwrap(), "1 _ 2 / 4 5 3, R");
        let marker = find(second, "1 _ 2 / 4 5 3");
        let moves = |states: &[_]| {
            let chain = Chain { from_start: states.to_vec(), from_goal: Vec::new() };
            space.space().moves_along(&space, &chain).unwrap()
        };
        assert_eq!(moves(&[first.unwrap(), second, marker]), ["R", "D"]);
        assert_eq!(moves(&[first.unwrap(), second]), ["R", "D"]);
        assert_eq!(moves(&[space.seeds()[0]]), [""; 0]);
    }
}

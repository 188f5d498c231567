//! The Panex puzzle by name and parameters, and the names of its moves.

use strata_space::{
    Chain, DrawingTheme, Parameter, ParameterReader, Parameters, Puzzle, SearchSize, SpaceError,
    StateSpace, WithTables,
};

use super::config::{PanexConfig, SymmetryUse};
use super::drawing;
use super::nested::NestedPanex;
use super::position::Position;
use super::size::search_size;
use super::state_space::Panex;
use super::tile::MOVES;
use super::tokens::CentreTop;

/// The word for the towers at their first places.
const TOWERS: &str = "towers";

/// The word for the towers with the colours exchanged.
const EXCHANGED: &str = "exchanged";

/// Names of the columns in names of moves.
const COLUMN_NAMES: [char; 3] = ['L', 'C', 'R'];

impl Puzzle for Panex {
    type States = WithTables<Panex>;
    type Nested = NestedPanex;

    const NAME: &'static str = "panex";

    const SUMMARY: &'static str =
        "the Panex puzzle: exchange two towers of LEVEL tiles in three columns";

    const PARAMETERS: &'static [Parameter] = &[
        Parameter::positional("level", "tiles per tower, 1 to k + 11 (14 for the default k)"),
        Parameter::optional("k", "3", "tiles of levels up to k move inside a region, 1 to 3")
            .short('k')
            .number()
            .flag_help("tiles of levels up to N move inside a region"),
        Parameter::optional(
            "s",
            "min(5, level - 3), at least k",
            "tiles of levels above s choose the shard, k to level",
        )
        .short('s')
        .long("locality")
        .alias("s")
        .number()
        .flag_help("tiles of levels above N choose the shard (at least k)"),
        Parameter::symmetry(
            "on",
            "on: identify symmetric positions and search from both ends; off: from the start to \
             the goal",
        ),
        Parameter::optional(
            "centre-top",
            "forbid",
            "forbid or allow positions with a tile on the centre's top layer (never useful); \
             allow where start or goal is one",
        )
        .one_of(&[("forbid", "They are left out"), ("allow", "They are searched")])
        .value_name("forbid/allow")
        .flag_help("states with a tile of top level in the centre"),
        Parameter::EXHAUST,
        Parameter::start(
            TOWERS,
            "where to begin: a position such as 'b2 / - / o1 b1 o2', towers or exchanged",
            "'b2 / - / o1 b1 o2'",
        ),
        Parameter::goal(EXCHANGED, "where to end: a position, towers or exchanged"),
    ];

    const BOTH_ENDS: &'static [(&'static str, &'static str)] = &[("symmetry", "on")];

    fn open(parameters: &Parameters) -> Result<Panex, SpaceError> {
        Panex::new(config(Panex::reader(parameters))?)
    }

    fn parameters(&self) -> Parameters {
        let PanexConfig { level, k, s, symmetry, centre_top, exhaust, .. } = self.config();
        let symmetry = if symmetry == SymmetryUse::On { "on" } else { "off" };
        let centre_top = if centre_top == CentreTop::Forbid { "forbid" } else { "allow" };
        let pairs = [
            ("level", level.to_string()),
            ("k", k.to_string()),
            ("s", s.to_string()),
            ("symmetry", symmetry.to_owned()),
            ("centre-top", centre_top.to_owned()),
            ("exhaust", exhaust.to_string()),
            ("start", word(self.start(), level)),
            ("goal", word(self.goal(), level)),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn distance_name(&self) -> String {
        match self.config() {
            config if config.exchanges_towers() => format!("X({})", config.level),
            _ => format!("distance({} to {})", self.start(), self.goal()),
        }
    }

    fn search_size(&self) -> SearchSize {
        search_size(&self.config())
    }

    fn ends(&self) -> Option<[String; 2]> {
        Some([self.start().to_string(), self.goal().to_string()])
    }

    fn moves_along(&self, _: &dyn StateSpace, chain: &Chain) -> Option<Vec<String>> {
        Some(self.unfold(chain)?.into_iter().map(move_name).collect())
    }

    fn positions_along(&self, _: &dyn StateSpace, chain: &Chain) -> Option<Vec<String>> {
        let mut at = *self.start();
        let mut positions = vec![at.to_string()];
        for mv in self.unfold(chain)? {
            at = at.moved(mv, self.config().centre_top)?;
            positions.push(at.to_string());
        }
        Some(positions)
    }

    fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        let level = self.config().level;
        let read = |text: &String| Position::parse(level, text).ok();
        let positions: Vec<Position> = path.iter().map(read).collect::<Option<_>>()?;
        let between = |pair: &[Position]| {
            let leads = |mv: &(usize, usize)| {
                pair[0].moved(*mv, CentreTop::Allow).as_ref() == Some(&pair[1])
            };
            MOVES.into_iter().find(leads).map(move_name)
        };
        positions.windows(2).map(between).collect()
    }

    fn position_text(&self, given: &str) -> Result<String, SpaceError> {
        Ok(position_of(given, "state", self.config().level)?.to_string())
    }

    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String> {
        let level = self.config().level;
        let position = Position::parse(level, position).ok()?;
        Some(drawing::draw(level, &position, theme))
    }

    fn nested(&self) -> Result<NestedPanex, SpaceError> {
        NestedPanex::new(self.config())
    }
}

/// A move between columns, as `LC`.
fn move_name((from, to): (usize, usize)) -> String {
    [COLUMN_NAMES[from], COLUMN_NAMES[to]].iter().collect()
}

/// A position as the value of a parameter.
fn word(position: &Position, level: u8) -> String {
    if *position == Position::start(level) {
        TOWERS.into()
    } else if *position == Position::goal(level) {
        EXCHANGED.into()
    } else {
        position.to_string()
    }
}

/// A number as a byte: numbers above 255 become 255, which is out of range everywhere.
fn small(number: Option<u32>) -> Option<u8> {
    number.map(|number| u8::try_from(number).unwrap_or(u8::MAX))
}

/// The search that the parameters describe.
fn config(read: ParameterReader<'_>) -> Result<PanexConfig, SpaceError> {
    let level = small(read.number("level")?).unwrap_or_default();
    let k = small(read.number("k")?).unwrap_or(PanexConfig::DEFAULT_K);
    let mut config = PanexConfig {
        level,
        k,
        s: small(read.number("s")?).unwrap_or(PanexConfig::default_s(level, k)),
        symmetry: match read.choice("symmetry", &["on", "off"])? {
            Some(1) => SymmetryUse::Off,
            _ => SymmetryUse::On,
        },
        centre_top: match read.choice("centre-top", &["forbid", "allow"])? {
            Some(1) => CentreTop::Allow,
            _ => CentreTop::Forbid,
        },
        exhaust: read.switch("exhaust")?,
        start: None,
        goal: None,
    };
    // The level limits which positions can be read.
    config.check()?;
    config.start = position(read, "start", level)?;
    config.goal = position(read, "goal", level)?;
    let mut ends = config.start.iter().chain(&config.goal);
    if !read.is_given("centre-top") && ends.any(Position::uses_centre_top) {
        config.centre_top = CentreTop::Allow;
    }
    Ok(config)
}

fn position(
    read: ParameterReader<'_>,
    name: &str,
    level: u8,
) -> Result<Option<Position>, SpaceError> {
    read.text(name).map(|value| position_of(value, name, level)).transpose()
}

/// The position with a text.
fn position_of(text: &str, name: &str, level: u8) -> Result<Position, SpaceError> {
    match text.trim() {
        TOWERS => Ok(Position::start(level)),
        EXCHANGED => Ok(Position::goal(level)),
        text => Position::parse(level, text).map_err(|error| SpaceError::State {
            name: name.into(),
            expected: "a legal position".into(),
            why: error.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(pairs: &[(&str, &str)]) -> Result<Panex, SpaceError> {
        Panex::open(&pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect())
    }

    #[test]
    fn moves_are_named_by_their_columns() {
        let panex = open(&[("level", "2")]).unwrap();
        let path = ["b1 b2 / - / o1 o2", "b2 / b1 / o1 o2", "b2 / - / b1 o1 o2"];
        let path = path.map(str::to_owned);
        assert_eq!(panex.moves_between(&path[..2]), Some(vec!["LC".to_owned()]));
        assert_eq!(panex.moves_between(&[path[1].clone(), path[0].clone()]).unwrap(), ["CL"]);
        assert_eq!(panex.moves_between(&["b2".to_owned(), path[0].clone()]), None);
        let far = [path[0].clone(), "b2 / o1 / b1 o2".to_owned()];
        assert_eq!(panex.moves_between(&far), None);
    }

    #[test]
    fn an_end_on_the_centres_top_layer_allows_that_layer() {
        let panex = open(&[("level", "2"), ("start", "b2 / o1 b1 / o2")]).unwrap();
        assert_eq!(panex.parameters()["centre-top"], "allow");
        assert!(
            open(&[("level", "2"), ("start", "b2 / o1 b1 / o2"), ("centre-top", "forbid")])
                .is_err()
        );
    }

    #[test]
    fn exchanges_of_towers_and_whole_spaces_have_a_known_depth() {
        assert_eq!(open(&[("level", "3")]).unwrap().search_size().layers, Some(21));
        let off = open(&[("level", "3"), ("symmetry", "off")]).unwrap();
        assert_eq!(off.search_size().layers, Some(42));
        let whole = open(&[("level", "3"), ("exhaust", "true")]).unwrap();
        assert_eq!(whole.search_size().layers, Some(44));
        let other = open(&[("level", "2"), ("start", "b2 / - / o1 b1 o2")]).unwrap();
        assert_eq!(other.search_size().layers, None);
        assert_eq!(other.distance_name(), "distance(b2 / - / o1 b1 o2 to o1 o2 / - / b1 b2)");
    }
}

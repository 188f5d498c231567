//! The spaces by name: parameters in, a space out. The command line, job files and `strata
//! domains` all read this one list.

use std::collections::BTreeMap;

use strata_explicit::Engine;
use strata_puzzles::panex::{CentreTop, NestedPanex, Panex, PanexConfig, Position, SymmetryUse};
use strata_puzzles::tiles::{Board, Shape, Tiles, TilesConfig};
use strata_puzzles::{Hanoi, NestedHanoi};
use strata_space::{Finish, Keyed, SpaceError, StateSpace, Tabled};
use strata_symbolic::{AnySearch, Options, StepError};

/// Parameters by name, as text: what a job records.
pub type Parameters = BTreeMap<String, String>;

/// One parameter of a space.
#[derive(Copy, Clone, Debug)]
pub struct Parameter {
    /// Name, also of the flag.
    pub name: &'static str,
    /// Whether it is given by position, without a flag.
    pub positional: bool,
    /// The default, in words where it depends on others.
    pub default: Option<&'static str>,
    /// What it means and its range.
    pub help: &'static str,
}

/// A space that can be searched by name.
#[derive(Copy, Clone, Debug)]
pub struct Domain {
    /// Name.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// Parameters, positional ones first.
    pub parameters: &'static [Parameter],
}

impl Domain {
    /// All spaces.
    pub fn all() -> &'static [Domain] {
        &DOMAINS
    }

    /// The space of that name.
    ///
    /// # Errors
    /// [`SpaceError::UnknownSpace`] if there is none.
    pub fn find(name: &str) -> Result<&'static Domain, SpaceError> {
        DOMAINS.iter().find(|domain| domain.name == name).ok_or_else(|| SpaceError::UnknownSpace {
            name: name.into(),
            known: DOMAINS.map(|domain| domain.name).join(", "),
        })
    }

    /// How to write the space and its positional parameters.
    pub fn usage(&self) -> String {
        let positional = self.parameters.iter().filter(|p| p.positional);
        let words = positional.map(|p| p.name.to_uppercase());
        [self.name.to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Names the values given by position and adds those given by flag.
    ///
    /// # Errors
    /// If there are too few or too many, or a flag is not one of this space.
    pub fn parameters(
        &self,
        positional: &[String],
        flags: &[(&str, String)],
    ) -> Result<Parameters, SpaceError> {
        let names: Vec<&str> =
            self.parameters.iter().filter(|p| p.positional).map(|p| p.name).collect();
        if positional.len() != names.len() {
            return Err(SpaceError::Arguments {
                space: self.name.into(),
                expected: format!("{} ({} given)", names.join(", "), positional.len()),
                usage: self.usage(),
            });
        }
        let mut given: Parameters =
            names.iter().map(ToString::to_string).zip(positional.iter().cloned()).collect();
        for (name, value) in flags {
            self.known(name)?;
            given.insert((*name).into(), value.clone());
        }
        Ok(given)
    }

    fn known(&self, name: &str) -> Result<(), SpaceError> {
        if self.parameters.iter().any(|p| p.name == name) {
            return Ok(());
        }
        Err(SpaceError::UnknownParameter {
            space: self.name.into(),
            name: name.into(),
            known: self.parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
        })
    }
}

/// The word for the towers as they stand at first.
const TOWERS: &str = "towers";

/// The word for the towers with the colours exchanged.
const EXCHANGED: &str = "exchanged";

const EXHAUST: Parameter = Parameter {
    name: "exhaust",
    positional: false,
    default: Some("false"),
    help: "list the whole reachable space instead of stopping at the goal",
};

static DOMAINS: [Domain; 3] = [
    Domain {
        name: "panex",
        summary: "the Panex puzzle: exchange two towers of LEVEL tiles in three columns",
        parameters: &[
            Parameter {
                name: "level",
                positional: true,
                default: None,
                help: "tiles a tower, 1 to k + 11 (14 for the default k)",
            },
            Parameter {
                name: "k",
                positional: false,
                default: Some("3"),
                help: "tiles of levels up to k move inside a region, 1 to 3",
            },
            Parameter {
                name: "s",
                positional: false,
                default: Some("min(5, level - 3), at least k"),
                help: "tiles of levels above s choose the shard, k to level",
            },
            Parameter {
                name: "symmetry",
                positional: false,
                default: Some("on"),
                help: "on: identify symmetric positions and search from both ends; off: from the start to the goal",
            },
            Parameter {
                name: "centre-top",
                positional: false,
                default: Some("forbid"),
                help: "forbid or allow positions with a tile on the centre's top layer (never useful); allow where start or goal is one",
            },
            EXHAUST,
            Parameter {
                name: "start",
                positional: false,
                default: Some(TOWERS),
                help: "where to begin: a position such as 'b2 / - / o1 b1 o2', towers or exchanged",
            },
            Parameter {
                name: "goal",
                positional: false,
                default: Some(EXCHANGED),
                help: "where to end: a position, towers or exchanged",
            },
        ],
    },
    Domain {
        name: "hanoi",
        summary: "Towers of Hanoi: move DISCS discs from the first to the last peg",
        parameters: &[
            Parameter { name: "discs", positional: true, default: None, help: "discs, 1 to 21" },
            Parameter { name: "pegs", positional: false, default: Some("3"), help: "pegs, 3 to 8" },
            EXHAUST,
        ],
    },
    Domain {
        name: "tiles",
        summary: "sliding tiles: SIZE squares with one blank, moved by one square at a time",
        parameters: &[
            Parameter {
                name: "size",
                positional: true,
                default: None,
                help: "rows and columns such as 3x4, 2 to 12 each, at most 25 squares",
            },
            Parameter {
                name: "k",
                positional: false,
                default: Some("as many as the tables hold"),
                help: "tiles 1 to k move inside a region",
            },
            Parameter {
                name: "start",
                positional: false,
                default: Some(SORTED),
                help: "where to begin: a board such as '1 2 3 / 4 _ 5', or sorted",
            },
            Parameter {
                name: "goal",
                positional: false,
                default: Some(SORTED),
                help: "where to end: a board, or sorted: the tiles in order, the blank last",
            },
            Parameter {
                name: "symmetry",
                positional: false,
                default: Some("on, with --exhaust off"),
                help: "on: identify boards that a transposition exchanges, where one fixes the ends; off: search every board",
            },
            EXHAUST,
            Parameter {
                name: "moves",
                positional: false,
                default: Some("any"),
                help: "any, or clockwise: straight or a right turn; searched in memory by solve only",
            },
            Parameter {
                name: "choices",
                positional: false,
                default: Some("free"),
                help: "with clockwise moves, where the blank may turn though it could go straight: free (everywhere), limited (between the corners of one side), bottom (of the bottom row)",
            },
        ],
    },
];

/// The word for the tiles in order.
const SORTED: &str = "sorted";

/// Any of the spaces.
#[derive(Debug)]
pub enum Space {
    /// The Panex puzzle.
    Panex(Box<Panex>),
    /// Towers of Hanoi.
    Hanoi(Keyed<Hanoi>),
    /// Sliding tiles.
    Tiles(Box<Tiles>),
}

/// The nested form of a space that has one.
#[derive(Debug)]
pub enum NestedForm {
    /// The Panex puzzle.
    Panex(Box<NestedPanex>),
    /// Towers of Hanoi.
    Hanoi(NestedHanoi),
}

impl NestedForm {
    /// A symbolic search that has made layer 0.
    ///
    /// # Errors
    /// If even that does not fit the memory.
    pub fn open(self, options: Options) -> Result<Box<dyn AnySearch>, StepError> {
        match self {
            NestedForm::Panex(space) => strata_symbolic::open(*space, options),
            NestedForm::Hanoi(space) => strata_symbolic::open(space, options),
        }
    }
}

impl Space {
    /// The explicit engine for the space.
    pub fn engine(self, shards: u32) -> Engine {
        match self {
            Space::Panex(panex) => Engine::tabled(*panex, shards),
            Space::Tiles(tiles) => Engine::tabled(*tiles, shards),
            Space::Hanoi(hanoi) => Engine::keyed(hanoi, shards),
        }
    }

    /// The search as one of a nested space.
    ///
    /// # Errors
    /// If it cannot be searched as one.
    pub fn nested(&self) -> Result<NestedForm, SpaceError> {
        match self {
            Space::Panex(panex) => {
                Ok(NestedForm::Panex(Box::new(NestedPanex::new(panex.config())?)))
            }
            Space::Hanoi(keyed) => Ok(NestedForm::Hanoi(NestedHanoi::new(keyed.space().clone())?)),
            Space::Tiles(_) => Err(SpaceError::Conflict {
                name: "engine".into(),
                why: "sliding tiles have no nested form, which the symbolic engine needs".into(),
            }),
        }
    }

    /// Opens a space; parameters that are missing take their defaults.
    ///
    /// # Errors
    /// If the name, a parameter or a value is not right.
    pub fn open(name: &str, parameters: &Parameters) -> Result<Space, SpaceError> {
        let domain = Domain::find(name)?;
        parameters.keys().try_for_each(|name| domain.known(name))?;
        let read = Reader { domain, parameters };
        match domain.name {
            "panex" => Ok(Space::Panex(Box::new(Panex::new(read.panex()?)?))),
            "tiles" => Ok(Space::Tiles(Box::new(Tiles::new(read.tiles()?)?))),
            _ => {
                let discs = read.number("discs")?.unwrap_or_default();
                let pegs = read.number("pegs")?.unwrap_or(3);
                let exhaust = read.choice("exhaust", ["false", "true"])? == 1;
                Ok(Space::Hanoi(Keyed::new(Hanoi::new(discs.into(), pegs.into(), exhaust)?)?))
            }
        }
    }

    /// The space's name.
    pub fn name(&self) -> &'static str {
        match self {
            Space::Panex(_) => "panex",
            Space::Hanoi(_) => "hanoi",
            Space::Tiles(_) => "tiles",
        }
    }

    /// All parameters with the values in force: the identity of a search.
    pub fn parameters(&self) -> Parameters {
        let pairs = match self {
            Space::Panex(panex) => {
                let PanexConfig { level, k, s, symmetry, centre_top, exhaust, .. } = panex.config();
                vec![
                    ("level", level.to_string()),
                    ("k", k.to_string()),
                    ("s", s.to_string()),
                    ("symmetry", if symmetry == SymmetryUse::On { "on" } else { "off" }.into()),
                    (
                        "centre-top",
                        if centre_top == CentreTop::Forbid { "forbid" } else { "allow" }.into(),
                    ),
                    ("exhaust", exhaust.to_string()),
                    ("start", position_word(panex.start(), level)),
                    ("goal", position_word(panex.goal(), level)),
                ]
            }
            Space::Hanoi(keyed) => {
                let hanoi = keyed.space();
                vec![
                    ("discs", hanoi.discs().to_string()),
                    ("pegs", hanoi.pegs().to_string()),
                    ("exhaust", hanoi.exhaust().to_string()),
                ]
            }
            Space::Tiles(tiles) => vec![
                ("size", tiles.shape().to_string()),
                ("k", tiles.k().to_string()),
                ("start", board_word(tiles.start())),
                ("goal", tiles.goal().map_or_else(|| SORTED.into(), board_word)),
                ("symmetry", if tiles.symmetry() { "on" } else { "off" }.into()),
                ("exhaust", tiles.goal().is_none().to_string()),
                ("moves", "any".into()),
                ("choices", "free".into()),
            ],
        };
        pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }

    /// Name and size in one word, as in `panex-6`.
    pub fn label(&self) -> String {
        match self {
            Space::Panex(panex) => format!("panex-{}", panex.config().level),
            Space::Hanoi(keyed) => {
                format!("hanoi-{}-{}", keyed.space().discs(), keyed.space().pegs())
            }
            Space::Tiles(tiles) => format!("tiles-{}", tiles.shape()),
        }
    }

    /// What the length of a shortest solution is called, as in `X(6)`.
    pub fn distance_name(&self) -> String {
        match self {
            Space::Panex(panex) if panex.config().exchanges_towers() => {
                format!("X({})", panex.config().level)
            }
            Space::Panex(panex) => format!("distance({} to {})", panex.start(), panex.goal()),
            Space::Hanoi(keyed) => {
                format!("H({} discs, {} pegs)", keyed.space().discs(), keyed.space().pegs())
            }
            Space::Tiles(tiles) => {
                let goal = tiles.goal().map_or_else(|| "anywhere".into(), ToString::to_string);
                format!("distance({} to {goal})", tiles.start())
            }
        }
    }

    /// Memory of the space's own tables, in bytes.
    pub fn table_bytes(&self) -> usize {
        match self {
            Space::Panex(panex) => panex.table_bytes(),
            Space::Hanoi(_) => 0,
            Space::Tiles(tiles) => tiles.table_bytes(),
        }
    }

    /// When the search is over.
    pub fn finish(&self) -> Finish {
        match self {
            Space::Panex(panex) => panex.finish(),
            Space::Hanoi(hanoi) => hanoi.finish(),
            Space::Tiles(tiles) => tiles.finish(),
        }
    }

    /// Depth at which the search is expected to end at the latest, where a bound is known.
    pub fn expected_layers(&self) -> Option<u32> {
        let Space::Panex(panex) = self else { return None };
        let config = panex.config();
        if !config.exchanges_towers() {
            return None;
        }
        let bound = strata_puzzles::panex::upper_bound(config.level)?;
        match (config.exhaust, config.symmetry) {
            (true, _) => None,
            (false, SymmetryUse::On) => Some(bound.div_ceil(2) as u32),
            (false, SymmetryUse::Off) => Some(bound as u32),
        }
    }
}

/// A position as a parameter has it.
fn position_word(position: &Position, level: u8) -> String {
    if *position == Position::start(level) {
        TOWERS.into()
    } else if *position == Position::goal(level) {
        EXCHANGED.into()
    } else {
        position.to_string()
    }
}

/// A board as a parameter has it.
fn board_word(board: &Board) -> String {
    if *board == Board::goal(board.shape()) { SORTED.into() } else { board.to_string() }
}

struct Reader<'a> {
    domain: &'a Domain,
    parameters: &'a Parameters,
}

impl Reader<'_> {
    /// The search of the Panex puzzle that the parameters describe.
    fn panex(&self) -> Result<PanexConfig, SpaceError> {
        let level = self.number("level")?.unwrap_or_default();
        let k = self.number("k")?.unwrap_or(PanexConfig::DEFAULT_K);
        let mut config = PanexConfig {
            level,
            k,
            s: self.number("s")?.unwrap_or(PanexConfig::default_s(level, k)),
            symmetry: match self.choice("symmetry", ["on", "off"])? {
                1 => SymmetryUse::Off,
                _ => SymmetryUse::On,
            },
            centre_top: match self.choice("centre-top", ["forbid", "allow"])? {
                1 => CentreTop::Allow,
                _ => CentreTop::Forbid,
            },
            exhaust: self.choice("exhaust", ["false", "true"])? == 1,
            start: None,
            goal: None,
        };
        // Positions are read only of a level that there is.
        config.check()?;
        config.start = self.position("start", level)?;
        config.goal = self.position("goal", level)?;
        let mut ends = config.start.iter().chain(&config.goal);
        if !self.parameters.contains_key("centre-top") && ends.any(Position::uses_centre_top) {
            config.centre_top = CentreTop::Allow;
        }
        Ok(config)
    }

    /// A position of the Panex puzzle.
    fn position(&self, name: &str, level: u8) -> Result<Option<Position>, SpaceError> {
        let Some(value) = self.parameters.get(name) else { return Ok(None) };
        let position = match value.trim() {
            TOWERS => Position::start(level),
            EXCHANGED => Position::goal(level),
            text => Position::parse(level, text).map_err(|error| SpaceError::State {
                name: name.into(),
                expected: "a legal position".into(),
                why: error.to_string(),
            })?,
        };
        Ok(Some(position))
    }

    /// The search of a board of tiles that the parameters describe.
    fn tiles(&self) -> Result<TilesConfig, SpaceError> {
        let size = self.parameters.get("size").ok_or_else(|| self.missing("size"))?;
        let shape = Shape::parse(size)?;
        let exhaust = self.choice("exhaust", ["false", "true"])? == 1;
        if self.choice("moves", ["any", "clockwise"])? == 1 {
            return Err(SpaceError::Conflict {
                name: "moves".into(),
                why: "clockwise moves cannot be taken back, only solve searches them".into(),
            });
        }
        if self.parameters.get("choices").is_some_and(|choices| choices != "free") {
            return Err(SpaceError::Conflict {
                name: "choices".into(),
                why: "only clockwise moves can have fewer".into(),
            });
        }
        let sorted = Board::goal(shape);
        let start = self.board("start", shape)?.unwrap_or_else(|| sorted.clone());
        let goal = self.board("goal", shape)?.unwrap_or_else(|| sorted.clone());
        if exhaust && goal != sorted {
            return Err(SpaceError::Conflict {
                name: "goal".into(),
                why: "a search of the whole space has none".into(),
            });
        }
        // Who lists a whole space wants to know how many boards there are.
        let given = self.parameters.contains_key("symmetry");
        let symmetry = if given { self.choice("symmetry", ["on", "off"])? == 0 } else { !exhaust };
        Ok(TilesConfig { start, goal: (!exhaust).then_some(goal), k: self.number("k")?, symmetry })
    }

    /// A board of tiles.
    fn board(&self, name: &str, shape: Shape) -> Result<Option<Board>, SpaceError> {
        let Some(value) = self.parameters.get(name) else { return Ok(None) };
        if value.trim() == SORTED {
            return Ok(Some(Board::goal(shape)));
        }
        let board = Board::parse(shape, value).map_err(|error| SpaceError::State {
            name: name.into(),
            expected: format!("a board of {shape}"),
            why: error.to_string(),
        })?;
        Ok(Some(board))
    }

    fn missing(&self, name: &str) -> SpaceError {
        SpaceError::Arguments {
            space: self.domain.name.into(),
            expected: name.into(),
            usage: self.domain.usage(),
        }
    }

    /// A small number; None if it is not given and has a default.
    fn number(&self, name: &str) -> Result<Option<u8>, SpaceError> {
        let Some(value) = self.parameters.get(name) else {
            let required = self.domain.parameters.iter().any(|p| p.name == name && p.positional);
            return if required { Err(self.missing(name)) } else { Ok(None) };
        };
        // Wider than any limit, so that 300 is out of range rather than malformed.
        let number: u32 = value.parse().map_err(|_| SpaceError::Malformed {
            name: name.into(),
            value: value.clone(),
            expected: "a whole number".into(),
        })?;
        Ok(Some(u8::try_from(number).unwrap_or(u8::MAX)))
    }

    /// The position of the value among the choices; 0 if it is not given.
    fn choice(&self, name: &str, choices: [&str; 2]) -> Result<usize, SpaceError> {
        let Some(value) = self.parameters.get(name) else { return Ok(0) };
        choices.iter().position(|choice| choice == value).ok_or_else(|| SpaceError::Malformed {
            name: name.into(),
            value: value.clone(),
            expected: format!("'{}' or '{}'", choices[0], choices[1]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    #[test]
    fn parameters_survive_a_round_trip() {
        for (name, pairs) in [
            ("panex", &[("level", "9"), ("k", "2"), ("symmetry", "off")][..]),
            ("panex", &[("level", "4"), ("centre-top", "allow"), ("exhaust", "true")]),
            ("panex", &[("level", "2"), ("start", "b2 / - / o1 b1 o2"), ("goal", "towers")]),
            ("panex", &[("level", "2"), ("start", "b2 / o1 b1 / o2"), ("centre-top", "allow")]),
            ("hanoi", &[("discs", "5"), ("pegs", "4")]),
            ("tiles", &[("size", "3x2"), ("start", "5 2 / 4 3 / _ 1"), ("k", "2")]),
            ("tiles", &[("size", "2x3"), ("exhaust", "true")]),
            ("tiles", &[("size", "3x3"), ("symmetry", "off")]),
        ] {
            let space = Space::open(name, &given(pairs)).unwrap();
            let all = space.parameters();
            for (name, value) in pairs {
                assert_eq!(all[*name], *value);
            }
            assert_eq!(Space::open(name, &all).unwrap().parameters(), all);
            assert_eq!(all.len(), Domain::find(name).unwrap().parameters.len());
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |name: &str, pairs: &[(&str, &str)]| {
            Space::open(name, &given(pairs)).unwrap_err().to_string()
        };
        assert_eq!(error("panex", &[("level", "0")]), "level must be between 1 and 14, not 0");
        assert_eq!(error("panex", &[("level", "15")]), "level must be between 1 and 14, not 15");
        assert_eq!(error("panex", &[("level", "x")]), "level must be a whole number, not 'x'");
        assert_eq!(error("panex", &[]), "panex takes level: strata solve panex LEVEL");
        assert_eq!(
            error("panex", &[("level", "5"), ("symmetry", "maybe")]),
            "symmetry must be 'on' or 'off', not 'maybe'"
        );
        assert_eq!(error("chess", &[]), "unknown space 'chess' (known: panex, hanoi, tiles)");
        assert_eq!(
            error("hanoi", &[("discs", "5"), ("k", "3")]),
            "hanoi has no parameter 'k' (it has: discs, pegs, exhaust)"
        );
        let two = ["4".to_string(), "5".to_string()];
        let error = Domain::find("panex").unwrap().parameters(&two, &[]).unwrap_err();
        assert_eq!(error.to_string(), "panex takes level (2 given): strata solve panex LEVEL");
    }
}

//! Flags of single state spaces.

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};

use crate::cli::Toggle;
use crate::cmdline::SolveLine;

/// Flags that only some state spaces know. Their defaults are the spaces' own.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "State spaces")]
pub(crate) struct DomainArgs {
    /// panex: tiles of levels up to N move inside a region; tiles: those with numbers up to N
    #[arg(short, long = "k", value_name = "N")]
    #[arg(env = "STRATA_K", hide_env_values = true)]
    pub(crate) k: Option<u32>,

    /// panex: tiles of levels above N choose the shard (at least k)
    #[arg(short = 's', long, visible_alias = "s", value_name = "N")]
    #[arg(env = "STRATA_LOCALITY", hide_env_values = true)]
    pub(crate) locality: Option<u32>,

    /// panex: states with a tile of top level in the centre
    #[arg(long, value_name = "forbid/allow")]
    #[arg(env = "STRATA_CENTRE_TOP", hide_env_values = true)]
    pub(crate) centre_top: Option<CentreTop>,

    /// The position to begin with, such as 'b2 / - / o1 b1 o2' (panex) or '1 2 / _ 3' (tiles)
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    #[arg(env = "STRATA_START", hide_env_values = true)]
    pub(crate) start: Option<String>,

    /// The position to end with, in the same form
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    #[arg(env = "STRATA_GOAL", hide_env_values = true)]
    pub(crate) goal: Option<String>,

    /// panex: --start and --goal are positions of Panex Gold, as 'b b / - / o o'; moves and
    /// positions are shown without levels
    #[arg(long, env = "STRATA_GOLD", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) gold: bool,

    /// tiles: the blank's moves; clockwise: straight or a right turn, searched in memory
    #[arg(long, value_name = "any/clockwise", env = "STRATA_MOVES", hide_env_values = true)]
    pub(crate) moves: Option<String>,

    /// tiles: where the blank may choose to turn, with clockwise moves
    #[arg(long, value_name = "free/limited/bottom")]
    #[arg(env = "STRATA_CHOICES", hide_env_values = true)]
    pub(crate) choices: Option<String>,

    /// hanoi: pegs
    #[arg(long, value_name = "P")]
    #[arg(env = "STRATA_PEGS", hide_env_values = true)]
    pub(crate) pegs: Option<u32>,
}

/// A parameter of a state space as it was given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The parameter's name.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) value: String,
    /// Whether it stood on the command line: a variable in the environment may be meant for
    /// other runs.
    pub(crate) typed: bool,
}

impl DomainArgs {
    /// These and the two parameters that several spaces have, as far as they were given.
    pub(crate) fn given(
        &self,
        symmetry: Option<Toggle>,
        exhaust: bool,
        line: &SolveLine,
    ) -> Vec<Given> {
        fn word(value: Option<impl ValueEnum>) -> Option<String> {
            value?.to_possible_value().map(|value| value.get_name().to_owned())
        }
        let values = [
            ("k", "k", self.k.map(|k| k.to_string())),
            ("s", "locality", self.locality.map(|s| s.to_string())),
            ("centre-top", "centre-top", word(self.centre_top)),
            ("start", "start", self.start.clone()),
            ("goal", "goal", self.goal.clone()),
            ("gold", "gold", self.gold.then(|| "true".to_owned())),
            ("moves", "moves", self.moves.clone()),
            ("choices", "choices", self.choices.clone()),
            ("pegs", "pegs", self.pegs.map(|pegs| pegs.to_string())),
            ("symmetry", "symmetry", word(symmetry)),
            ("exhaust", "exhaust", exhaust.then(|| "true".to_owned())),
        ];
        let given = values.into_iter().filter_map(|(name, flag, value)| {
            Some(Given { name, value: value?, typed: line.typed(flag) })
        });
        given.collect()
    }
}

/// Whether states with a tile of top level in the centre are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CentreTop {
    /// They are left out.
    Forbid,
    /// They are searched.
    Allow,
}

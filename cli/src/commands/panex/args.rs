//! The arguments of `strata panex`.

use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand, ValueEnum};
use strata_panex::choke;
use strata_panex::operations::Kind;

use crate::cli::available_threads;
use crate::commands::solve::embedded::Means;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum PanexCommand {
    /// Print an operation of the papers: its formula, its ends and its moves, replayed first
    ///
    /// T, Tbar, S, Sbar, C, X and V take a level, 4, Y, Ybar, Z and W do not. Baxter-T, Baxter-S,
    /// Baxter-Z, Baxter-U and, improved, Baxter-Z' and Baxter-U' are Baxter's simplified algorithm.
    Op(OpArgs),
    /// Print the papers' tables, and how each number is known
    Table(TableArgs),
    /// Find X(LEVEL) by a dynamic program over choke points, without a search over positions
    Choke(ChokeArgs),
    /// Find X(LEVEL) in several ways and compare them (exit code 6 if they differ)
    ///
    /// By a search over positions, by choke points, and by making and replaying the paper's
    /// exchange, of which nobody knows whether it is the shortest on every level.
    Check(CheckArgs),
    /// Draw a position
    Draw(DrawArgs),
}

/// How moves are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MoveFormat {
    /// Run together: LC RC …
    Words,
    /// One a line, with its tile: b1 L>C
    Lines,
    /// Not at all
    None,
}

/// Arguments of `panex op`.
#[derive(Debug, Args)]
pub(crate) struct OpArgs {
    /// The operation, such as T, Sbar or X
    #[arg(value_name = "NAME", value_parser = kind)]
    pub(crate) kind: Kind,

    /// Its level, if it has one
    pub(crate) level: Option<u8>,

    /// The right version: L and R swapped
    #[arg(long, env = "STRATA_RIGHT", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) right: bool,

    /// The way back
    #[arg(long, env = "STRATA_INVERSE", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) inverse: bool,

    /// Blue and orange swapped
    #[arg(long, env = "STRATA_STAR", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) star: bool,

    /// Where S or Sbar is done: the moves are the same, the ends are not
    #[arg(long, value_name = "WHICH", default_value = "plain")]
    #[arg(env = "STRATA_VARIATION", hide_env_values = true)]
    pub(crate) variation: Variation,

    /// How to print the moves
    #[arg(long, value_name = "FORMAT", default_value = "words")]
    #[arg(env = "STRATA_MOVES", hide_env_values = true)]
    pub(crate) moves: MoveFormat,

    /// Search for the fewest moves between its ends, too (exit code 6 if it has more)
    #[arg(long, env = "STRATA_SEARCH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) search: bool,

    /// How it is searched.
    #[command(flatten)]
    pub(crate) means: Means,
}

/// The situations in which a tile sinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Variation {
    /// Into the empty centre
    Plain,
    /// On top of an extra tile in the centre's layer n
    Supported,
    /// Tile n + 1 instead of tile n
    Larger,
}

/// Arguments of `panex table`.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// The last row; lists of moves are made and replayed to level 16
    #[arg(long, value_name = "N", default_value = "13")]
    #[arg(env = "STRATA_MAX", hide_env_values = true)]
    pub(crate) max: u8,
}

/// Arguments of `panex choke`.
#[derive(Debug, Args)]
pub(crate) struct ChokeArgs {
    /// Tiles a tower
    #[arg(value_parser = clap::value_parser!(u8).range(1..=i64::from(choke::MAX_LEVEL)))]
    pub(crate) level: u8,

    /// Threads
    #[arg(long, value_name = "N", default_value_t = available_threads())]
    #[arg(env = "STRATA_THREADS", hide_env_values = true)]
    #[arg(value_parser = crate::cli::at_most(1024))]
    pub(crate) threads: usize,

    /// Print a shortest list of moves too, replayed first
    #[arg(long, env = "STRATA_PATH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) path: bool,
}

/// Arguments of `panex check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Tiles a tower
    #[arg(value_parser = clap::value_parser!(u8).range(1..=i64::from(choke::MAX_LEVEL)))]
    pub(crate) level: u8,

    /// Leave out the search over positions above this level; that of level 8 takes a minute or two
    #[arg(long, value_name = "N", default_value = "8")]
    #[arg(env = "STRATA_EXPLICIT_MAX", hide_env_values = true)]
    pub(crate) explicit_max: u8,

    /// Leave out the search over diagrams above this level; that of level 9 takes half a minute and
    /// 300 MiB, each level more three times as much
    #[arg(long, value_name = "N", default_value = "9")]
    #[arg(env = "STRATA_SYMBOLIC_MAX", hide_env_values = true)]
    pub(crate) symbolic_max: u8,

    /// How positions are searched; the choke points take the threads, too.
    #[command(flatten)]
    pub(crate) means: Means,
}

/// What a position is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// Letters, digits and lines
    Text,
    /// An SVG image
    Svg,
    /// What is seen of Panex Gold: colours and layers, without levels
    Gold,
    /// The text form, such as b1 b2 / - / o1 o2
    Words,
}

/// Arguments of `panex draw`.
#[derive(Debug, Args)]
pub(crate) struct DrawArgs {
    /// The position, such as "b1 b2 / - / o1 o2"
    pub(crate) position: String,

    /// The position is one of Panex Gold, whose tiles have no levels: "b b / - / o o"
    #[arg(long, env = "STRATA_GOLD", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) gold: bool,

    /// What to draw it as
    #[arg(long = "as", value_name = "FORM", default_value = "text")]
    #[arg(env = "STRATA_AS", hide_env_values = true)]
    pub(crate) picture: Picture,
}

fn kind(text: &str) -> Result<Kind, String> {
    text.parse().map_err(|error: strata_panex::operations::OperationError| error.to_string())
}

//! Arguments of `strata panex`.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand, ValueEnum};
use strata_cli::toolkit::{SearchResources, at_most, available_threads, help_table};
use strata_panex::choke;
use strata_panex::operations::Kind;

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum PanexCommand {
    /// Print an operation of the papers: formula, ends, and moves after a replay
    ///
    /// T, Tbar, S, Sbar, C, X and V take a level; the operations 4, Y, Ybar, Z and W do not.
    /// Baxter-T, Baxter-S, Baxter-Z and Baxter-U are Baxter's simplified algorithm; Baxter-Z' and
    /// Baxter-U' are its improved version.
    Op(OpArgs),
    /// Print the tables of the papers, with the evidence for each number
    Table(TableArgs),
    /// Find X(LEVEL) by dynamic programming over choke points, without a search of positions
    Choke(ChokeArgs),
    /// Find X(LEVEL) by several methods and compare them (exit code 6 if they differ)
    ///
    /// The methods are the searches of both engines, choke points, a replay of the paper's exchange,
    /// and, from level 5 on, the proven formula.
    Check(CheckArgs),
    /// Prove X(n) = U(n) for every n from 5 on: build the certificate and check it
    ///
    /// The verifier shares no code with the producer of the certificate. docs/panex-proof.md has the
    /// lemmas that it relies on.
    #[command(after_help = help_table())]
    Prove(ProveArgs),
    /// Check a certificate that X(n) = U(n) (exit code 12 if a part of it fails)
    ///
    /// The message names the first check that fails.
    #[command(after_help = help_table())]
    VerifyProof(VerifyProofArgs),
    /// Print X(N), its proven lower bound, and U(N), for N up to 10,000
    Bound(BoundArgs),
    /// Draw a position
    Draw(DrawArgs),
}

/// Form of the moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MoveFormat {
    /// Several per line, without tiles: LC RC …
    Words,
    /// One per line, with its tile: b1 L>C
    Lines,
    /// Not printed
    None,
}

/// Arguments of `panex op`.
#[derive(Debug, Args)]
pub(crate) struct OpArgs {
    /// The operation, such as T, Sbar or X
    #[arg(value_name = "NAME", value_parser = kind)]
    pub(crate) kind: Kind,

    /// Level of the operation, if it has one
    pub(crate) level: Option<u8>,

    /// Right version: swap L and R
    #[arg(long, env = "STRATA_RIGHT", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) right: bool,

    /// Inverse: from the goal to the start
    #[arg(long, env = "STRATA_INVERSE", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) inverse: bool,

    /// Swap blue and orange
    #[arg(long, env = "STRATA_STAR", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) star: bool,

    /// Position in which S or Sbar is applied; the moves are the same, start and goal differ
    #[arg(long, value_name = "WHICH", default_value = "plain")]
    #[arg(env = "STRATA_VARIATION", hide_env_values = true)]
    pub(crate) variation: Variation,

    /// Form of the moves
    #[arg(long, value_name = "FORMAT", default_value = "words")]
    #[arg(env = "STRATA_MOVES", hide_env_values = true)]
    pub(crate) moves: MoveFormat,

    /// Also search for the fewest moves between the ends (exit code 6 if the operation has more)
    #[arg(long, env = "STRATA_SEARCH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) search: bool,

    /// Resources of the search.
    #[command(flatten)]
    pub(crate) resources: SearchResources,
}

/// Situations in which a tile sinks.
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
    /// Last row; lists of moves are made and replayed up to level 16
    #[arg(long, value_name = "N", default_value = "13")]
    #[arg(env = "STRATA_MAX", hide_env_values = true)]
    pub(crate) max: u8,
}

/// Arguments of `panex choke`.
#[derive(Debug, Args)]
pub(crate) struct ChokeArgs {
    /// Tiles per tower
    #[arg(value_parser = clap::value_parser!(u8).range(1..=i64::from(choke::MAX_LEVEL)))]
    pub(crate) level: u8,

    /// Threads
    #[arg(long, value_name = "N", default_value_t = available_threads())]
    #[arg(env = "STRATA_THREADS", hide_env_values = true)]
    #[arg(value_parser = at_most(1024))]
    pub(crate) threads: usize,

    /// Also print a shortest list of moves, after a replay
    #[arg(long, env = "STRATA_PATH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) path: bool,
}

/// Arguments of `panex check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Tiles per tower
    #[arg(value_parser = clap::value_parser!(u8).range(1..=i64::from(choke::MAX_LEVEL)))]
    pub(crate) level: u8,

    /// Highest level of the explicit search; level 8 takes about half a minute on one thread
    #[arg(long, value_name = "N", default_value = "8")]
    #[arg(env = "STRATA_EXPLICIT_MAX", hide_env_values = true)]
    pub(crate) explicit_max: u8,

    /// Highest level of the symbolic search; level 9 takes about ten seconds and 300 MiB, each
    /// further level about three times as much
    #[arg(long, value_name = "N", default_value = "9")]
    #[arg(env = "STRATA_SYMBOLIC_MAX", hide_env_values = true)]
    pub(crate) symbolic_max: u8,

    /// Resources of the searches. Choke points also use the threads.
    #[command(flatten)]
    pub(crate) resources: SearchResources,
}

/// Arguments of `panex prove`.
#[derive(Debug, Args)]
pub(crate) struct ProveArgs {
    /// Write the certificate to a file, which is replaced, once it is accepted; '-' prints it
    /// alone
    #[arg(long, value_name = "FILE", env = "STRATA_CERTIFICATE", hide_env_values = true)]
    pub(crate) certificate: Option<PathBuf>,
}

/// Arguments of `panex verify-proof`.
#[derive(Debug, Args)]
pub(crate) struct VerifyProofArgs {
    /// File with the certificate; '-' is standard input
    #[arg(value_name = "FILE")]
    pub(crate) certificate: PathBuf,
}

/// Arguments of `panex bound`.
#[derive(Debug, Args)]
pub(crate) struct BoundArgs {
    /// Tiles per tower
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) level: u32,
}

/// Form of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// Letters, digits and lines
    Text,
    /// An SVG image
    Svg,
    /// Position of Panex Gold: colours and layers, without levels
    Gold,
    /// The text form, such as b1 b2 / - / o1 o2
    Words,
}

/// Arguments of `panex draw`.
#[derive(Debug, Args)]
pub(crate) struct DrawArgs {
    /// The position, such as "b1 b2 / - / o1 o2"
    pub(crate) position: String,

    /// The position is one of Panex Gold, without levels: "b b / - / o o"
    #[arg(long, env = "STRATA_GOLD", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) gold: bool,

    /// Form of the drawing
    #[arg(long = "as", value_name = "FORM", default_value = "text")]
    #[arg(env = "STRATA_AS", hide_env_values = true)]
    pub(crate) picture: Picture,
}

fn kind(text: &str) -> Result<Kind, String> {
    text.parse().map_err(|error: strata_panex::operations::OperationError| error.to_string())
}

//! Arguments of `strata puzzle`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum PuzzleCommand {
    /// Print sets, moves, constraints and the exact order of the group of a puzzle, without a search
    Info(InfoArgs),
}

/// A file and a selection of moves.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The file that defines the puzzle: .tws, ksolve .def, KPuzzle JSON or a list of permutations;
    /// '-' is standard input
    pub(crate) file: PathBuf,

    /// The moves to use, such as U,R2,F [default: all]
    #[arg(long, value_name = "NAMES", env = "STRATA_MOVES", hide_env_values = true)]
    pub(crate) moves: Option<String>,

    /// Add the inverses of a list of permutations
    #[arg(long, env = "STRATA_INVERSES", hide_env_values = true)]
    #[arg(value_parser = clap::builder::BoolishValueParser::new())]
    pub(crate) inverses: bool,
}

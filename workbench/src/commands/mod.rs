//! The commands: `strata panex` and `strata tiles`.

mod panex;
mod tiles;

use clap::Subcommand;
use strata_cli::toolkit::{self, Console, ExitCode, Failure, ManArgs, help_table};

use panex::args::PanexCommand;
use tiles::args::TilesCommand;

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The Panex puzzle: operations, tables, comparisons, proof and drawings
    #[command(version)]
    Panex {
        #[command(subcommand)]
        command: Panex,
    },
    /// Sliding-tile puzzles: solvability and clockwise walks, without a search
    #[command(subcommand, after_help = help_table())]
    Tiles(TilesCommand),
}

/// The subcommands of `panex`.
#[derive(Debug, Subcommand)]
pub(crate) enum Panex {
    #[command(flatten)]
    Puzzle(PanexCommand),
    /// Write the manual pages of the commands `panex` and `tiles`
    Man(ManArgs),
}

/// Runs a command.
pub(crate) fn run(command: &Command, console: &Console) -> Result<ExitCode, Failure> {
    match command {
        Command::Panex { command: Panex::Puzzle(command) } => panex::run::run(command, console),
        Command::Panex { command: Panex::Man(args) } => toolkit::manual::<Command>(args, console),
        Command::Tiles(command) => tiles::run::run(command, console),
    }
}

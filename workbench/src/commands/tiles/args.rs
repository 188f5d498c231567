//! Arguments of `strata tiles`.

use clap::{Args, Subcommand};
use strata_replay::tiles::Shape;

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum TilesCommand {
    /// Count the inversions of a board and decide whether it is solvable (exit code 3 if not)
    Check(BoardArgs),
    /// Solve a board by a walk without counterclockwise turns, constructed and checked
    ///
    /// The blank moves straight as long as possible, else it turns right; it has a choice on few
    /// squares only. Squares are numbered from 1, row by row.
    Walk(BoardArgs),
}

/// A board.
#[derive(Debug, Args)]
pub(crate) struct BoardArgs {
    /// Rows and columns, such as 3x4
    #[arg(value_name = "RxC", value_parser = shape)]
    pub(crate) shape: Shape,

    /// The board, such as "1 2 3 / 4 5 6 / 7 _ 8"
    pub(crate) start: String,
}

fn shape(text: &str) -> Result<Shape, String> {
    text.parse().map_err(|error: strata_replay::tiles::ShapeError| error.to_string())
}

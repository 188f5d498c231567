//! `strata panex`: what is known of the puzzle: the papers' operations and tables, X(n) by choke
//! points, comparisons with searches over positions, drawings.

use std::io::Write;

use strata_panex::{GoldPosition, Position, draw};

use super::args::{DrawArgs, PanexCommand, Picture};
use super::{check, choke, operation, table};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;

/// Moves a line of a list of moves.
const MOVES_A_LINE: usize = 32;

/// Runs `strata panex`.
pub(crate) fn run(command: &PanexCommand, console: &Console) -> Result<ExitCode, Failure> {
    match command {
        PanexCommand::Op(args) => operation::run(args, console),
        PanexCommand::Table(args) => table::run(args, console),
        PanexCommand::Choke(args) => choke::run(args, console),
        PanexCommand::Check(args) => check::run(args, console),
        PanexCommand::Draw(args) => draw(args),
    }
}

fn draw(args: &DrawArgs) -> Result<ExitCode, Failure> {
    let position = if args.gold {
        let seen: GoldPosition = args.position.parse().map_err(Failure::usage)?;
        seen.to_position().map_err(Failure::usage)?
    } else {
        args.position.parse::<Position>().map_err(Failure::usage)?
    };
    stdout::print(|out| match args.picture {
        Picture::Text => writeln!(out, "{}", draw::text(&position).trim_end()),
        Picture::Svg => writeln!(out, "{}", draw::svg(&position).trim_end()),
        Picture::Gold => writeln!(out, "{}", GoldPosition::from(&position)),
        Picture::Words => writeln!(out, "{position}"),
    })?;
    Ok(ExitCode::Done)
}

/// Writes moves run together, `MOVES_A_LINE` a line.
pub(super) fn write_words(
    moves: &[strata_panex::Move],
    out: &mut impl Write,
) -> std::io::Result<()> {
    for line in moves.chunks(MOVES_A_LINE) {
        let words: Vec<String> = line.iter().map(ToString::to_string).collect();
        writeln!(out, "{}", words.join(" "))?;
    }
    Ok(())
}

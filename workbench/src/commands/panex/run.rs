//! Dispatch of `strata panex`, and its drawings.

use std::io::Write;

use strata_cli::toolkit::{Console, ExitCode, Failure, print};
use strata_replay::{GoldPosition, Position, draw};

use super::args::{DrawArgs, PanexCommand, Picture};
use super::{bound, check, choke, operation, proof, table};

/// Runs `strata panex`.
pub(crate) fn run(command: &PanexCommand, console: &Console) -> Result<ExitCode, Failure> {
    match command {
        PanexCommand::Op(args) => operation::run(args, console),
        PanexCommand::Table(args) => table::run(args, console),
        PanexCommand::Choke(args) => choke::run(args, console),
        PanexCommand::Check(args) => check::run(args, console),
        PanexCommand::Prove(args) => proof::prove(args, console),
        PanexCommand::VerifyProof(args) => proof::verify(args, console),
        PanexCommand::Bound(args) => bound::run(args, console),
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
    print(|out| match args.picture {
        Picture::Text => writeln!(out, "{}", draw::text(&position).trim_end()),
        Picture::Svg => writeln!(out, "{}", draw::svg(&position).trim_end()),
        Picture::Gold => writeln!(out, "{}", GoldPosition::from(&position)),
        Picture::Words => writeln!(out, "{position}"),
    })?;
    Ok(ExitCode::Done)
}

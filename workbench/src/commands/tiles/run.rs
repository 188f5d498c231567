//! Run of `strata tiles`: solvability of boards, and walks without counterclockwise turns.

use std::io::{self, Write};

use serde::Serialize;
use strata_cli::toolkit::{Console, ExitCode, Failure, print, units, write_line};
use strata_panex::tiles::{Solvability, WalkError, walk};
use strata_replay::tiles::{Board, Side, Walked, Word, check, choice_squares};

use super::args::{BoardArgs, TilesCommand};

/// Moves per line of a list of moves.
const MOVES_PER_LINE: usize = 96;

/// Runs `strata tiles`.
pub(crate) fn run(command: &TilesCommand, console: &Console) -> Result<ExitCode, Failure> {
    match command {
        TilesCommand::Check(args) => solvability(args, console),
        TilesCommand::Walk(args) => walked(args, console),
    }
}

fn board(args: &BoardArgs) -> Result<Board, Failure> {
    Board::parse(&args.start, args.shape)
        .map_err(|error| Failure::usage(format!("START is not a board: {error}")))
}

fn solvability(args: &BoardArgs, console: &Console) -> Result<ExitCode, Failure> {
    #[derive(Serialize)]
    struct Line {
        board: String,
        inversions: usize,
        row: Option<usize>,
        odd: bool,
        solvable: bool,
    }
    let board = board(args)?;
    let found = Solvability::of(&board);
    let Solvability { inversions, row, odd } = found;
    let solvable = found.is_solvable();
    print(|out| {
        if console.json {
            let board = board.to_string();
            let line = Line { board, inversions, row, odd, solvable };
            return write_line("solvability", &line, out);
        }
        writeln!(out, "{board}: {}", if solvable { "solvable" } else { "not solvable" })?;
        writeln!(out, "  inversions  {inversions}")?;
        if let Some(row) = row {
            writeln!(out, "  blank row   {row}")?;
        }
        let sum = if row.is_some() { "inversions + row" } else { "inversions" };
        writeln!(out, "  rule        {sum} must be {}", if odd { "odd" } else { "even" })
    })?;
    Ok(if solvable { ExitCode::Done } else { ExitCode::NoGoal })
}

fn walked(args: &BoardArgs, console: &Console) -> Result<ExitCode, Failure> {
    let board = board(args)?;
    let word = walk(&board).map_err(|error| match error {
        WalkError::Unsolvable { .. } => Failure::new(ExitCode::NoGoal, error),
        WalkError::Stuck { .. } => Failure::new(ExitCode::Unexpected, error),
    })?;
    let walked = check(&board, &word).map_err(|broken| {
        Failure::new(ExitCode::Unexpected, format!("the walk breaks a rule: {broken}"))
    })?;
    print(|out| {
        if console.json {
            walk_json(&board, &word, &walked, out)
        } else {
            walk_text(&board, &word, &walked, out)
        }
    })?;
    Ok(ExitCode::Done)
}

fn walk_text(board: &Board, word: &Word, walked: &Walked, out: &mut impl Write) -> io::Result<()> {
    let squares = |squares: &[usize]| match squares {
        [] => "none".to_owned(),
        squares => squares.iter().map(usize::to_string).collect::<Vec<_>>().join(" "),
    };
    writeln!(out, "{board}: {} moves, checked", units::count(word.len() as u64))?;
    writeln!(out, "  clockwise   {}", units::count(walked.clockwise as u64))?;
    writeln!(out, "  straight    {}", units::count(walked.straight as u64))?;
    let allowed = choice_squares(board.shape());
    let heading = Side::of(board.shape()).heading();
    let (left, turned) = (heading, heading.right_turn());
    writeln!(out, "  choices on  {}", squares(&walked.choices))?;
    writeln!(out, "  allowed on  {} ({left} or {turned})", squares(&allowed))?;
    writeln!(out, "{word:#}")?;
    let letters = word.to_string();
    // Letters are ASCII.
    letters.as_bytes().chunks(MOVES_PER_LINE).try_for_each(|line| {
        out.write_all(line)?;
        out.write_all(b"\n")
    })
}

fn walk_json(board: &Board, word: &Word, walked: &Walked, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        board: String,
        moves: usize,
        clockwise: usize,
        straight: usize,
        choices: &'a [usize],
        word: String,
        runs: String,
    }
    let line = Line {
        board: board.to_string(),
        moves: word.len(),
        clockwise: walked.clockwise,
        straight: walked.straight,
        choices: &walked.choices,
        word: word.to_string(),
        runs: format!("{word:#}"),
    };
    write_line("walk", &line, out)
}

//! `strata panex op`: an operation as a formula and as moves, and whether it is shortest.

use std::io::{self, Write};

use serde::Serialize;
use strata_cli::toolkit::{
    Console, ExitCode, Failure, Found, SearchResources, print, search, units, write_line,
};
use strata_panex::operations::{Ends, Operation, OperationError, SinkVariation, Task, Transform};
use strata_replay::{CentreTop, Word, name_moves, replay};

use super::args::{MoveFormat, OpArgs, Variation};
use super::words::write_words;

/// An operation with its moves, which were replayed between its ends if it has them.
struct Shown {
    operation: Operation,
    ends: Option<Ends>,
    word: Word,
    /// Result of the search between its ends, if there was one.
    searched: Option<Found>,
}

/// Runs `strata panex op`.
pub(super) fn run(args: &OpArgs, console: &Console) -> Result<ExitCode, Failure> {
    let mut shown = Shown::new(args)?;
    if args.search {
        shown.searched = Some(shown.search(&args.resources, console)?);
    }
    print(
        |out| {
            if console.json { shown.json(args.moves, out) } else { shown.text(args.moves, out) }
        },
    )?;
    shown.compare()?;
    Ok(ExitCode::Done)
}

fn bug(error: impl std::fmt::Display) -> Failure {
    Failure::new(ExitCode::Unexpected, format!("the moves are wrong: {error}"))
}

impl Shown {
    fn new(args: &OpArgs) -> Result<Shown, Failure> {
        let task = Task::new(args.kind, args.level).map_err(Failure::usage)?;
        let by = Transform { inverse: args.inverse, mirror: args.right, star: args.star };
        let ends = match args.variation {
            Variation::Plain => task.ends().map_err(Failure::usage)?,
            Variation::Supported => Some(sink_ends(task, SinkVariation::Supported)?),
            Variation::Larger => Some(sink_ends(task, SinkVariation::Larger(1))?),
        };
        let ends = ends.map(|ends| ends.transformed(by));
        let operation = Operation::from(task).transformed(by);
        if args.search && ends.is_none() {
            return Err(Failure::usage(OperationError::NoEnds { task }));
        }
        let word = operation.word().map_err(Failure::usage)?;
        if let Some(Ends { start, goal }) = &ends {
            let end = replay(start, word.iter(), CentreTop::Allowed, |_, _| {}).map_err(bug)?;
            if end.position() != goal {
                return Err(bug(format!("they end at {}", end.position())));
            }
        }
        Ok(Shown { operation, ends, word, searched: None })
    }

    /// The fewest moves between its ends.
    fn search(&self, resources: &SearchResources, console: &Console) -> Result<Found, Failure> {
        let Some(Ends { start, goal }) = &self.ends else {
            return Err(bug("there is nothing to search between"));
        };
        let level = start.level().to_string();
        let (start, goal) = (format!("--start={start}"), format!("--goal={goal}"));
        search(&["panex", &level, &start, &goal], resources, console)
    }

    /// Fails if the search found a number of moves that differs from the operation's.
    fn compare(&self) -> Result<(), Failure> {
        let moves = self.word.len() as u64;
        match self.searched.map(|found| found.moves) {
            None => Ok(()),
            Some(found) if found == Some(moves) => Ok(()),
            Some(found) => {
                let found = found.map_or("no way".to_owned(), |found| format!("{found} moves"));
                let message = format!("{} has {moves} moves, searched: {found}", self.operation);
                Err(Failure::new(ExitCode::Differs, message))
            }
        }
    }

    fn parts(&self) -> Option<String> {
        let parts = self.operation.parts();
        (!parts.is_empty()).then(|| Operation::sequence(parts).to_string())
    }

    fn text(&self, format: MoveFormat, out: &mut impl Write) -> io::Result<()> {
        match self.parts() {
            Some(parts) => writeln!(out, "{} = {parts}", self.operation)?,
            None => writeln!(out, "{}", self.operation)?,
        }
        let moves = units::count(self.word.len() as u64);
        match &self.ends {
            Some(Ends { start, goal }) => {
                writeln!(out, "  start  {start}\n  goal   {goal}\n  moves  {moves}, replayed")?;
            }
            None => writeln!(
                out,
                "  moves  {moves}; it applies to many positions, so no ends are shown"
            )?,
        }
        if let Some(Found { moves, states, seconds }) = self.searched {
            let moves = moves.map_or("no way".to_owned(), units::count);
            let (states, seconds) = (units::count(states), units::seconds(seconds));
            writeln!(out, "  least  {moves}, searched: {states} states, {seconds}")?;
        }
        match (format, &self.ends) {
            (MoveFormat::None, _) => Ok(()),
            (MoveFormat::Lines, Some(ends)) => {
                let named = name_moves(&ends.start, &self.word).map_err(io::Error::other)?;
                named.iter().try_for_each(|mv| writeln!(out, "{mv}"))
            }
            _ => write_words(&self.word, out),
        }
    }

    fn json(&self, format: MoveFormat, out: &mut impl Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Line {
            operation: String,
            parts: Option<String>,
            start: Option<String>,
            goal: Option<String>,
            moves: usize,
            word: Option<String>,
            searched: Option<u64>,
            states: Option<u64>,
            seconds: Option<f64>,
        }
        let ends = self.ends.as_ref();
        let line = Line {
            operation: self.operation.to_string(),
            parts: self.parts(),
            start: ends.map(|ends| ends.start.to_string()),
            goal: ends.map(|ends| ends.goal.to_string()),
            moves: self.word.len(),
            word: (format != MoveFormat::None).then(|| self.word.to_string()),
            searched: self.searched.and_then(|found| found.moves),
            states: self.searched.map(|found| found.states),
            seconds: self.searched.map(|found| found.seconds),
        };
        write_line("operation", &line, out)
    }
}

fn sink_ends(task: Task, variation: SinkVariation) -> Result<Ends, Failure> {
    task.sink_ends(variation).map_err(Failure::usage)
}

//! `strata panex check`: X(N) by independent methods, compared.

use std::io::{self, Write};
use std::time::Instant;

use serde::Serialize;
use strata_cli::toolkit::{Console, ExitCode, Failure, print, search, units, write_line};
use strata_panex::formulas::{FormulaError, Quantity, X_PROOF, X_PROVEN_FROM};
use strata_panex::operations::{Kind, Operation, Task};
use strata_replay::{CentreTop, Position, replay};

use super::args::CheckArgs;
use super::choke;

/// A method that finds X(N).
struct Check {
    /// Name in the table.
    name: &'static str,
    run: fn(&CheckArgs, &Console) -> Result<Answer, Failure>,
}

/// The methods, one per row.
const CHECKS: [Check; 5] = [
    Check { name: "search over positions", run: explicit },
    Check { name: "search over diagrams", run: symbolic },
    Check { name: "search over choke points", run: choke_points },
    Check { name: "exchange of the paper", run: exchange },
    Check { name: "proof", run: proof },
];

/// Result of a method.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    /// The number of moves, and how they were found.
    Moves(u64, String),
    /// No result, and the reason.
    Skipped(String),
}

/// A line of the table.
#[derive(Clone, Debug)]
struct Row {
    name: &'static str,
    answer: Answer,
    seconds: f64,
}

/// Comparison of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// All results are this number.
    Agree(u64),
    /// The results differ.
    Differ,
    /// Fewer than two results: nothing was compared.
    Open,
}

/// Runs `strata panex check`.
pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<ExitCode, Failure> {
    let mut rows = Vec::new();
    for Check { name, run } in CHECKS {
        let started = Instant::now();
        let answer = run(args, console)?;
        rows.push(Row { name, answer, seconds: started.elapsed().as_secs_f64() });
    }
    let verdict = compare(&rows);
    print(|out| match console.json {
        true => json(args.level, &rows, verdict, out),
        false => text(args.level, &rows, verdict, out),
    })?;
    conclude(args.level, &rows, verdict)
}

fn conclude(level: u8, rows: &[Row], verdict: Verdict) -> Result<ExitCode, Failure> {
    match verdict {
        Verdict::Agree(_) | Verdict::Open => Ok(ExitCode::Done),
        Verdict::Differ => {
            let message = format!("X({level}): {}", answers(rows));
            Err(Failure::new(ExitCode::Differs, message))
        }
    }
}

fn bug(error: impl std::fmt::Display) -> Failure {
    Failure::new(ExitCode::Unexpected, error.to_string())
}

fn explicit(args: &CheckArgs, console: &Console) -> Result<Answer, Failure> {
    if args.level > args.explicit_max {
        let most = args.explicit_max;
        return Ok(Answer::Skipped(format!("left out above {most} (--explicit-max)")));
    }
    let level = args.level.to_string();
    searched(&["panex", &level, "--engine", "explicit"], args, console)
}

fn symbolic(args: &CheckArgs, console: &Console) -> Result<Answer, Failure> {
    if args.level > args.symbolic_max {
        let most = args.symbolic_max;
        return Ok(Answer::Skipped(format!("left out above {most} (--symbolic-max)")));
    }
    let level = args.level.to_string();
    searched(&["panex", &level, "--engine", "symbolic-lean"], args, console)
}

fn searched(words: &[&str], args: &CheckArgs, console: &Console) -> Result<Answer, Failure> {
    let found = search(words, &args.resources, console)?;
    let moves = found.moves.ok_or_else(|| bug("the towers cannot be exchanged"))?;
    Ok(Answer::Moves(moves, format!("{} states", units::count(found.states))))
}

fn choke_points(args: &CheckArgs, _: &Console) -> Result<Answer, Failure> {
    let moves = choke::search(args.level, args.resources.threads).least_moves().map_err(bug)?;
    Ok(Answer::Moves(moves.into(), "no list of moves made".to_owned()))
}

/// An upper bound: the length of the paper's exchange.
fn exchange(args: &CheckArgs, _: &Console) -> Result<Answer, Failure> {
    let task = Task::new(Kind::X, Some(args.level)).map_err(bug)?;
    let word = Operation::from(task).word().map_err(bug)?;
    let start = Position::start(args.level).map_err(bug)?;
    let goal = Position::goal(args.level).map_err(bug)?;
    let end = replay(&start, word.iter(), CentreTop::Forbidden, |_, _| {}).map_err(bug)?;
    if *end.position() != goal {
        return Err(bug(format!("the exchange ends at {}", end.position())));
    }
    Ok(Answer::Moves(end.moves(), "made and replayed".to_owned()))
}

/// The formula, where it is proven.
fn proof(args: &CheckArgs, _: &Console) -> Result<Answer, Failure> {
    match Quantity::X.formula(args.level.into()) {
        Ok(moves) => {
            let moves = moves.try_into().map_err(bug)?;
            Ok(Answer::Moves(moves, format!("X(n) = U(n), {X_PROOF}")))
        }
        Err(FormulaError::SearchOnly { .. }) => {
            Ok(Answer::Skipped(format!("none below {X_PROVEN_FROM}")))
        }
        Err(error) => Err(bug(error)),
    }
}

fn compare(rows: &[Row]) -> Verdict {
    let found: Vec<u64> = rows.iter().filter_map(Row::moves).collect();
    match found[..] {
        [] | [_] => Verdict::Open,
        [first, ref others @ ..] if others.iter().all(|moves| *moves == first) => {
            Verdict::Agree(first)
        }
        _ => Verdict::Differ,
    }
}

/// Every result with the name of its method, for a message.
fn answers(rows: &[Row]) -> String {
    let answer = |row: &Row| Some(format!("{} by {}", row.moves()?, row.name));
    rows.iter().filter_map(answer).collect::<Vec<_>>().join(", ")
}

impl Row {
    fn moves(&self) -> Option<u64> {
        match self.answer {
            Answer::Moves(moves, _) => Some(moves),
            Answer::Skipped(_) => None,
        }
    }

    fn note(&self) -> &str {
        match &self.answer {
            Answer::Moves(_, note) | Answer::Skipped(note) => note,
        }
    }
}

fn text(level: u8, rows: &[Row], verdict: Verdict, out: &mut impl Write) -> io::Result<()> {
    let value = |row: &Row| row.moves().map_or("-".to_owned(), units::count);
    let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = longest(&mut rows.iter().map(|row| row.name.len()));
    let values = longest(&mut rows.iter().map(|row| value(row).len()));
    let notes = longest(&mut rows.iter().map(|row| row.note().len()));
    writeln!(out, "X({level})")?;
    for row in rows {
        let (name, value, note) = (row.name, value(row), row.note());
        let seconds = row.moves().map_or(String::new(), |_| units::seconds(row.seconds));
        let line = format!("  {name:<names$}  {value:>values$}  {note:<notes$}  {seconds:>8}");
        writeln!(out, "{}", line.trim_end())?;
    }
    match verdict {
        Verdict::Agree(moves) => writeln!(out, "all agree on {}", units::count(moves)),
        Verdict::Differ => writeln!(out, "they differ"),
        Verdict::Open => writeln!(out, "nothing to compare"),
    }
}

fn json(level: u8, rows: &[Row], verdict: Verdict, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        level: u8,
        /// Null if fewer than two methods have a result.
        agree: Option<bool>,
        checks: Vec<Entry<'a>>,
    }
    #[derive(Serialize)]
    struct Entry<'a> {
        name: &'a str,
        moves: Option<u64>,
        note: &'a str,
        seconds: f64,
    }
    let agree = match verdict {
        Verdict::Agree(_) => Some(true),
        Verdict::Differ => Some(false),
        Verdict::Open => None,
    };
    let checks = rows.iter().map(|row| {
        let (name, seconds) = (row.name, row.seconds);
        Entry { name, moves: row.moves(), note: row.note(), seconds }
    });
    let checks = checks.collect();
    write_line("check", &Line { level, agree, checks }, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<const N: usize>(answers: [Option<u64>; N]) -> Vec<Row> {
        let row = |answer: Option<u64>| Row {
            name: "way",
            answer: match answer {
                Some(moves) => Answer::Moves(moves, "found".to_owned()),
                None => Answer::Skipped("left out".to_owned()),
            },
            seconds: 0.5,
        };
        answers.map(row).to_vec()
    }

    #[test]
    fn skipped_methods_are_not_compared() {
        for (answers, verdict) in [
            ([Some(42), Some(42), Some(42)], Verdict::Agree(42)),
            ([None, Some(42), Some(42)], Verdict::Agree(42)),
            ([Some(42), Some(42), Some(43)], Verdict::Differ),
            ([Some(41), None, Some(42)], Verdict::Differ),
            ([None, Some(42), None], Verdict::Open),
            ([None; 3], Verdict::Open),
        ] {
            assert_eq!(compare(&rows(answers)), verdict, "{answers:?}");
        }
        assert_eq!(compare(&[]), Verdict::Open);
    }

    #[test]
    fn a_difference_is_reported_in_every_form() {
        let rows = rows([Some(1041), None, Some(42)]);
        let failure = conclude(3, &rows, compare(&rows)).unwrap_err();
        assert_eq!(failure.code, ExitCode::Differs);
        assert_eq!(failure.to_string(), "X(3): 1041 by way, 42 by way");
        assert_eq!(conclude(3, &rows, Verdict::Agree(42)).unwrap(), ExitCode::Done);
        let (mut plain, mut line) = (Vec::new(), Vec::new());
        text(3, &rows, Verdict::Differ, &mut plain).unwrap();
        let expected = "X(3)\n  way  1,041  found       0.50 s\n  way      -  left out\n  \
                        way     42  found       0.50 s\nthey differ\n";
        assert_eq!(String::from_utf8(plain).unwrap(), expected);
        json(3, &rows, Verdict::Differ, &mut line).unwrap();
        let line: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!((&line["agree"], &line["checks"][0]["moves"]), (&false.into(), &1041.into()));
        assert!(line["checks"][1]["moves"].is_null());
    }
}

//! Run of `strata puzzle info`.

use std::io::{self, Write};

use serde::Serialize;
use strata_puzzles::permutation::{Definition, Format, Survey, Term};
use strata_space::SpaceError;

use super::args::{InfoArgs, PuzzleCommand};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::stdout;
use crate::spaces::request;

/// Runs `strata puzzle`.
pub(crate) fn run(command: &PuzzleCommand, console: &Console) -> Result<ExitCode, Failure> {
    let PuzzleCommand::Info(args) = command;
    let report = Report::of(args)?;
    stdout::print(|out| {
        if console.json { write_line("puzzle", &report, out) } else { report.write(out) }
    })?;
    Ok(ExitCode::Done)
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Report {
    name: String,
    format: &'static str,
    sets: Vec<SetLine>,
    moves: Vec<String>,
    rotations: Vec<String>,
    illegal: usize,
    /// Decimal: it may exceed 64 bits.
    order: Option<String>,
    order_is_exact: bool,
    /// Arrangements that satisfy the constraints, divided by the order.
    index: Option<String>,
    constraints: Vec<String>,
    /// The number of states if it equals the order.
    states: Option<String>,
    key_bits: u64,
    engine: Option<&'static str>,
    reason: String,
}

#[derive(Debug, Serialize)]
struct SetLine {
    name: String,
    pieces: usize,
    kinds: usize,
    orientations: u8,
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Tws => "tws",
        Format::Ksolve => "ksolve",
        Format::KPuzzle => "kpuzzle",
        Format::Generators => "permutations",
    }
}

impl Report {
    fn of(args: &InfoArgs) -> Result<Report, Failure> {
        let path = args.file.display().to_string();
        let content = request::read_file(&path)?;
        let definition = Definition::read(&content).map_err(|error| {
            let (line, column, why) = (error.line, error.column, error.why);
            Failure::usage(SpaceError::File { name: path, line, column, why })
        })?;
        let survey = Survey::of(&definition, args.moves.as_deref(), args.inverses);
        let survey = survey.map_err(Failure::usage)?;
        let order = survey.order.as_ref().ok();
        let exact = order.filter(|_| survey.is_exact);
        let (engine, reason) = engine(&survey);
        Ok(Report {
            name: definition.name.clone(),
            format: format_name(definition.format),
            sets: sets(&definition),
            rotations: definition.rotations.iter().map(|mv| mv.name.clone()).collect(),
            illegal: definition.illegal.len(),
            order: order.map(ToString::to_string),
            order_is_exact: survey.is_exact,
            index: exact.map(|order| (survey.invariants.permitted() / order).to_string()),
            constraints: constraints(&definition, &survey),
            states: exact.filter(|_| survey.counts_states).map(ToString::to_string),
            key_bits: survey.key_bits.map_or_else(|bits| bits, u64::from),
            moves: survey.moves,
            engine,
            reason,
        })
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut line = |name: &str, value: &str| writeln!(out, "  {name:<12} {value}");
        let set = |set: &SetLine| {
            let alike = if set.kinds < set.pieces {
                format!(", {} kinds", set.kinds)
            } else {
                String::new()
            };
            format!(
                "{} ({} pieces, {} orientations{alike})",
                set.name, set.pieces, set.orientations
            )
        };
        line("puzzle", &format!("{} ({})", self.name, self.format))?;
        line("sets", &self.sets.iter().map(set).collect::<Vec<_>>().join(", "))?;
        line("moves", &format!("{}: {}", self.moves.len(), self.moves.join(" ")))?;
        if !self.rotations.is_empty() {
            line("rotations", &self.rotations.join(" "))?;
        }
        if self.illegal > 0 {
            line("illegal", &format!("{} pairs of a slot and a piece", self.illegal))?;
        }
        line(
            "order",
            &match (&self.order, self.order_is_exact) {
                (Some(order), true) => grouped(order),
                (Some(order), false) => format!("at least {}; not verified", grouped(order)),
                (None, _) => "unknown: it needs too much work or memory".to_owned(),
            },
        )?;
        for constraint in &self.constraints {
            line("constraint", constraint)?;
        }
        if let Some(index) = self.index.as_ref().filter(|index| *index != "1") {
            line(
                "index",
                &format!("{} in the arrangements with these constraints", grouped(index)),
            )?;
        }
        line(
            "states",
            &match &self.states {
                Some(states) => grouped(states),
                None => "not known without a search".to_owned(),
            },
        )?;
        line("key", &format!("{} bits", self.key_bits))?;
        line("engine", &format!("{}: {}", self.engine.unwrap_or("none"), self.reason))
    }
}

fn sets(definition: &Definition) -> Vec<SetLine> {
    let line = |set: &strata_puzzles::permutation::Set| SetLine {
        name: set.name.clone(),
        pieces: set.size,
        kinds: set.kinds.len(),
        orientations: set.orientations,
    };
    definition.sets.iter().map(line).collect()
}

/// The engine that would search it, and why it or none.
fn engine(survey: &Survey) -> (Option<&'static str>, String) {
    match (&survey.refusal, survey.key_bits) {
        (Some(refusal), _) => (None, refusal.to_string()),
        (None, Ok(_)) => {
            let limit = Survey::MAX_KEY_BITS;
            (
                Some("explicit"),
                format!("keys of at most {limit} bits; layers on disk, within --memory"),
            )
        }
        (None, Err(_)) => {
            (None, format!("keys would have more than {} bits", Survey::MAX_KEY_BITS))
        }
    }
}

/// Constraints of orientation and parity in words.
fn constraints(definition: &Definition, survey: &Survey) -> Vec<String> {
    let orbits = &survey.invariants.orbits;
    let name = |index: usize| {
        let Some(orbit) = orbits.get(index) else { return String::new() };
        let set = orbit.slots.first().and_then(|slot| definition.set_of(*slot));
        let Some(set) = set else { return String::new() };
        if orbit.slots.len() == set.size {
            return set.name.clone();
        }
        let slots: Vec<String> =
            orbit.slots.iter().map(|slot| (slot - set.offset + 1).to_string()).collect();
        format!("{} in slots {}", set.name, slots.join(" "))
    };
    let turns = orbits.iter().enumerate().filter(|(_, orbit)| orbit.turn_step > 1);
    let turns = turns.map(|(index, orbit)| {
        format!("the turns of {} sum to 0 modulo {}", name(index), orbit.turn_step)
    });
    let parities = survey.invariants.parities.iter().map(|terms| {
        let terms = terms.iter().map(|term| match term {
            Term::Permutation(index) => format!("the permutation of {}", name(*index)),
            Term::Turns(index) => format!("the sum of turns of {}", name(*index)),
        });
        let terms: Vec<String> = terms.collect();
        match &terms[..] {
            [one] => format!("{one} is even"),
            all => format!("{} are even together", all.join(" and ")),
        }
    });
    turns.chain(parities).collect()
}

/// A number with commas.
fn grouped(digits: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

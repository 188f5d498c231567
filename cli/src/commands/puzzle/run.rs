//! Run of `strata puzzle info`.

use std::io::{self, Write};

use serde::Serialize;
use strata_puzzles::permutation::{Definition, Format, Survey, Term};
use strata_run::{EngineChoice, RunOptions, choose_engine_by};
use strata_space::dense::DenseSize;
use strata_space::{Parameters, SpaceError, file_value};

use super::args::{InfoArgs, PuzzleCommand};
use crate::files;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure, with_flags};
use crate::output::json::write_line;
use crate::output::stdout;
use crate::output::units;
use crate::program;
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
    /// Texts about moves whose names are not in the usual form, with the reason.
    clashes: Vec<String>,
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
    /// Symmetries of the moves, the identity included; null if none can be used.
    symmetries: Option<usize>,
    /// Symmetries that reverse the direction of turns.
    mirrors: Option<usize>,
    /// Why no symmetries can be used.
    symmetry_refusal: Option<String>,
    /// The least number of states that `--symmetry on` stores, if the number of states is known.
    least_states: Option<String>,
    key_bits: u64,
    /// Whether keys consist of coordinates; otherwise they are ranks.
    coordinates: bool,
    engine: Option<&'static str>,
    reason: String,
    /// Advice on how to search faster or in less memory.
    advice: Option<String>,
    dense: Option<DenseLine>,
    /// Why there is no dense form.
    dense_refusal: Option<String>,
    /// Estimated seconds of the explicit engine, if the number of states is known.
    explicit_seconds: Option<f64>,
}

/// The dense form.
#[derive(Debug, Serialize)]
struct DenseLine {
    states: u64,
    blocks: u32,
    rows: u32,
    lanes: u32,
    undirected: bool,
    table_bytes: u64,
    /// Bytes of the bit planes in memory, four bits for each lane of a word: two for the depth, one
    /// each for the current and the next layer.
    plane_bytes: u64,
    /// Upper bound of the bytes of the files of two layers, with one bit a state in each.
    disk_bytes: u64,
    /// Estimated seconds of one thread, without the files.
    seconds: f64,
}

/// Limit of the lines about names of moves.
const MAX_CLASHES: usize = 8;

/// Seconds in which one thread of the dense engine applies one move to a word: 8 to 15 ns in the
/// searches of docs/benchmarks.md.
const WORD_SECONDS: f64 = 12e-9;

/// Successors a second of the explicit engine with one thread, where keys are coordinates: 13 to 24
/// million were measured with the 3x3x3.
const COORDINATE_RATE: f64 = 20e6;

/// As [`COORDINATE_RATE`], where keys are ranks of up to [`SHORT_RANK_BITS`] bits: 6.7 to 8.1 million were
/// measured in searches of four whole spaces.
const SHORT_RANK_RATE: f64 = 7e6;

/// As [`COORDINATE_RATE`], where keys are longer ranks: 1.1 million were measured with 16 pancakes, 3.6
/// million with 20 tokens of TopSpin.
const LONG_RANK_RATE: f64 = 2e6;

const SHORT_RANK_BITS: u32 = 40;

impl DenseLine {
    fn of(size: &DenseSize, moves: usize) -> DenseLine {
        let words = size.shape.words();
        DenseLine {
            states: size.states,
            blocks: size.shape.blocks,
            rows: size.shape.rows,
            lanes: size.shape.lanes,
            undirected: size.is_undirected,
            table_bytes: size.table_bytes,
            plane_bytes: words.saturating_mul(32),
            disk_bytes: size.states / 4,
            seconds: words as f64 * moves as f64 * WORD_SECONDS,
        }
    }
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
        let content = request::read_file(&args.file.to_string_lossy())?;
        let definition = Definition::read(&content).map_err(|error| {
            let (line, column, why) = (error.line, error.column, error.why);
            let name = files::input_name(&args.file);
            Failure::usage(SpaceError::File { name, line, column, why })
        })?;
        let survey = Survey::of(&definition, args.moves.as_deref(), args.inverses);
        let survey = survey.map_err(Failure::usage)?;
        let order = survey.order.as_ref().ok();
        let exact = order.filter(|_| survey.is_exact);
        let (engine, reason, advice) = engine(&content, args, &survey);
        let states = exact.filter(|_| survey.counts_states);
        let symmetries = survey.symmetries.as_ref().ok();
        let least = symmetries.zip(states).map(|(found, states)| {
            let stored = (states + found.all - 1_usize) / found.all;
            stored.to_string()
        });
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
            states: states.map(ToString::to_string),
            symmetries: symmetries.map(|found| found.all),
            mirrors: symmetries.map(|found| found.mirrors),
            symmetry_refusal: survey.symmetries.as_ref().err().map(|why| with_flags(why)),
            least_states: least,
            key_bits: survey.key_bits.map_or_else(|bits| bits, u64::from),
            coordinates: survey.has_coordinates,
            dense: survey.dense.as_ref().ok().map(|size| DenseLine::of(size, survey.moves.len())),
            dense_refusal: survey.dense.as_ref().err().map(|why| with_flags(why)),
            explicit_seconds: explicit_seconds(&survey),
            clashes: survey.clashes,
            moves: survey.moves,
            engine,
            reason,
            advice,
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
        self.write_moves(&mut line)?;
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
        if let Some(advice) = &self.advice {
            line("advice", advice)?;
        }
        line("symmetries", &self.symmetries_text())?;
        let kind = if self.coordinates { "coordinates" } else { "a rank" };
        line("key", &format!("{} bits, {kind}", self.key_bits))?;
        line("engine", &format!("{}: {}", self.engine.unwrap_or("none"), self.reason))?;
        if let Some(seconds) = self.explicit_seconds {
            line("explicit", &format!("about {} of one thread (estimated)", duration(seconds)))?;
        }
        match (&self.dense, &self.dense_refusal) {
            (Some(dense), _) => dense.write(&mut line),
            (None, Some(why)) => line("dense", &format!("none: {why}")),
            (None, None) => Ok(()),
        }
    }
}

impl Report {
    /// The moves, their unusual names, and what the file has beside them.
    fn write_moves(&self, line: &mut impl FnMut(&str, &str) -> io::Result<()>) -> io::Result<()> {
        line("moves", &format!("{}: {}", self.moves.len(), self.moves.join(" ")))?;
        for clash in self.clashes.iter().take(MAX_CLASHES) {
            line("names", clash)?;
        }
        if self.clashes.len() > MAX_CLASHES {
            line(
                "names",
                &format!("{} more are not in the usual form", self.clashes.len() - MAX_CLASHES),
            )?;
        }
        if !self.rotations.is_empty() {
            line("rotations", &self.rotations.join(" "))?;
        }
        if self.illegal > 0 {
            line("illegal", &format!("{} pairs of a slot and a piece", self.illegal))?;
        }
        Ok(())
    }

    /// Symmetries, and what `--symmetry on` saves.
    fn symmetries_text(&self) -> String {
        let all = match (self.symmetries, &self.symmetry_refusal) {
            (Some(1), _) => return "1, so --symmetry on saves nothing".to_owned(),
            (Some(all), _) => all,
            (None, Some(why)) => return format!("none are used: {why}"),
            (None, None) => return "none are used".to_owned(),
        };
        let mirrors = match self.mirrors {
            Some(0) | None => String::new(),
            Some(mirrors) => format!(", {mirrors} of them mirror images"),
        };
        let stored = match &self.least_states {
            Some(least) => format!("at least {} states", grouped(least)),
            None => format!("at least 1/{all} of the states"),
        };
        format!("{all}{mirrors}; --symmetry on stores {stored}")
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

impl DenseLine {
    fn write(&self, line: &mut impl FnMut(&str, &str) -> io::Result<()>) -> io::Result<()> {
        let DenseLine { blocks, rows, lanes, .. } = self;
        line("dense", &format!("{blocks} blocks of {rows} rows of {lanes} lanes"))?;
        let (planes, tables) = (bytes(self.plane_bytes), bytes(self.table_bytes));
        line("", &format!("{planes} of planes in memory, or a part of them; {tables} of tables"))?;
        let (disk, time) = (bytes(self.disk_bytes), duration(self.seconds));
        line("", &format!("at most {disk} on disk for two layers"))?;
        line("", &format!("about {time} of one thread (estimated)"))
    }
}

/// Estimated time of the explicit engine, which makes the successors of each state by each move.
fn explicit_seconds(survey: &Survey) -> Option<f64> {
    let order = survey.order.as_ref().ok().filter(|_| survey.is_exact && survey.counts_states)?;
    let states: f64 = order.to_string().parse().ok()?;
    let rate = match survey.key_bits {
        Ok(_) if survey.has_coordinates => COORDINATE_RATE,
        Ok(0..=SHORT_RANK_BITS) => SHORT_RANK_RATE,
        Ok(_) => LONG_RANK_RATE,
        Err(_) => return None,
    };
    Some(states * survey.moves.len() as f64 / rate)
}

/// Bytes in a unit that is easy to read.
fn bytes(bytes: u64) -> String {
    match bytes {
        0..0x40_0000 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        0x40_0000..0x1_0000_0000 => format!("{} MiB", bytes.div_ceil(1 << 20)),
        _ => format!("{} GiB", bytes.div_ceil(1 << 30)),
    }
}

/// Seconds in a unit that is easy to read.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".to_owned(),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} hours", s / 3600.0),
        s if s < 63_115_200.0 => format!("{:.0} days", s / 86400.0),
        s => format!("{} years", units::count((s / 31_557_600.0) as u64)),
    }
}

/// The engine that `solve` would choose with its default memory; the reason for it, or why there is
/// none; and advice.
fn engine(
    content: &str,
    args: &InfoArgs,
    survey: &Survey,
) -> (Option<&'static str>, String, Option<String>) {
    let mut parameters = Parameters::from([("file".to_owned(), file_value(content))]);
    parameters.extend(args.moves.iter().map(|names| ("moves".to_owned(), names.clone())));
    parameters.insert("inverses".to_owned(), args.inverses.to_string());
    let space = match program::puzzles().open("puzzle", &parameters) {
        Ok(space) => space,
        Err(error) => return (None, error.to_string(), None),
    };
    let options = RunOptions { threads: 1, ..RunOptions::default() };
    let needs = options.engine_needs(&[]);
    let advice = space.advice().as_deref().map(with_flags);
    match space.check_explicit() {
        Err(error) if survey.dense.is_err() && space.nested().is_err() => {
            (None, with_flags(&error.to_string()), advice)
        }
        _ => {
            let EngineChoice { engine, reason } =
                choose_engine_by(&space, || survey.dense_size(), &needs);
            (Some(engine.name()), reason, advice)
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

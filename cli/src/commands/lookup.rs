//! `strata lookup`: distances of states from the start, from the layers of a finished job.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;
use strata_run::size::parse_size;
use strata_run::{LookUp, LookUpAnswer, LookUpOptions};
use strata_store::Manifest;

use crate::files;
use crate::folder;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::stdout;
use crate::target::{Target, TargetArgs};

/// Most bytes of a file of states.
const FILE_LIMIT: u64 = 1 << 32;

/// Arguments of `lookup`.
#[derive(Debug, Args)]
pub(crate) struct LookUpArgs {
    /// The job.
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// States: texts, or moves from the solved state
    #[arg(value_name = "STATE", required_unless_present = "states")]
    given: Vec<String>,

    /// File with a state on each line; - for standard input. Lines that are empty or begin with # are skipped
    #[arg(long, value_name = "FILE", conflicts_with = "given")]
    #[arg(env = "STRATA_STATES", hide_env_values = true)]
    states: Option<PathBuf>,

    /// Print the moves of a shortest way to each state
    #[arg(long, env = "STRATA_PATHS", hide_env_values = true)]
    #[arg(value_parser = clap::builder::BoolishValueParser::new())]
    paths: bool,

    /// Print the number of shortest ways to each state
    #[arg(long, env = "STRATA_COUNT", hide_env_values = true)]
    #[arg(value_parser = clap::builder::BoolishValueParser::new())]
    count: bool,

    /// Form of the output
    #[arg(long, value_enum, default_value = "text", env = "STRATA_FORMAT", hide_env_values = true)]
    format: Format,

    /// Memory budget of the ways to all states together
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    #[arg(env = "STRATA_MEMORY", hide_env_values = true, value_parser = parse_size)]
    memory: u64,
}

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line of text for each state
    Text,
    /// Comma-separated values with a heading
    Csv,
    /// A JSON object for each state
    Jsonl,
}

/// Runs `strata lookup`.
///
/// # Errors
/// If there is no such job, it has not kept its layers, a state is not one, or a file is damaged.
pub(crate) fn run(args: &LookUpArgs, console: &Console) -> Result<ExitCode, Failure> {
    let folder = match args.target.find()? {
        Target::Folder(folder) => folder,
        Target::Cluster(found) => {
            let message =
                format!("{} is a job of the cluster: lookup reads jobs in folders", found.job.id);
            return Err(Failure::usage(message));
        }
    };
    let (folder, manifest) = folder::open(&folder)?;
    let space = folder::space(&folder, &manifest)?;
    let known = Known::of(&manifest);
    let wanted = LookUpOptions { moves: args.paths, ways: args.count };
    let mut look_up = LookUp::new(&folder, &manifest, space, wanted)?;
    let content = args.states.as_deref().map(read).transpose()?;
    let states = states(args, content.as_deref());
    for State { text, number } in &states {
        let refused = |error| Failure::usage(format!("{}: {error}", place(args, *number)));
        look_up.add(text).map_err(refused)?;
    }
    let answers = look_up.answer(args.memory)?;
    stdout::print(|out| {
        if args.format == Format::Csv && !console.json {
            writeln!(out, "state,depth,ways,moves")?;
        }
        let mut lines = states.iter().zip(&answers);
        lines.try_for_each(|(state, answer)| {
            let form = (args.format, console.json, known);
            write(form, state.text, answer, out)
        })
    })?;
    Ok(ExitCode::Done)
}

/// What a job knows of its space.
#[derive(Clone, Copy)]
enum Known {
    /// All that can be reached.
    All,
    /// The states up to a depth.
    UpTo(u32),
}

impl Known {
    fn of(manifest: &Manifest) -> Known {
        match (&manifest.result, &manifest.checkpoint) {
            (Some(result), _) if result.moves.is_none() => Known::All,
            (_, checkpoint) => Known::UpTo(checkpoint.as_ref().map_or(0, |last| last.depth)),
        }
    }
}

/// A state as given.
struct State<'a> {
    text: &'a str,
    /// Number of the argument or of the line, from 1.
    number: usize,
}

/// Where a state was given, for messages.
fn place(args: &LookUpArgs, number: usize) -> String {
    match &args.states {
        Some(file) => format!("{}, line {number}", files::input_name(file)),
        None => format!("state {number}"),
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    let name = files::input_name(file);
    let content = files::read_text(file, FILE_LIMIT);
    content.map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))
}

fn states<'a>(args: &'a LookUpArgs, content: Option<&'a str>) -> Vec<State<'a>> {
    let Some(content) = content else {
        let given = args.given.iter().zip(1..);
        return given.map(|(text, number)| State { text, number }).collect();
    };
    let lines = content.lines().zip(1..).map(|(line, number)| State { text: line.trim(), number });
    lines.filter(|line| !line.text.is_empty() && !line.text.starts_with('#')).collect()
}

/// Writes what was found of a state. A field that was not asked for, or has no value, is empty.
fn write(
    (format, json, known): (Format, bool, Known),
    state: &str,
    answer: &LookUpAnswer,
    out: &mut impl Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        state: &'a str,
        depth: Option<u32>,
        ways: Option<String>,
        moves: Option<String>,
    }
    let ways = answer.ways.as_ref().map(ToString::to_string);
    let moves = answer.moves.as_ref().map(|moves| moves.join(" "));
    let line = Line { state, depth: answer.depth, ways, moves };
    if json {
        return write_line("looked_up", &line, out);
    }
    match format {
        Format::Text => {
            let Some(depth) = line.depth else {
                return match known {
                    Known::All => writeln!(out, "{state}: not reached"),
                    Known::UpTo(depth) => writeln!(out, "{state}: not reached up to depth {depth}"),
                };
            };
            write!(out, "{state}: depth {depth}")?;
            if let Some(ways) = &line.ways {
                write!(out, ", {ways} {}", if ways == "1" { "way" } else { "ways" })?;
            }
            line.moves
                .iter()
                .filter(|moves| !moves.is_empty())
                .try_for_each(|moves| write!(out, ", {moves}"))?;
            writeln!(out)
        }
        Format::Csv => {
            let depth = line.depth.map(|depth| depth.to_string()).unwrap_or_default();
            let (ways, moves) = (line.ways.unwrap_or_default(), line.moves.unwrap_or_default());
            writeln!(out, "{},{depth},{ways},{}", quoted(state), quoted(&moves))
        }
        Format::Jsonl => {
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)
        }
    }
}

/// A field of a table of comma-separated values.
fn quoted(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}

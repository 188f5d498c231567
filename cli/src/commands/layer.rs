//! `strata layer`: the states of one layer of a job, counted or in the space's text form.

use std::io::{self, Write};
use std::ops::ControlFlow;

use clap::Args;
use serde::Serialize;
use strata_proto::net::printable;
use strata_proto::v1;
use strata_run::size::parse_size;
use strata_run::{Error, LayerView, ListedState, layer_states, open_layer, search_layer};

use crate::client::record::{self, Spec};
use crate::folder;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::stdout;
use crate::output::units;
use crate::program;
use crate::target::{ClusterJob, Target, TargetArgs};

/// Arguments of `layer`.
#[derive(Debug, Args)]
pub(crate) struct LayerArgs {
    /// The job.
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Depth of the layer
    pub(crate) depth: u32,

    /// Print all states, one per line; symmetric states are printed once, as the text that sorts first
    #[arg(long, conflicts_with = "sample", env = "STRATA_LIST", hide_env_values = true)]
    #[arg(value_parser = clap::builder::BoolishValueParser::new())]
    list: bool,

    /// Print N states, evenly spaced in the order of storage
    #[arg(long, value_name = "N", env = "STRATA_SAMPLE", hide_env_values = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,

    /// Memory budget of a symbolic layer, which is searched again if the job does not hold it
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    #[arg(env = "STRATA_MEMORY", hide_env_values = true, value_parser = parse_size)]
    memory: u64,
}

/// Output of the command.
enum Selection {
    Count,
    All,
    Sample(u64),
}

impl LayerArgs {
    fn selection(&self) -> Selection {
        match (self.list, self.sample) {
            (true, _) => Selection::All,
            (false, Some(number)) => Selection::Sample(number),
            (false, None) => Selection::Count,
        }
    }
}

/// Runs `strata layer`.
///
/// # Errors
/// If there is no such job or layer, its files do not hold the layer, or a file is damaged.
pub(crate) fn run(args: &LayerArgs, console: &Console) -> Result<ExitCode, Failure> {
    let layer = match args.target.find()? {
        Target::Folder(folder) => {
            let (folder, manifest) = folder::open(&folder)?;
            let space = folder::space(&folder, &manifest)?;
            match open_layer(&folder, manifest.clone(), space, args.depth, args.memory) {
                Ok(layer) => layer,
                // The history has the counts of layers whose files are gone.
                Err(Error::LayerNotHeld { .. }) if matches!(args.selection(), Selection::Count) => {
                    return count(args, console, layer_states(&folder, manifest, args.depth)?);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Target::Cluster(found) => match searched_again(args, &found.job)? {
            Some(layer) => layer,
            None => return of_workers(args, &found, console),
        },
    };
    match args.selection() {
        Selection::Count => count(args, console, layer.states()),
        Selection::All => list(args, console, |print| layer.visit(print)),
        Selection::Sample(number) => list(args, console, |print| layer.sample(number, print)),
    }
}

/// A layer of a cluster's symbolic job, searched again in this process: its workers have no files of
/// layers. None for a job of another engine.
///
/// # Errors
/// If the job has not reached the layer, or the layer does not fit the memory.
fn searched_again(args: &LayerArgs, job: &v1::Job) -> Result<Option<LayerView>, Failure> {
    let Spec { space, parameters, engine, .. } = record::spec(job);
    if !engine.is_symbolic() {
        return Ok(None);
    }
    if job.depth.is_none_or(|last| last < args.depth) {
        let last = job.depth.map_or("none".to_owned(), |depth| depth.to_string());
        let message = format!("job {} has no layer {} (the last is {last})", job.id, args.depth);
        return Err(Failure::usage(message));
    }
    let space = program::puzzles().open(space, &parameters).map_err(Failure::usage)?;
    Ok(Some(search_layer(&space, engine, args.depth, args.memory)?))
}

/// Counts or lists a layer from the files of a cluster's workers.
fn of_workers(
    args: &LayerArgs,
    found: &ClusterJob<'_>,
    console: &Console,
) -> Result<ExitCode, Failure> {
    let ClusterJob { remote, job } = found;
    let sample = match args.selection() {
        Selection::Count => Some(0),
        Selection::All => None,
        Selection::Sample(number) => Some(number),
    };
    let layer = v1::LayerRef { job: job.id.clone(), depth: args.depth };
    let mut parts = remote.list_states(layer, sample)?;
    let mut total = None;
    let mut output = stdout::Output::stdout();
    while let Some(part) = remote.next(&mut parts)? {
        total.get_or_insert(part.total);
        output.write_with(|out| {
            part.states.iter().try_for_each(|state| write(args, console, &printable(state), out))
        });
        if output.is_closed() {
            break;
        }
    }
    output.finish().map_err(stdout::failure)?;
    match sample {
        Some(0) => count(args, console, total.unwrap_or(0)),
        _ => Ok(ExitCode::Done),
    }
}

fn count(args: &LayerArgs, console: &Console, states: u64) -> Result<ExitCode, Failure> {
    #[derive(Serialize)]
    struct Line {
        depth: u32,
        states: u64,
    }
    stdout::print(|out| {
        if !console.json {
            return writeln!(out, "depth {}: {} states", args.depth, units::count(states));
        }
        write_line("layer_states", &Line { depth: args.depth, states }, out)
    })?;
    Ok(ExitCode::Done)
}

/// Writes a state, as a line of text or as a JSON line.
fn write(args: &LayerArgs, console: &Console, state: &str, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        depth: u32,
        state: &'a str,
    }
    if !console.json {
        return writeln!(out, "{state}");
    }
    write_line("layer_state", &Line { depth: args.depth, state }, out)
}

/// Prints the states that `visit` passes on.
fn list(
    args: &LayerArgs,
    console: &Console,
    visit: impl FnOnce(&mut dyn FnMut(ListedState) -> ControlFlow<()>) -> strata_run::Result<()>,
) -> Result<ExitCode, Failure> {
    let mut outcome = Ok(());
    stdout::print(|out| {
        let mut failed: Option<io::Error> = None;
        outcome = visit(&mut |state| match write(args, console, &state.text, out) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        });
        failed.map_or(Ok(()), Err)
    })?;
    Ok(outcome.map(|()| ExitCode::Done)?)
}

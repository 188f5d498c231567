//! `strata layer`: the states of one layer of a job, counted or in the space's text form.

use std::io::{self, Write};
use std::ops::ControlFlow;

use clap::Args;
use serde::Serialize;
use strata::size::parse_size;
use strata::{ListedState, open_layer};

use crate::folder;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::stdout;
use crate::output::units;
use crate::target::TargetArgs;

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
pub(crate) fn run(args: &LayerArgs, console: &Console) -> Result<ExitCode, Failure> {
    let (folder, manifest) = folder::open(&args.target.folder("layer")?)?;
    let space = folder::space(&folder, &manifest)?;
    let layer = open_layer(&folder, manifest, space, args.depth, args.memory)?;
    match args.selection() {
        Selection::Count => count(args, console, layer.states()),
        Selection::All => list(|print| layer.visit(print)),
        Selection::Sample(number) => list(|print| layer.sample(number, print)),
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

/// Prints the positions that `visit` shows.
fn list(
    visit: impl FnOnce(&mut dyn FnMut(ListedState) -> ControlFlow<()>) -> strata::Result<()>,
) -> Result<ExitCode, Failure> {
    let mut outcome = Ok(());
    stdout::print(|out| {
        let mut failed: Option<io::Error> = None;
        outcome = visit(&mut |state| match writeln!(out, "{}", state.text) {
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

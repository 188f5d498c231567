//! `strata layer`: the states of one layer of a job, counted or in the space's text form.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use strata::{ListedState, open_layer};

use crate::commands::verify;
use crate::output::console::Console;
use crate::output::events::VERSION;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;
use crate::output::units;

/// Arguments of `layer`.
#[derive(Debug, Args)]
pub(crate) struct LayerArgs {
    /// The job's folder, or a data directory that holds one job only
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// The layer's distance from the start
    pub(crate) depth: u32,

    /// Print all states, one a line; of symmetric positions the first in the order of their texts
    #[arg(long, conflicts_with = "sample", env = "STRATA_LIST", hide_env_values = true)]
    #[arg(value_parser = clap::builder::BoolishValueParser::new())]
    list: bool,

    /// Print N positions, evenly spaced in the order in which the layer is held
    #[arg(long, value_name = "N", env = "STRATA_SAMPLE", hide_env_values = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,

    /// Memory budget of a symbolic layer, which is searched for again if the job does not hold it
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    #[arg(env = "STRATA_MEMORY", hide_env_values = true, value_parser = units::parse_size)]
    memory: u64,
}

/// What is to be printed of a layer.
enum Wanted {
    Count,
    All,
    Sample(u64),
}

impl LayerArgs {
    fn wanted(&self) -> Wanted {
        match (self.list, self.sample) {
            (true, _) => Wanted::All,
            (false, Some(number)) => Wanted::Sample(number),
            (false, None) => Wanted::Count,
        }
    }
}

/// Runs `strata layer`.
pub(crate) fn run(args: &LayerArgs, console: &Console) -> Result<ExitCode, Failure> {
    let (folder, manifest) = verify::open(&verify::job_folder(&args.dir)?)?;
    let space = verify::space(&folder, &manifest)?;
    let layer = open_layer(&folder, manifest, space, args.depth, args.memory)?;
    match args.wanted() {
        Wanted::Count => count(args, console, layer.states()),
        Wanted::All => list(|print| layer.visit(print)),
        Wanted::Sample(number) => list(|print| layer.sample(number, print)),
    }
}

fn count(args: &LayerArgs, console: &Console, states: u64) -> Result<ExitCode, Failure> {
    #[derive(Serialize)]
    struct Line {
        v: u32,
        event: &'static str,
        depth: u32,
        states: u64,
    }
    stdout::print(|out| {
        if !console.json {
            return writeln!(out, "depth {}: {} states", args.depth, units::count(states));
        }
        let line = Line { v: VERSION, event: "layer_states", depth: args.depth, states };
        serde_json::to_writer(&mut *out, &line)?;
        writeln!(out)
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

//! `strata layer`: the states of one layer of a job, counted or in the space's text form.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use strata::catalogue::Space;
use strata::load_frontier;
use strata_space::{RegionKey, State};
use strata_store::{EngineKind, JobDir, Layer, LayerCursor, Manifest};
use strata_symbolic::{AnySearch, Options};

use crate::commands::verify;
use crate::folder::audit;
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
    if manifest.spec.engine.is_explicit() {
        explicit(args, console, (&folder, &manifest), space)
    } else {
        symbolic(args, console, (&folder, &manifest), &space)
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
    visit: impl FnOnce(&mut dyn FnMut(String) -> ControlFlow<()>) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let mut outcome = Ok(());
    stdout::print(|out| {
        let mut failed: Option<io::Error> = None;
        outcome = visit(&mut |text| match writeln!(out, "{text}") {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        });
        failed.map_or(Ok(()), Err)
    })?;
    outcome.map(|()| ExitCode::Done)
}

fn explicit(
    args: &LayerArgs,
    console: &Console,
    (folder, manifest): (&JobDir, &Manifest),
    space: Space,
) -> Result<ExitCode, Failure> {
    let layers = files(args.depth, folder, manifest)?;
    let states = layers.iter().map(|layer| layer.totals().states).sum::<u64>();
    let engine = space.engine(manifest.spec.shards);
    let step = match args.wanted() {
        Wanted::Count => return count(args, console, states),
        Wanted::All => 1,
        Wanted::Sample(number) => states.div_ceil(number).max(1),
    };
    list(|print| {
        let mut cursor = LayerCursor::new()?;
        let mut at = 0;
        for layer in &layers {
            cursor.start(layer, strata_store::KeyRange::ALL)?;
            while let Some(key) = cursor.key() {
                for local in cursor.locals()? {
                    at += 1;
                    let state = State { region: RegionKey(key.region), local: *local };
                    if (at - 1) % step == 0 && print(engine.text(state)).is_break() {
                        return Ok(());
                    }
                }
                cursor.advance()?;
            }
        }
        Ok(())
    })
}

/// The files of a layer that the job holds.
fn files(depth: u32, folder: &JobDir, manifest: &Manifest) -> Result<Vec<Layer>, Failure> {
    let ledger = audit::ledger(folder, manifest)?;
    let checkpoint = audit::open_checkpoint(folder, manifest)?;
    let held: Vec<Layer> =
        checkpoint.into_iter().filter(|layer| layer.header().depth == depth).collect();
    if !held.is_empty() {
        return Ok(held);
    }
    let kept = ledger.lines.get(depth as usize).and_then(|line| line.kept.as_ref());
    let Some(kept) = kept else {
        let last = manifest.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.depth);
        let message = format!(
            "job {} does not hold layer {depth}: it holds layers {} and {last}, and those that \
             --keep-layers keeps",
            manifest.job,
            last.saturating_sub(1)
        );
        return Err(Failure::usage(message));
    };
    let open = |kept: &strata_store::KeptFile| {
        let expect = kept.expect(folder.job(), depth);
        Layer::open(folder.fs().clone(), &folder.file_path(&kept.file)?, &expect)
    };
    Ok(kept.iter().map(open).collect::<Result<_, _>>()?)
}

fn symbolic(
    args: &LayerArgs,
    console: &Console,
    (folder, manifest): (&JobDir, &Manifest),
    space: &Space,
) -> Result<ExitCode, Failure> {
    let form = space.nested().map_err(Failure::usage)?;
    let memory = usize::try_from(args.memory).unwrap_or(usize::MAX);
    let digests = manifest.spec.engine == EngineKind::Symbolic;
    let options = Options { memory, keep_layers: false, digests, verify: 0, threads: 1 };
    let full = |error: strata_symbolic::StepError| Failure::new(ExitCode::Limit, error.to_string());
    let mut search = form.open(options).map_err(full)?;
    let records = manifest.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers);
    if let Some(record) = records.into_iter().find(|record| record.depth <= args.depth) {
        load_frontier(folder, record, &mut *search)?;
    }
    let mut states = search.layer().stats.states;
    while search.depth() < args.depth && states > 0 {
        states = search.advance().map_err(full)?.stats.states;
    }
    if states == 0 {
        let last = search.depth().saturating_sub(1);
        return Err(Failure::usage(format!(
            "there is no layer {}: the last is {last}",
            args.depth
        )));
    }
    print_diagram(args, console, &*search)
}

fn print_diagram(
    args: &LayerArgs,
    console: &Console,
    search: &dyn AnySearch,
) -> Result<ExitCode, Failure> {
    match args.wanted() {
        Wanted::Count => count(args, console, search.layer().stats.states),
        Wanted::All => list(|print| {
            search.visit_texts(print);
            Ok(())
        }),
        Wanted::Sample(number) => list(|print| {
            let positions = search.positions();
            let number = number.min(positions);
            for place in 0..number {
                let at = u128::from(place) * u128::from(positions) / u128::from(number);
                let text = search.nth_text(at as u64);
                if text.is_some_and(|text| print(text).is_break()) {
                    break;
                }
            }
            Ok(())
        }),
    }
}

//! `strata path`: the moves of a shortest solution found by a job, here that of a cluster.
//!
//! The moves are traced back through the kept layers. Where the engine has no files of layers, a worker
//! searches again.

use clap::Args;
use clap::builder::BoolishValueParser;
use strata_engine::explicit::Trace;
use strata_proto::net::convert;
use strata_proto::v1;
use strata_run::forecast::Forecast;
use strata_run::{numbering, trace_dense};
use strata_space::dense::DenseState;
use strata_store::EngineKind;

use crate::client::layers::RemoteLayers;
use crate::client::remote::Remote;
use crate::client::{record, searched};
use crate::commands::local_path::{self, PathResources};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::path_form::PathForm;
use crate::output::progress::Progress;
use crate::program;
use crate::spaces::puzzle::Puzzle;
use crate::target::{ClusterJob, Target, TargetArgs};

/// Arguments of `path`.
#[derive(Debug, Args)]
pub(crate) struct PathJobArgs {
    /// The job.
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Form and destination of the moves.
    #[command(flatten)]
    form: PathForm,

    /// Resources of a search for the path.
    #[command(flatten)]
    resources: PathResources,

    /// End when standard input ends, as it does with the process that started this one
    #[arg(long, hide = true, env = "STRATA_UNTIL_INPUT_ENDS", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    until_input_ends: bool,
}

/// Runs `strata path`.
pub(crate) fn run(args: &PathJobArgs, console: &Console) -> Result<ExitCode, Failure> {
    args.form.check()?;
    if args.until_input_ends {
        end_with_input()?;
    }
    let ClusterJob { remote, job } = match args.target.find()? {
        Target::Folder(folder) => {
            return local_path::run(&folder, &args.form, &args.resources, console);
        }
        Target::Cluster(found) => *found,
    };
    if let Some(flag) = args.target.places.typed.first_of(&PathResources::FLAGS) {
        let message = format!("--{flag} is for a job in a folder: {} is the cluster's", job.id);
        return Err(Failure::usage(message));
    }
    let result = found(&job)?;
    let spec = convert::spec_from(job.spec.clone())
        .map_err(|error| Failure::new(ExitCode::Unexpected, error))?;
    let puzzle = Puzzle::open(&spec)?;
    let mut layers = RemoteLayers::new(&remote, &job.id, &args.target.places.data_dir);
    let unreached = || {
        let message = format!("the layers of job {} do not lead to the goal", job.id);
        Failure::new(ExitCode::Corrupt, message)
    };
    let path = match spec.engine {
        EngineKind::Explicit => {
            let chain =
                Trace::new(puzzle.space(), spec.shards)?.chain(result.layers, &mut layers)?;
            puzzle.path_along(&chain.ok_or_else(unreached)?)
        }
        EngineKind::Dense | EngineKind::DenseLean => {
            let positions = dense(&puzzle, result.layers, &remote, &layers)?;
            puzzle.path_through(positions.ok_or_else(unreached)?)
        }
        EngineKind::Symbolic | EngineKind::SymbolicLean => {
            puzzle.path_through(searched::positions(&remote, &job, result.layers)?)
        }
    };
    let apart = || {
        let message = format!("the positions of the path of {} are not one move apart", job.id);
        Failure::new(ExitCode::Unexpected, message)
    };
    let path = path.ok_or_else(apart)?;
    let progress = Progress::start(console, &Forecast::default());
    puzzle.show(path, result.moves, &args.form, false, &progress)?;
    progress.finish()?;
    Ok(ExitCode::Done)
}

/// Ends this process when its standard input ends.
fn end_with_input() -> Result<(), Failure> {
    let watch = || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(ExitCode::Interrupted as i32);
    };
    let thread = std::thread::Builder::new().name("input".to_owned()).spawn(watch);
    thread.map(drop).map_err(|error| {
        Failure::new(ExitCode::Unexpected, format!("cannot watch standard input: {error}"))
    })
}

/// The result of a job with a path.
///
/// # Errors
/// If the job has not reached a goal or has not kept the layers that its engine needs.
fn found(job: &v1::Job) -> Result<v1::JobResult, Failure> {
    let id = &job.id;
    let kept = record::keep(&job.options.unwrap_or_default());
    let needs_layers = !record::spec(job).engine.is_symbolic();
    match job.result.clone() {
        None => Err(Failure::usage(format!("job {id} is {}: it has no path", record::state(job)))),
        Some(result) if result.moves.is_none() => {
            Err(Failure::usage(format!("job {id} has reached no goal: there is no path")))
        }
        Some(_) if needs_layers && kept != "all" => {
            let message = format!(
                "job {id} has kept layers: {kept}; a path needs one submitted with --keep-layers all\
                 {}",
                symbolic_hint(job)
            );
            Err(Failure::usage(message))
        }
        Some(result) => Ok(result),
    }
}

/// What also leads to a path where the space is nested.
fn symbolic_hint(job: &v1::Job) -> &'static str {
    let spec = record::spec(job);
    let space = program::puzzles().open(spec.space, &spec.parameters);
    match space.is_ok_and(|space| space.nested().is_ok()) {
        true => ", or with --engine symbolic",
        false => "",
    }
}

/// The positions from the start of a dense job to a goal of its last layer.
fn dense(
    puzzle: &Puzzle,
    depth: u32,
    remote: &Remote<'_>,
    layers: &RemoteLayers<'_>,
) -> Result<Option<Vec<String>>, Failure> {
    let space = puzzle.dense().map_err(Failure::usage)?;
    let numbering = numbering(&*space);
    let look_up = |depth: u32, states: &[DenseState]| {
        let request = v1::LookUpRequest {
            layer: Some(layers.layer(depth)),
            candidates: states.iter().map(|state| convert::dense_candidate_to(*state)).collect(),
            numbering: Some(convert::numbering_to(&numbering)),
        };
        let found = remote.look_up(request)?.index.map(|index| index as usize);
        Ok::<_, Failure>(found.filter(|index| *index < states.len()))
    };
    let goals = space.tables().goals();
    let Some(index) = look_up(depth, goals)? else { return Ok(None) };
    trace_dense(&*space, (goals[index], depth), None, look_up)
}

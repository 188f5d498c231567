//! `strata path`: the moves of a shortest solution found by a cluster's job.
//!
//! The moves are traced back through the kept layers. The workers look states up in their shards;
//! only the last two layers, where the searches met, are transferred.

use std::io::Write;
use std::sync::Arc;

use clap::Args;
use strata::{numbering, trace_dense};
use strata_explicit::{Candidate, Finder, Layers, Trace};
use strata_net::convert;
use strata_proto::v1;
use strata_space::dense::DenseState;
use strata_store::{EngineKind, KeptFile, Layer, RealFs};
use tempfile::NamedTempFile;

use crate::args::cluster::ClientArgs;
use crate::args::path::PathForm;
use crate::client::record;
use crate::client::remote::Remote;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;
use crate::spaces::moves::Moves;
use crate::spaces::puzzle::Puzzle;

/// Arguments of `path`.
#[derive(Debug, Args)]
pub(crate) struct PathJobArgs {
    /// Job: its id, a unique prefix of the id, or its name
    job: String,

    /// Form and destination of the moves.
    #[command(flatten)]
    form: PathForm,

    /// The cluster.
    #[command(flatten)]
    client: ClientArgs,
}

/// Runs `strata path`.
pub(crate) fn run(args: &PathJobArgs, console: &Console) -> Result<ExitCode, Failure> {
    args.form.check()?;
    let remote = Remote::connect(&args.client)?;
    let job = remote.status(&args.job)?;
    let result = found(&job)?;
    let spec = convert::spec_from(job.spec.clone())
        .map_err(|error| Failure::new(ExitCode::Unexpected, error))?;
    let puzzle = Puzzle::open(&spec)?;
    let mut layers = RemoteLayers { remote: &remote, job: &job.id };
    let moves = match spec.engine {
        EngineKind::Explicit => {
            let chain =
                Trace::new(puzzle.space(), spec.shards)?.chain(result.layers, &mut layers)?;
            chain.and_then(|chain| puzzle.moves(&chain))
        }
        EngineKind::Dense | EngineKind::DenseLean => dense(&puzzle, result.layers, &layers)?,
        EngineKind::Symbolic | EngineKind::SymbolicLean => {
            let message = format!(
                "job {} has no files of layers, because its engine is {}: submit it with --engine \
                 explicit --keep-layers all, or find the path with strata solve --path",
                job.id,
                spec.engine.name()
            );
            return Err(Failure::usage(message));
        }
    };
    let moves = moves.ok_or_else(|| {
        let message = format!("the layers of job {} do not lead to the goal", job.id);
        Failure::new(ExitCode::Corrupt, message)
    })?;
    let progress = Progress::start(console, None);
    puzzle.show(&moves, result.moves, &args.form, false, &progress)?;
    progress.finish()?;
    Ok(ExitCode::Done)
}

/// The result of a job with a path.
///
/// # Errors
/// If the job has not reached a goal or has not kept its layers.
fn found(job: &v1::Job) -> Result<v1::JobResult, Failure> {
    let id = &job.id;
    let kept = record::keep(&job.options.unwrap_or_default());
    match job.result {
        None => Err(Failure::usage(format!("job {id} is {}: it has no path", record::state(job)))),
        Some(result) if result.moves.is_none() => {
            Err(Failure::usage(format!("job {id} has reached no goal: there is no path")))
        }
        Some(_) if kept != "all" => {
            let message = format!(
                "job {id} has kept layers: {kept}; a path needs one submitted with --keep-layers all"
            );
            Err(Failure::usage(message))
        }
        Some(result) => Ok(result),
    }
}

/// The moves from the start of a dense job to a goal of its last layer.
fn dense(puzzle: &Puzzle, depth: u32, layers: &RemoteLayers<'_>) -> Result<Option<Moves>, Failure> {
    let space = puzzle.dense().map_err(Failure::usage)?;
    let numbering = numbering(&*space);
    let look_up = |depth: u32, states: &[DenseState]| {
        let request = v1::LookUpRequest {
            layer: Some(layers.layer(depth)),
            candidates: states.iter().map(|state| convert::dense_candidate_to(*state)).collect(),
            numbering: Some(convert::numbering_to(&numbering)),
        };
        let found = layers.remote.look_up(request)?.index.map(|index| index as usize);
        Ok::<_, Failure>(found.filter(|index| *index < states.len()))
    };
    let goals = space.tables().goals();
    let Some(index) = look_up(depth, goals)? else { return Ok(None) };
    let positions = trace_dense(&*space, goals[index], depth, look_up)?;
    Ok(positions.and_then(|positions| puzzle.moves_between(&positions)))
}

/// The layers of a cluster's job.
struct RemoteLayers<'a> {
    remote: &'a Remote<'a>,
    job: &'a str,
}

impl RemoteLayers<'_> {
    fn layer(&self, depth: u32) -> v1::LayerRef {
        v1::LayerRef { job: self.job.to_owned(), depth }
    }

    fn fetch(&self, depth: u32) -> Result<Vec<Layer>, Failure> {
        use v1::layer_part::Part;
        let mut parts = self.remote.fetch_layer(self.layer(depth))?;
        let mut files: Vec<(KeptFile, NamedTempFile)> = Vec::new();
        while let Some(v1::LayerPart { part }) = self.remote.next(&mut parts)? {
            match (part, files.last_mut()) {
                (Some(Part::File(file)), _) => {
                    let kept = convert::kept_from(file);
                    let kept = kept.map_err(|error| Failure::new(ExitCode::Unexpected, error))?;
                    files.push((kept, NamedTempFile::new().map_err(unwritten)?));
                }
                (Some(Part::Bytes(bytes)), Some((_, file))) => {
                    file.write_all(&bytes).map_err(unwritten)?;
                }
                _ => {
                    return Err(Failure::new(
                        ExitCode::Unexpected,
                        "received bytes without a file",
                    ));
                }
            }
        }
        let open = |(kept, file): (KeptFile, NamedTempFile)| {
            Layer::open(Arc::new(RealFs), file.path(), &kept.expect(self.job, depth))
        };
        // A mapping outlives its file.
        files.into_iter().map(|file| open(file).map_err(Failure::from)).collect()
    }
}

impl Layers for RemoteLayers<'_> {
    type Error = Failure;

    fn open(&mut self, depth: u32) -> Result<Vec<Layer>, Failure> {
        self.fetch(depth)
    }

    fn any_of(
        &mut self,
        depth: u32,
        candidates: &[Candidate],
        _: &mut Finder,
    ) -> Result<Option<usize>, Failure> {
        let candidates = candidates.iter().map(|candidate| convert::candidate_to(*candidate));
        let layer = Some(self.layer(depth));
        let candidates = candidates.collect();
        let request = v1::LookUpRequest { layer, candidates, numbering: None };
        Ok(self.remote.look_up(request)?.index.map(|index| index as usize))
    }
}

fn unwritten(error: std::io::Error) -> Failure {
    Failure::new(ExitCode::JobFailed, format!("cannot write a temporary file: {error}"))
}

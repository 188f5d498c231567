//! Path of a cluster's job, traced back through the layers that its workers hold. For a symbolic
//! job, which has no files of layers, a worker searches again.

use std::path::Path;

use strata_engine::explicit::Trace;
use strata_proto::net::convert;
use strata_proto::v1;
use strata_run::{FoundPath, numbering, trace_dense};
use strata_space::dense::DenseState;
use strata_store::EngineKind;

use super::layers::RemoteLayers;
use super::remote::Remote;
use super::{record, searched};
use crate::output::exit::{ExitCode, Failure};
use crate::program;
use crate::spaces::puzzle::Puzzle;

/// Finds a shortest solution of a job. Files that do not fit the memory are written to `data_dir`, and
/// removed. Returns the puzzle and the path, which [`Puzzle::replay`] has not checked yet.
///
/// # Errors
/// If the job has not reached a goal, or has not kept the layers that its engine needs, or if a
/// call fails.
pub(crate) fn find(
    remote: &Remote<'_>,
    job: &v1::Job,
    data_dir: &Path,
) -> Result<(Puzzle, FoundPath), Failure> {
    let result = result(job)?;
    let spec = convert::spec_from(job.spec.clone())
        .map_err(|error| Failure::new(ExitCode::Unexpected, error))?;
    let puzzle = Puzzle::open(&spec)?;
    let mut layers = RemoteLayers::new(remote, &job.id, data_dir);
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
            let positions = dense(&puzzle, result.layers, remote, &layers)?;
            puzzle.path_through(positions.ok_or_else(unreached)?)
        }
        EngineKind::Symbolic | EngineKind::SymbolicLean => {
            puzzle.path_through(searched::positions(remote, job, result.layers)?)
        }
    };
    let apart = || {
        let message = format!("the positions of the path of {} are not one move apart", job.id);
        Failure::new(ExitCode::Unexpected, message)
    };
    Ok((puzzle, path.ok_or_else(apart)?))
}

/// The result of a job with a path.
///
/// # Errors
/// If the job has not reached a goal or has not kept the layers that its engine needs.
fn result(job: &v1::Job) -> Result<v1::JobResult, Failure> {
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

/// Advice that the symbolic engine also leads to a path; empty if the space is not nested.
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

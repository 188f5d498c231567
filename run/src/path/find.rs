//! Paths of a finished job: to its goal, and to one of its states.

use std::ops::ControlFlow;

use strata_engine::explicit::{Candidate, Finder, Layers, Trace, entry_key};
use strata_space::{Chain, State};
use strata_store::JobDir;

use super::dense::DensePaths;
use super::midpoints::PathFinder;
use super::outcome::{FoundPath, Moves, OpenSpace, PathOutcome};
use super::symbolic::{PathProgress, symbolic_path};
use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::job::cancel::CancelToken;
use crate::job::layers::{JobLayers, ListedState};
use crate::job::request::Request;
use crate::plan::machine::StopReason;

/// A shortest solution of the finished job in `folder`.
///
/// # Errors
/// Those of [`Job::path`](crate::Job::path).
pub(crate) fn find_path(
    request: &Request,
    folder: &JobDir,
    open: &OpenSpace,
    cancel: &CancelToken,
) -> Result<PathOutcome> {
    if request.spec.engine.is_explicit() {
        return PathFinder::new(&request.options, folder, open, cancel).find(&request.spec, folder);
    }
    let space = open(&request.spec)?;
    let unnamed = || Error::NoPath(format!("{} does not name its moves", space.name()));
    if request.spec.engine.is_dense() {
        let Some(paths) = DensePaths::open(request, &space, folder, cancel)? else {
            return Ok(PathOutcome::Stopped(StopReason::Interrupted));
        };
        let positions = paths.to_goal()?;
        let path = FoundPath::through(&space, positions);
        return path.map(PathOutcome::Found).ok_or_else(unnamed);
    }
    tracing::info!("searching again with all layers in memory for a shortest path");
    let mut on_progress = |_: PathProgress| match cancel.is_cancelled() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let Some(positions) = symbolic_path(&space, request.symbolic(), &mut on_progress)? else {
        return Ok(PathOutcome::Stopped(StopReason::Interrupted));
    };
    FoundPath::through(&space, positions).map(PathOutcome::Found).ok_or_else(unnamed)
}

/// The moves from the start to a state of a job.
///
/// # Errors
/// Those of [`Job::path_to`](crate::Job::path_to).
pub(crate) fn trace_to(
    request: &Request,
    state: &ListedState,
    space: &Space,
    folder: &JobDir,
) -> Result<Moves> {
    let unnamed = || Error::NoPath(format!("{} does not name the moves", space.name()));
    let stored = state.state.filter(|_| request.spec.engine.is_explicit());
    let Some(stored) = stored else {
        let positions = positions_to(request, space, folder, std::slice::from_ref(state))?;
        let positions = positions.into_iter().next().unwrap_or_default();
        return space.moves_between(&positions).ok_or_else(unnamed);
    };
    let chain = chains_to(&[stored], space, request.spec.shards, folder)?.swap_remove(0);
    // `Space::moves` may require a chain that ends at the goal. Otherwise the moves are named from
    // the positions' texts.
    let named = || space.moves_between(&space.positions(&chain)?);
    space.moves(&chain).or_else(named).ok_or_else(unnamed)
}

/// The positions from the start to each of some states of a finished job, in text form.
///
/// # Errors
/// [`Error::LayersNotKept`] if the job has not kept all layers, except for an undirected dense job whose
/// search in memory fits the budget; [`Error::NoPath`] if no layer holds a state.
pub(super) fn positions_to(
    request: &Request,
    space: &Space,
    folder: &JobDir,
    states: &[ListedState],
) -> Result<Vec<Vec<String>>> {
    if request.spec.engine.is_dense() {
        let never = CancelToken::new();
        let paths = DensePaths::open(request, space, folder, &never)?;
        let paths = paths.ok_or_else(|| Error::NoPath("the search was cancelled".to_owned()))?;
        return states.iter().map(|listed| paths.to_state(&listed.text)).collect();
    }
    let stored: Option<Vec<State>> = states.iter().map(|listed| listed.state).collect();
    let stored = stored.filter(|_| request.spec.engine.is_explicit());
    let stored = stored.ok_or_else(|| Error::LayersNotKept { job: folder.job().to_owned() })?;
    let chains = chains_to(&stored, space, request.spec.shards, folder)?;
    let apart = || Error::NoPath("the states of a path are not one move apart".to_owned());
    chains.iter().map(|chain| space.positions(chain).ok_or_else(apart)).collect()
}

/// Chains of stored states from the start to each of some states.
fn chains_to(wanted: &[State], space: &Space, shards: u32, folder: &JobDir) -> Result<Vec<Chain>> {
    let mut layers = JobLayers::read(folder)?;
    if !layers.is_complete() {
        return Err(Error::LayersNotKept { job: folder.job().to_owned() });
    }
    let states = space.state_space();
    let mut finder = Finder::new()?;
    let mut trace = Trace::new(states, shards)?;
    let mut chain_to = |state: State| -> Result<Chain> {
        let candidate: Candidate = (entry_key(states, shards, state.region), state.local);
        for depth in 0..=layers.depth() {
            if layers.any_of(depth, &[candidate], &mut finder)?.is_none() {
                continue;
            }
            let from_start = trace.back(state, depth, &mut layers)?;
            // With seeds at both ends, the side bit gives the end from which a state was reached.
            if states.seeds().len() > 1 && from_start.iter().any(|first| first.side() == 1) {
                let text = states.text(state);
                return Err(Error::NoPath(format!("{text} was reached from the goal only")));
            }
            return Ok(Chain { from_start, from_goal: Vec::new() });
        }
        Err(Error::NoPath(format!("no layer holds {}", states.text(state))))
    };
    wanted.iter().map(|state| chain_to(*state)).collect()
}

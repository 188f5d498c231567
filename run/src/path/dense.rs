//! Shortest paths of a dense job, from kept layers or from a second search in memory.

use std::sync::Arc;

use strata_engine::dense::{Options, Search, SearchError};
use strata_space::dense::{DenseSpace, DenseState};
use strata_store::{DenseNumbering, JobDir};

use super::outcome::unreachable_goal;
use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::job::cancel::CancelToken;
use crate::job::dense::find_state;
use crate::job::layers::JobLayers;
use crate::job::request::Request;
use crate::local::dense::numbering;

/// Source of the depths by which a path is traced from a state to the start.
enum Source<'a> {
    /// All layers of the job.
    Layers(JobLayers<'a>),
    /// Depths modulo 3 of all states. They determine shortest paths where edges are undirected.
    Depths(Box<Search>),
}

/// Shortest paths from the start of a finished dense job.
pub(super) struct DensePaths<'a> {
    space: Arc<dyn DenseSpace>,
    numbering: DenseNumbering,
    source: Source<'a>,
    folder: &'a JobDir,
    /// Depth of the last layer with states.
    depth: u32,
}

impl<'a> DensePaths<'a> {
    /// Opens the layers of a job, or searches its space again up to the job's depth. None if that
    /// search was cancelled.
    ///
    /// # Errors
    /// [`Error::LayersNotKept`] if layers are missing, and moves are directed or a search in memory does
    /// not fit the budget.
    pub(super) fn open(
        request: &Request,
        space: &Space,
        folder: &'a JobDir,
        cancel: &CancelToken,
    ) -> Result<Option<DensePaths<'a>>> {
        let layers = JobLayers::read(folder)?;
        let depth = layers.last_depth();
        let dense = space.dense()?;
        let numbering = numbering(&*dense);
        let source = if layers.is_complete() {
            Source::Layers(layers)
        } else {
            match searched(request, &dense, folder, depth, cancel)? {
                Some(search) => Source::Depths(Box::new(search)),
                None => return Ok(None),
            }
        };
        Ok(Some(DensePaths { space: dense, numbering, source, folder, depth }))
    }

    /// The positions from the start to a goal in the last layer, in text form.
    ///
    /// # Errors
    /// If no goal is in the last layer, or a file is damaged.
    pub(super) fn to_goal(&self) -> Result<Vec<String>> {
        for goal in self.space.tables().goals() {
            if self.depth_of(*goal, self.depth)?.is_some() {
                return self.positions(*goal, self.depth, None);
            }
        }
        Err(unreachable_goal(self.folder))
    }

    /// The positions from the start to a state in text form.
    ///
    /// # Errors
    /// [`Error::NoPath`] if no layer holds the state; if a file is damaged.
    pub(super) fn to_state(&self, text: &str) -> Result<Vec<String>> {
        let unknown = || Error::NoPath(format!("no layer holds {text}"));
        let state = self.space.parse(text).ok_or_else(unknown)?;
        // Most requests are for states of the last layers.
        for depth in (0..=self.depth).rev() {
            if let Some(depth) = self.depth_of(state, depth)? {
                return self.positions(state, depth, Some(text));
            }
        }
        Err(unknown())
    }

    /// Returns `depth` if the state has this depth. Where depths are known modulo 3, any state with the
    /// same residue counts: the path is traced to the start, whatever the actual depth.
    fn depth_of(&self, state: DenseState, depth: u32) -> Result<Option<u32>> {
        let has_depth = match &self.source {
            Source::Layers(layers) => {
                find_state(&layers.files(depth)?, self.numbering, &[state])?.is_some()
            }
            Source::Depths(search) => search.residue(state) == Some((depth % 3) as u8),
        };
        Ok(has_depth.then_some(depth))
    }

    /// The positions from the start to a state at a depth. If the state stands for several positions, the
    /// path leads to the one with the given text, or without a text to a goal.
    fn positions(&self, state: DenseState, depth: u32, text: Option<&str>) -> Result<Vec<String>> {
        let lost = || Error::NoPath(format!("no path leads to {}", self.space.text(state)));
        match &self.source {
            Source::Layers(layers) => {
                let look_up = |depth: u32, states: &[DenseState]| {
                    Ok::<_, Error>(find_state(&layers.files(depth)?, self.numbering, states)?)
                };
                let positions = trace_dense(&*self.space, (state, depth), text, look_up)?;
                positions.ok_or_else(|| unreachable_goal(self.folder))
            }
            Source::Depths(search) => {
                let path = search.path_to_start(state).map_err(|_| lost())?.ok_or_else(lost)?;
                let states = path.iter().rev().map(|step| step.state).chain([state]);
                let states: Vec<DenseState> = states.collect();
                self.space.path_texts(&states, text).ok_or_else(lost)
            }
        }
    }
}

/// The positions of a shortest path from the start to a state of the layer at a depth, in text form, traced
/// through the layers before it. If the state stands for several positions, the path leads to the one with
/// the text `end`, or to a goal if `end` is None. `look_up` returns the index of a state of the list that is
/// in the layer of a depth. Returns None if no predecessor of a state is in the layer before, since layers
/// are missing or belong to another search.
///
/// # Errors
/// Those of `look_up`.
pub fn trace_dense<E>(
    space: &dyn DenseSpace,
    (state, depth): (DenseState, u32),
    end: Option<&str>,
    mut look_up: impl FnMut(u32, &[DenseState]) -> std::result::Result<Option<usize>, E>,
) -> std::result::Result<Option<Vec<String>>, E> {
    let mut states = vec![state];
    let mut at = state;
    for depth in (0..depth).rev() {
        let before: Vec<DenseState> =
            space.tables().predecessors(at).map(|(_, state)| state).collect();
        let Some(index) = look_up(depth, &before)? else { return Ok(None) };
        at = before[index];
        states.push(at);
    }
    states.reverse();
    Ok(space.path_texts(&states, end))
}

/// A search in memory that has reached a depth; None if it was cancelled.
fn searched(
    request: &Request,
    space: &Arc<dyn DenseSpace>,
    folder: &JobDir,
    depth: u32,
    cancel: &CancelToken,
) -> Result<Option<Search>> {
    let not_kept = || Error::LayersNotKept { job: folder.job().to_owned() };
    if !space.tables().is_undirected() {
        return Err(not_kept());
    }
    let (threads, memory) = (request.options.threads, request.options.memory);
    let options = Options { threads, memory, digest: false, ..Options::default() };
    let search = Search::new(Arc::clone(space), &options);
    let mut search = search.map_err(|error| match error {
        SearchError::Budget { .. } | SearchError::Allocation { .. } => not_kept(),
        error => Error::NoPath(error.to_string()),
    })?;
    tracing::info!(depth, "searching again in memory for shortest paths");
    while search.depth() < depth {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        if search.advance().is_none() {
            return Err(unreachable_goal(folder));
        }
    }
    Ok(Some(search))
}

//! Shortest solution of an explicit job, from kept layers or by midpoints.
//!
//! If the job holds all layers, the path is traced back through them. Otherwise it is found by
//! midpoints, after Manasse, Sleator, Wei and Baxter: the position in which the searches from both
//! ends met lies on a shortest path, so both halves are searched in the same way. A *part* is a
//! section of the path between two such positions.

use std::path::PathBuf;
use std::time::Instant;

use strata_engine::explicit::{Layers, Trace};
use strata_space::Finish;
use strata_store::{DataDir, JobDir, JobSpec};

use super::outcome::{FoundPath, OpenSpace, PathOutcome, unreachable_goal};
use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::job::cancel::CancelToken;
use crate::job::folder::{create, lock_data_dir, parts_of, remove_parts};
use crate::job::layers::JobLayers;
use crate::job::request::{Request, RunOptions};
use crate::job::session::{self, Ended, RunControl};
use crate::keep_layers::KeepLayers;
use crate::plan::machine::StopReason;

/// Search for the path of a finished explicit job.
pub(super) struct PathFinder<'a> {
    /// Resources of the searches of parts.
    options: RunOptions,
    open: &'a OpenSpace,
    cancel: &'a CancelToken,
    /// The folder that holds a job folder for each part that is searched.
    parts: PathBuf,
}

impl<'a> PathFinder<'a> {
    /// A finder for the job in `folder`. Parts are searched in that folder and removed at the end.
    pub(super) fn new(
        options: &RunOptions,
        folder: &JobDir,
        open: &'a OpenSpace,
        cancel: &'a CancelToken,
    ) -> PathFinder<'a> {
        let options = RunOptions { max_layers: None, ..options.clone() };
        PathFinder { options, open, cancel, parts: parts_of(folder) }
    }

    /// The path of the job.
    pub(super) fn find(&self, spec: &JobSpec, folder: &JobDir) -> Result<PathOutcome> {
        remove_parts(folder)?;
        let found = lock_data_dir(&self.parts)
            .and_then(|data| self.path(&data, spec, folder, self.options.disk_limit));
        // An error of the search takes precedence over one of the removal.
        let removed = remove_parts(folder);
        let found = found?;
        removed?;
        Ok(found)
    }

    /// The path of one finished job; its files and those of the parts may take `room` bytes.
    fn path(
        &self,
        data: &DataDir,
        spec: &JobSpec,
        folder: &JobDir,
        room: Option<u64>,
    ) -> Result<PathOutcome> {
        let space = (self.open)(spec)?;
        let mut layers = JobLayers::read(folder)?;
        let mut trace = Trace::new(space.state_space(), spec.shards)?;
        if layers.is_complete() {
            let chain = trace.chain(layers.depth(), &mut layers)?;
            let path = chain.and_then(|chain| FoundPath::along(&space, &chain));
            return Ok(PathOutcome::Found(path.ok_or_else(|| unreachable_goal(folder))?));
        }
        let Some([start, goal]) = space.ends() else {
            return Err(Error::LayersNotKept { job: folder.job().to_owned() });
        };
        let room = room.map(|room| room.saturating_sub(layers.bytes()));
        let Finish::Meeting = space.finish() else {
            // The job was searched from the start only, so it has no midpoint.
            return self.part(data, spec, &space, [&start, &goal], room);
        };
        let depth = layers.depth();
        let last = layers.open(depth)?;
        let before = if depth > 0 { layers.open(depth - 1)? } else { Vec::new() };
        let met = trace.meeting(depth, &last, &before)?;
        let (state, _) = met.ok_or_else(|| unreachable_goal(folder))?;
        let ends = [start, space.state_space().text(state), goal];
        drop((last, before, trace));
        let mut path = FoundPath::default();
        for ends in ends.windows(2) {
            match self.part(data, spec, &space, [&ends[0], &ends[1]], room)? {
                PathOutcome::Found(more) => path.extend(more),
                stopped => return Ok(stopped),
            }
        }
        Ok(PathOutcome::Found(path))
    }

    /// Searches a part of a path, and returns the moves of the part.
    fn part(
        &self,
        data: &DataDir,
        spec: &JobSpec,
        whole: &Space,
        [from, to]: [&str; 2],
        room: Option<u64>,
    ) -> Result<PathOutcome> {
        let mut spec = spec.clone();
        let ends = [("start", from), ("goal", to)];
        let ends = ends.into_iter().chain(whole.both_ends().iter().copied());
        spec.params.extend(ends.map(|(name, value)| (name.to_owned(), value.to_owned())));
        tracing::info!(start = %from, goal = %to, "searching a part of the path");
        for keep_layers in [KeepLayers::All, KeepLayers::Last] {
            let options = RunOptions { keep_layers, disk_limit: room, ..self.options.clone() };
            let space = (self.open)(&spec)?;
            if keep_layers == KeepLayers::Last && space.finish() != Finish::Meeting {
                // Without kept layers and without a midpoint, the search would not yield a path.
                break;
            }
            let request = Request::with_spec(&space, spec.clone(), options)?;
            let folder = create(data, &request)?;
            let control =
                RunControl { cancel: self.cancel, on_event: &mut |_| {}, started: Instant::now() };
            let found = match session::run(&request, &folder, true, space, control)? {
                Ended::Finished(_) => self.path(data, &request.spec, &folder, room)?,
                Ended::Stopped { reason, .. } => PathOutcome::Stopped(reason),
            };
            folder.remove()?;
            match found {
                PathOutcome::Stopped(StopReason::DiskLimit | StopReason::DiskFull)
                    if keep_layers == KeepLayers::All => {}
                found => return Ok(found),
            }
        }
        Ok(PathOutcome::Stopped(StopReason::DiskLimit))
    }
}

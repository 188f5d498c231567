//! Jobs: requests, folders, histories, and runs.

pub(crate) mod cancel;
pub(crate) mod checker;
pub(crate) mod dense;
pub(crate) mod event;
pub(crate) mod files;
pub(crate) mod history;
pub(crate) mod jobs;
pub(crate) mod layers;
pub(crate) mod request;
pub(crate) mod session;
pub mod verify;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use strata_store::{JobDir, LayerRecord, Manifest, RealFs, StoreError};

use self::cancel::CancelToken;
use self::history::read_history;
use self::jobs::Jobs;
use self::layers::{LayerView, ListedState, open_layer};
use self::request::{Request, RunOptions};
use self::session::{Ended, RunControl};
use crate::catalogue::Space;
use crate::error::Result;
use crate::path::antipodes::{Antipodes, antipodes};
use crate::path::find::{find_path, trace_to};
use crate::path::outcome::{Moves, OpenSpace, PathOutcome};
use crate::plan::machine::StopReason;

/// A job in a data directory, which is locked until the value is dropped. A temporary data directory is
/// removed with it.
///
/// [`Jobs`] creates and resumes jobs.
pub struct Job {
    request: Request,
    puzzle: OpenSpace,
    /// Until a run takes it over, so that its tables exist once.
    space: Option<Space>,
    jobs: Jobs,
    folder: JobDir,
    /// Whether nothing has been searched yet.
    is_new: bool,
}

impl Job {
    /// Opens the job in a folder. `options` gets those of its last run, and returns those of the next.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) if its manifest cannot be read or names no space of `puzzle`;
    /// [`Error::DataDir`](crate::Error::DataDir) if another process uses the data directory; those of [`Request::new`].
    pub fn open(
        folder: &Path,
        puzzle: OpenSpace,
        options: impl FnOnce(RunOptions) -> RunOptions,
    ) -> Result<Job> {
        let (opened, manifest) = JobDir::open(Arc::new(RealFs), folder)?;
        let space = space_of(&opened, &manifest, &puzzle)?;
        let last = RunOptions::of_last_run(manifest.run.as_ref())
            .map_err(|error| damaged(&opened, "layers to keep", error))?;
        let request = Request::with_spec(&space, manifest.spec, options(last))?;
        let jobs = Jobs::lock(folder.parent().unwrap_or(Path::new("/")))?;
        Ok(Job { request, puzzle, space: Some(space), jobs, folder: opened, is_new: false })
    }

    /// Searches to the end, from the last checkpoint if there is one.
    ///
    /// A job that is done is not searched again: its layers are emitted again, and its recorded result
    /// is returned.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) if a file is missing or damaged; whatever fails. What the last checkpoint holds
    /// is not lost.
    pub fn run(&mut self, control: RunControl<'_>) -> Result<Ended> {
        let space = self.take_space()?;
        let is_new = std::mem::take(&mut self.is_new);
        session::run(&self.request, &self.folder, is_new, space, control)
    }

    /// As [`Self::run`], so that [`Self::path`] finds a path soon: all layers are kept where a path is
    /// traced back through them. If they turn out not to fit the disk, and the puzzle has parameters
    /// for both ends of a path, the search starts over without keeping them.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_for_path(&mut self, control: RunControl<'_>) -> Result<Ended> {
        let RunControl { cancel, on_event, started } = control;
        let space = self.take_space()?;
        let keeping = self.request.keeping_layers_for_paths(&space)?;
        let keeps_more = keeping.options.keep_layers != self.request.options.keep_layers;
        let may_start_over = keeps_more && self.is_new && space.ends().is_some();
        self.space = Some(space);
        let request = std::mem::replace(&mut self.request, keeping);
        let ended = self.run(RunControl { cancel, on_event: &mut *on_event, started });
        self.request = request;
        match ended? {
            Ended::Stopped { reason: StopReason::DiskLimit | StopReason::DiskFull, depth }
                if may_start_over =>
            {
                tracing::warn!(
                    depth,
                    "not all layers fit the disk: starting over without keeping them"
                );
                self.folder = self.jobs.replace(&self.folder, &self.request)?;
                self.is_new = true;
                self.run(RunControl { cancel, on_event, started })
            }
            ended => Ok(ended),
        }
    }

    /// A shortest solution of the finished job, see [`find_path`].
    ///
    /// # Errors
    /// Those of [`find_path`].
    pub fn path(&self, cancel: &CancelToken) -> Result<PathOutcome> {
        find_path(&self.request, &self.folder, &self.puzzle, cancel)
    }

    /// The moves from the start to a state of the finished job.
    ///
    /// # Errors
    /// [`Error::LayersNotKept`](crate::Error::LayersNotKept) if layers that lead to the state are missing; [`Error::NoPath`](crate::Error::NoPath) if no
    /// layer holds it, or the puzzle does not name the moves.
    pub fn path_to(&self, state: &ListedState) -> Result<Moves> {
        trace_to(&self.request, state, &self.open_space()?, &self.folder)
    }

    /// Up to `number` states of the last layer of the finished job, with shortest ways to the start if
    /// the space names its moves. States that stand for no position are left out.
    ///
    /// # Errors
    /// [`Error::LayersNotKept`](crate::Error::LayersNotKept) if the space names its moves and the job has not kept the layers that
    /// lead to the start; whatever fails on the way.
    pub fn antipodes(&self, number: u64) -> Result<Antipodes> {
        antipodes(&self.request, &self.folder, &|| self.open_space(), number)
    }

    /// A layer that the job holds.
    ///
    /// # Errors
    /// Those of [`open_layer`].
    pub fn layer(&self, depth: u32) -> Result<LayerView> {
        let manifest = self.folder.read_manifest()?;
        open_layer(&self.folder, manifest, self.open_space()?, depth, self.request.options.memory)
    }

    /// The layers up to the last checkpoint, from depth 0.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) if a file is missing or damaged.
    pub fn layers(&self) -> Result<Vec<LayerRecord>> {
        Ok(read_history(&self.folder, &self.folder.read_manifest()?)?.lines)
    }

    /// The depth of the last checkpoint; 0 without one.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) if the manifest is missing or damaged.
    pub fn depth(&self) -> Result<u32> {
        Ok(self.folder.read_manifest()?.checkpoint.map_or(0, |last| last.depth))
    }

    /// What is searched, with which resources.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The data directory that holds its folder.
    pub fn data_dir(&self) -> &Path {
        self.jobs.path()
    }

    /// The space, which the next run takes over.
    ///
    /// # Errors
    /// If it is refused.
    pub fn space(&mut self) -> Result<&Space> {
        let space = self.take_space()?;
        Ok(self.space.insert(space))
    }

    fn take_space(&mut self) -> Result<Space> {
        self.space.take().map_or_else(|| self.open_space(), Ok)
    }

    fn open_space(&self) -> Result<Space> {
        Ok((self.puzzle)(&self.request.spec)?)
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// The space of a job that was opened.
///
/// # Errors
/// [`StoreError::Corrupt`] if the manifest names no space of `puzzle`.
pub fn space_of(
    folder: &JobDir,
    manifest: &Manifest,
    puzzle: &OpenSpace,
) -> std::result::Result<Space, StoreError> {
    puzzle(&manifest.spec).map_err(|error| damaged(folder, "a state space of this version", error))
}

fn damaged(folder: &JobDir, expected: &str, found: impl ToString) -> StoreError {
    StoreError::Corrupt {
        file: folder.path().join("manifest.json"),
        offset: 0,
        expected: expected.to_owned(),
        found: found.to_string(),
    }
}

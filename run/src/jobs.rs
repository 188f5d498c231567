//! Jobs of a data directory: [`Jobs`] creates and finds them, and a [`Job`] is ready to run.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use strata_store::{DataDir, JobDir, JobSpec, LayerRecord, Manifest, RealFs, RunState, StoreError};
use tempfile::TempDir;

use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::job::cancel::CancelToken;
use crate::job::folder::{create, find, lock_data_dir, open};
use crate::job::history::read_history;
use crate::job::layers::{LayerView, ListedState, open_layer};
use crate::job::request::{Request, RunOptions};
use crate::job::session::{self, Ended, RunControl};
use crate::look_up::{LookUp, LookUpAnswer, LookUpOptions};
use crate::path::antipodes::{Antipodes, antipodes};
use crate::path::find::{find_path, trace_to};
use crate::path::outcome::{Moves, OpenSpace, PathOutcome};
use crate::plan::machine::StopReason;

/// The jobs of a data directory, which is locked for this process.
#[derive(Debug)]
pub struct Jobs {
    data: DataDir,
    /// The directory to remove after the lock is released, if it is a temporary one.
    _temporary: Option<TempDir>,
}

impl Jobs {
    /// Creates the data directory if it is missing, and locks it. Deletes the remains of interrupted
    /// removals of jobs.
    ///
    /// # Errors
    /// [`Error::IsJobFolder`] for the folder of a job, [`Error::DataDir`] if the directory cannot be
    /// created or locked.
    pub fn lock(dir: &Path) -> Result<Jobs> {
        if dir.join("manifest.json").exists() {
            return Err(Error::IsJobFolder(dir.to_owned()));
        }
        Ok(Jobs { data: lock_data_dir(dir)?, _temporary: None })
    }

    /// As [`Self::lock`], for a data directory that must exist.
    ///
    /// # Errors
    /// As [`Self::lock`]; [`Error::NoSuchJob`] for a missing directory.
    pub fn lock_existing(dir: &Path) -> Result<Jobs> {
        if !dir.is_dir() {
            let shown = dir.display();
            return Err(Error::NoSuchJob(format!("there is no job to resume: no folder {shown}")));
        }
        Jobs::lock(dir)
    }

    /// A new data directory in the system's folder of temporary files. It is removed when the value is
    /// dropped. The directories left by killed processes of this user are removed first.
    ///
    /// # Errors
    /// [`Error::Store`] if the directory cannot be created.
    pub fn temporary() -> Result<Jobs> {
        Jobs::temporary_in(&std::env::temp_dir())
    }

    fn temporary_in(parent: &Path) -> Result<Jobs> {
        let is_temporary = |name: &str| {
            let random = name.strip_prefix(TEMPORARY).unwrap_or_default();
            random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        // Creating a directory reports a folder that cannot be used.
        if let Ok(removed @ 1..) = DataDir::remove_abandoned(parent, is_temporary) {
            tracing::info!("removed {removed} searches of killed processes");
        }
        let made = tempfile::Builder::new().prefix(TEMPORARY).rand_bytes(6).tempdir_in(parent);
        let made = made.map_err(|source| {
            let path = parent.to_owned();
            StoreError::Io { op: "create a folder in", path, source }
        })?;
        Ok(Jobs { data: lock_data_dir(made.path())?, _temporary: Some(made) })
    }

    /// The data directory.
    pub fn path(&self) -> &Path {
        self.data.path()
    }

    /// The id of the newest unfinished job of a specification.
    pub fn unfinished(&self, spec: &JobSpec) -> Option<String> {
        let jobs = self.data.jobs(&RealFs).ok()?.into_iter().rev();
        let mut read = jobs.filter_map(|job| open(&self.data, &job).ok());
        let found = read.find(|(_, m)| m.spec == *spec && m.state != RunState::Done)?;
        Some(found.1.job)
    }

    /// The manifest of the only job, if there is one.
    ///
    /// # Errors
    /// [`Error::OtherSearch`] if there are several, [`Error::Store`] if a manifest cannot be read.
    pub fn only(&self) -> Result<Option<Manifest>> {
        match &*self.data.jobs(&RealFs)? {
            [] => Ok(None),
            [job] => Ok(Some(open(&self.data, job)?.1)),
            jobs => {
                let (dir, jobs) = (self.path().to_owned(), jobs.join(", "));
                let differences = format!("there are several jobs: {jobs}");
                Err(Error::OtherSearch { dir, differences })
            }
        }
    }

    /// Creates the folder of a new job for the request. `space` has been opened by `puzzle`.
    ///
    /// # Errors
    /// [`Error::DataDir`] if the data directory cannot be written; [`Error::Store`] if the disk is
    /// full.
    pub fn create(self, request: Request, space: Space, puzzle: OpenSpace) -> Result<Job> {
        let folder = create(&self.data, &request)?;
        Ok(Job { request, puzzle, space: Some(space), jobs: self, folder, is_new: true })
    }

    /// Opens the newest unfinished job of the same specification, otherwise the newest finished one.
    /// `space` has been opened by `puzzle`.
    ///
    /// # Errors
    /// [`Error::NoSuchJob`] if there is none, with the differences to the nearest job;
    /// [`Error::Store`] if its manifest cannot be read.
    pub fn resume(self, request: Request, space: Space, puzzle: OpenSpace) -> Result<Job> {
        let folder = find(&self.data, &request)?;
        Ok(Job { request, puzzle, space: Some(space), jobs: self, folder, is_new: false })
    }

    /// Removes a job's folder and creates a new job in its place.
    ///
    /// # Errors
    /// As [`Self::create`]; those of the removal.
    fn replace(&self, folder: &JobDir, request: &Request) -> Result<JobDir> {
        folder.remove()?;
        create(&self.data, request)
    }
}

/// Beginning of the names of temporary data directories; six letters or digits follow.
const TEMPORARY: &str = "strata-temporary-";

/// A job in a data directory, which is locked until the value is dropped. A temporary data directory is
/// removed with it.
///
/// [`Jobs`] creates and resumes jobs.
pub struct Job {
    request: Request,
    puzzle: OpenSpace,
    /// The opened space. A run takes it over, so that its tables exist once.
    space: Option<Space>,
    jobs: Jobs,
    folder: JobDir,
    /// Whether nothing has been searched yet.
    is_new: bool,
}

impl Job {
    /// Opens the job in a folder. `options` receives the options of its last run and returns those of the
    /// next.
    ///
    /// # Errors
    /// [`Error::Store`] if its manifest cannot be read or `puzzle` cannot open its space;
    /// [`Error::DataDir`] if another process uses the data directory; those of [`Request::new`].
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
    /// [`Error::Store`] if a file is missing or damaged; other errors of the search. The last checkpoint
    /// remains intact.
    pub fn run(&mut self, control: RunControl<'_>) -> Result<Ended> {
        let space = self.take_space()?;
        let is_new = std::mem::take(&mut self.is_new);
        session::run(&self.request, &self.folder, is_new, space, control)
    }

    /// As [`Self::run`], but prepares for [`Self::path`]: keeps all layers where a path is traced back
    /// through them. If the layers of a new job turn out not to fit the disk, and the puzzle has parameters
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

    /// A shortest solution of the finished job.
    ///
    /// An explicit job's path is traced back through its layers where all were kept, and otherwise
    /// searched again in halves. A symbolic job is searched again with all layers in memory; a dense one,
    /// unless it has kept its layers, with the depth of every state.
    ///
    /// # Errors
    /// [`Error::LayersNotKept`] if layers are missing: for an explicit job if the puzzle has no parameters
    /// `start` and `goal`, for a dense one if moves are directed or a search in memory does not fit the
    /// budget; [`Error::NoPath`] if the puzzle does not name the moves; other errors of the searches.
    pub fn path(&self, cancel: &CancelToken) -> Result<PathOutcome> {
        find_path(&self.request, &self.folder, &self.puzzle, cancel)
    }

    /// The moves from the start to a state of the finished job.
    ///
    /// # Errors
    /// [`Error::LayersNotKept`] unless the job has kept all layers, or is an undirected dense one that fits
    /// the memory budget; [`Error::NoPath`] if no layer holds the state, or the puzzle does not name the
    /// moves.
    pub fn path_to(&self, state: &ListedState) -> Result<Moves> {
        trace_to(&self.request, state, &self.open_space()?, &self.folder)
    }

    /// Up to `number` states of the last layer of the finished job, with shortest paths to the start if
    /// every move has an inverse and the puzzle names its moves. States that stand for no position are left
    /// out.
    ///
    /// # Errors
    /// For paths, [`Error::LayersNotKept`] as [`Self::path_to`] returns it; errors of reading the layers.
    pub fn antipodes(&self, number: u64) -> Result<Antipodes> {
        antipodes(&self.request, &self.folder, &|| self.open_space(), number)
    }

    /// What the layers of the finished job tell about states, in their order: given in the space's text form,
    /// or in any notation that the puzzle takes.
    ///
    /// # Errors
    /// Those of [`LookUp`].
    pub fn look_up(
        &self,
        wanted: LookUpOptions,
        states: impl IntoIterator<Item: AsRef<str>>,
    ) -> Result<Vec<LookUpAnswer>> {
        let manifest = self.folder.read_manifest()?;
        let mut look_up = LookUp::new(&self.folder, &manifest, self.open_space()?, wanted)?;
        states.into_iter().try_for_each(|state| look_up.add(state.as_ref()))?;
        look_up.answer(self.request.options.memory)
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
    /// [`Error::Store`] if a file is missing or damaged.
    pub fn layers(&self) -> Result<Vec<LayerRecord>> {
        Ok(read_history(&self.folder, &self.folder.read_manifest()?)?.lines)
    }

    /// The depth of the last checkpoint; 0 without one.
    ///
    /// # Errors
    /// [`Error::Store`] if the manifest is missing or damaged.
    pub fn depth(&self) -> Result<u32> {
        Ok(self.folder.read_manifest()?.checkpoint.map_or(0, |last| last.depth))
    }

    /// The request: the search and its resources.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The job's folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The data directory that holds the job's folder.
    pub fn data_dir(&self) -> &Path {
        self.jobs.path()
    }

    /// The space of the job; the next run takes it over.
    ///
    /// # Errors
    /// If the space cannot be opened.
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

/// Opens the space of a job.
///
/// # Errors
/// [`StoreError::Corrupt`] if `puzzle` cannot open the space in the manifest.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_data_directories_of_killed_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let used = Jobs::temporary_in(parent.path()).unwrap();
        let killed = parent.path().join(format!("{TEMPORARY}abcXY7"));
        let mine = parent.path().join(format!("{TEMPORARY}results"));
        for dir in [&killed, &mine] {
            std::fs::create_dir(dir).unwrap();
            std::fs::copy(used.path().join(".lock"), dir.join(".lock")).unwrap();
        }
        let next = Jobs::temporary_in(parent.path()).unwrap();
        let exist = [used.path(), &killed, &mine, next.path()].map(Path::exists);
        assert_eq!(exist, [true, false, true, true]);
    }
}

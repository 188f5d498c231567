//! The data directory and the folder of a job in it: names, locking, leftovers.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Result, StoreError};
use crate::fs::{Fs, parent, temp_beside};
use crate::history::{History, HistoryLine, HistoryView, read_history};
use crate::layer::remove_file;
use crate::manifest::{HistoryPrefix, JobSpec, Manifest, check_name};

const LOCK: &str = ".lock";
const MANIFEST: &str = "manifest.json";
const HISTORY: &str = "history.jsonl";

/// A data directory that belongs to this process alone until it is dropped.
#[derive(Debug)]
pub struct DataDir {
    dir: PathBuf,
    /// Closing it releases the lock.
    _lock: File,
}

impl DataDir {
    /// Creates the directory if need be and locks it. The operating system releases the lock when
    /// the process ends, however it ends.
    ///
    /// # Errors
    /// `Locked` if another process has it, or `Io`.
    pub fn lock(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir).map_err(StoreError::io("create", dir))?;
        let path = dir.join(LOCK);
        let lock = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(StoreError::io("open", &path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { dir: dir.to_path_buf(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked { dir: dir.to_path_buf() }),
            Err(TryLockError::Error(error)) => Err(StoreError::io("lock", &path)(error)),
        }
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Ids of the jobs that have a manifest, in order.
    ///
    /// # Errors
    /// `Io`.
    pub fn jobs(&self, fs: &dyn Fs) -> Result<Vec<String>> {
        jobs_in(fs, &self.dir)
    }
}

/// Ids of the jobs in a data directory that have a manifest, in order; needs no lock.
///
/// # Errors
/// `Io`, `NotFound`.
pub fn jobs_in(fs: &dyn Fs, data_dir: &Path) -> Result<Vec<String>> {
    let mut jobs = Vec::new();
    for (path, is_dir) in fs.list(data_dir).map_err(StoreError::io("list", data_dir))? {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name.filter(|name| is_dir && check_name("job id", name).is_ok()) else {
            continue;
        };
        let files = fs.list(&path).map_err(StoreError::io("list", &path))?;
        if files.iter().any(|(file, _)| file.file_name().is_some_and(|name| name == MANIFEST)) {
            jobs.push(name.to_owned());
        }
    }
    jobs.sort_unstable();
    Ok(jobs)
}

/// The folder of a job: `<data directory>/<job id>`.
#[derive(Clone, Debug)]
pub struct JobDir {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    job: String,
}

impl JobDir {
    /// Creates the folder of a new job, with its manifest.
    ///
    /// # Errors
    /// `Exists` if there is a manifest already, `Name` for an id that is no plain name, `Io`.
    pub fn create(
        fs: Arc<dyn Fs>,
        data_dir: &Path,
        job: &str,
        spec: JobSpec,
    ) -> Result<(Self, Manifest)> {
        let folder = Self::attach(fs, data_dir, job)?;
        match folder.fs.read(&folder.path_of(MANIFEST)) {
            Ok(_) => return Err(StoreError::Exists { dir: folder.dir }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("read", &folder.path_of(MANIFEST))(error)),
        }
        let manifest = Manifest::new(job, spec);
        folder.write_manifest(&manifest)?;
        Ok((folder, manifest))
    }

    /// Creates the folder if need be, without a manifest: for a worker whose coordinator has it.
    ///
    /// # Errors
    /// `Name` for an id that is no plain name, `Io`.
    pub fn attach(fs: Arc<dyn Fs>, data_dir: &Path, job: &str) -> Result<Self> {
        check_name("job id", job)?;
        let dir = data_dir.join(job);
        fs.create_dir_all(&dir).map_err(StoreError::io("create", &dir))?;
        fs.sync_dir(data_dir).map_err(StoreError::io("sync", data_dir))?;
        Ok(Self { fs, dir, job: job.to_owned() })
    }

    /// Opens the folder of an existing job and reads its manifest. The folder's name is the id.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Name`, `Io`.
    pub fn open(fs: Arc<dyn Fs>, dir: &Path) -> Result<(Self, Manifest)> {
        let job = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        check_name("job id", job)?;
        let folder = Self { fs, dir: dir.to_path_buf(), job: job.to_owned() };
        let manifest = folder.read_manifest()?;
        Ok((folder, manifest))
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// The job's id.
    #[must_use]
    pub fn job(&self) -> &str {
        &self.job
    }

    /// The file system the folder is on.
    #[must_use]
    pub fn fs(&self) -> &Arc<dyn Fs> {
        &self.fs
    }

    /// Reads the manifest again.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Io`.
    pub fn read_manifest(&self) -> Result<Manifest> {
        Manifest::read(&*self.fs, &self.path_of(MANIFEST), &self.job)
    }

    /// Replaces the manifest durably and atomically: after a crash there is the old or the new one.
    /// The files it names must be durable before.
    ///
    /// # Errors
    /// `Name` if it is another job's, `Corrupt` if it names a file outside the folder, `Io`.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<()> {
        if manifest.job != self.job {
            return Err(StoreError::Name {
                what: "job of this folder",
                name: manifest.job.clone(),
            });
        }
        manifest.write(&*self.fs, &self.path_of(MANIFEST))
    }

    /// Starts an empty history.
    ///
    /// # Errors
    /// `Io`.
    pub fn create_history(&self) -> Result<History> {
        History::create(&*self.fs, &self.path_of(HISTORY))
    }

    /// Goes on with the history from a checkpoint, see [`History::resume`].
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Io`.
    pub fn resume_history(&self, record: &HistoryPrefix) -> Result<(History, Vec<HistoryLine>)> {
        History::resume(&*self.fs, &self.path_of(HISTORY), record)
    }

    /// Reads the history, see [`read_history`].
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Io`.
    pub fn read_history(&self, record: Option<&HistoryPrefix>) -> Result<HistoryView> {
        read_history(&*self.fs, &self.path_of(HISTORY), record)
    }

    /// Where a worker's file of a layer is, once it is durable.
    #[must_use]
    pub fn layer_path(&self, depth: u32, worker: u32) -> PathBuf {
        self.path_of(&format!("layer-{depth:06}-{worker:03}.strata"))
    }

    /// A new name for an unfinished or short-lived file, such as `run` or `layer`.
    #[must_use]
    pub fn temp_path(&self, what: &str) -> PathBuf {
        temp_beside(&self.path_of(what))
    }

    /// A file that a manifest or a history names.
    ///
    /// # Errors
    /// `Name` for a name that leads out of the folder.
    pub fn file_path(&self, name: &str) -> Result<PathBuf> {
        check_name("file name", name)?;
        Ok(self.path_of(name))
    }

    /// Removes a file; one that is gone already is fine.
    ///
    /// # Errors
    /// `Name` for a name that leads out of the folder, `Io`.
    pub fn remove_file(&self, name: &str) -> Result<()> {
        remove_file(&*self.fs, &self.file_path(name)?)
    }

    /// Removes the files that neither the manifest nor the history's durable prefix names: what a
    /// crash left behind. Returns how many. Folders are left alone.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove_leftovers(&self, manifest: &Manifest, history: &[HistoryLine]) -> Result<usize> {
        let mut named: HashSet<&str> = manifest.files();
        let kept = history.iter().flat_map(|line| line.kept.iter().flatten());
        named.extend(kept.map(|kept| kept.file.as_str()));
        self.remove_others(|name| named.contains(name))
    }

    /// Removes the files for whose names `keep` is false, except manifest and history. Returns how
    /// many.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove_others(&self, keep: impl Fn(&str) -> bool) -> Result<usize> {
        let mut removed = 0;
        let files = self.fs.list(&self.dir).map_err(StoreError::io("list", &self.dir))?;
        for (path, is_dir) in files {
            let name = path.file_name().unwrap_or_default();
            let wanted = name == MANIFEST || name == HISTORY || name.to_str().is_some_and(&keep);
            if !is_dir && !wanted {
                remove_file(&*self.fs, &path)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Removes the job: the manifest first, so that a half-removed job is none.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove(self) -> Result<()> {
        remove_file(&*self.fs, &self.path_of(MANIFEST))?;
        self.fs.remove_dir_all(&self.dir).map_err(StoreError::io("remove", &self.dir))?;
        let data_dir = parent(&self.dir);
        self.fs.sync_dir(data_dir).map_err(StoreError::io("sync", data_dir))
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

//! The folder of a job: its paths, manifest, history and leftovers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Result, StoreError};
use crate::fs::durable::{create_dir_durably, remove_files, remove_if_present, temp_beside};
use crate::fs::file_system::Fs;
use crate::job::checkpoint::HistoryPrefix;
use crate::job::history::{History, HistoryView, read_history};
use crate::job::layer_names::layer_file;
use crate::job::layer_record::LayerRecord;
use crate::job::manifest::{MANIFEST_FILE, Manifest};
use crate::job::spec::JobSpec;
use crate::name::check_name;

/// Name of the file in a worker's job folder that has the id of the coordinator's journal: the mark of
/// the cluster to which the folder belongs.
pub(crate) const OWNER_FILE: &str = "journal-id";

const HISTORY_FILE: &str = "history.jsonl";

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
    /// `Exists` if the folder has a manifest, `Name` if the id is not a plain name, or `Io`.
    pub fn create(
        fs: Arc<dyn Fs>,
        data_dir: &Path,
        job: &str,
        spec: JobSpec,
    ) -> Result<(Self, Manifest)> {
        let manifest = Manifest::new(job, spec);
        Ok((Self::create_with(fs, data_dir, &manifest)?, manifest))
    }

    /// Creates the folder of a new job, with the given manifest.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_with(fs: Arc<dyn Fs>, data_dir: &Path, manifest: &Manifest) -> Result<Self> {
        let folder = Self::attach(fs, data_dir, &manifest.job)?;
        match folder.fs.read(&folder.path_of(MANIFEST_FILE)) {
            Ok(_) => return Err(StoreError::Exists { dir: folder.dir }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(StoreError::io("read", &folder.path_of(MANIFEST_FILE))(error));
            }
        }
        folder.write_manifest(manifest)?;
        Ok(folder)
    }

    /// Opens the folder of a job and creates it durably if it does not exist, without a manifest. Workers
    /// of a cluster use it, as the coordinator keeps the manifest.
    ///
    /// # Errors
    /// `Name` if the id is not a plain name, or `Io`, also if the folder is a symbolic link.
    pub fn attach(fs: Arc<dyn Fs>, data_dir: &Path, job: &str) -> Result<Self> {
        check_name("job id", job)?;
        let dir = data_dir.join(job);
        create_dir_durably(&*fs, &dir)?;
        check_folder(&*fs, &dir)?;
        Ok(Self { fs, dir, job: job.to_owned() })
    }

    /// The folder of a job, which must exist but need not have a manifest.
    ///
    /// # Errors
    /// `Name` if the id is not a plain name, `NotFound` if there is no folder, or `Io`, also if it is a
    /// symbolic link.
    pub fn existing(fs: Arc<dyn Fs>, data_dir: &Path, job: &str) -> Result<Self> {
        let folder = Self::at(fs, data_dir, job)?;
        check_folder(&**folder.fs(), folder.path())?;
        Ok(folder)
    }

    /// The folder of a job, which need not exist. Nothing is read or created.
    ///
    /// # Errors
    /// `Name` if the id is not a plain name.
    pub fn at(fs: Arc<dyn Fs>, data_dir: &Path, job: &str) -> Result<Self> {
        check_name("job id", job)?;
        Ok(Self { fs, dir: data_dir.join(job), job: job.to_owned() })
    }

    /// Opens the folder of an existing job and reads its manifest. The folder's name is the job id.
    ///
    /// # Errors
    /// `NotFound` if there is no manifest, `Corrupt` if it is damaged or that of another job, `Name` if
    /// the folder's name is not a job id, or `Io`.
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

    /// The file system of the folder.
    #[must_use]
    pub fn fs(&self) -> &Arc<dyn Fs> {
        &self.fs
    }

    /// Reads the manifest.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Name` if its job id is not a plain name, or `Io`.
    pub fn read_manifest(&self) -> Result<Manifest> {
        Manifest::read(&*self.fs, &self.path_of(MANIFEST_FILE), &self.job)
    }

    /// Replaces the manifest durably and atomically: after a crash, the folder has the old or the new one.
    /// The files that it names must already be durable.
    ///
    /// # Errors
    /// `Name` if it is the manifest of another job, `Corrupt` if it could not be read back or names a
    /// file outside the folder, or `Io`.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<()> {
        if manifest.job != self.job {
            return Err(StoreError::Name {
                what: "job of this folder",
                name: manifest.job.clone(),
            });
        }
        manifest.write(&*self.fs, &self.path_of(MANIFEST_FILE))
    }

    /// Starts an empty history.
    ///
    /// # Errors
    /// `Io`.
    pub fn create_history(&self) -> Result<History> {
        History::create(&*self.fs, &self.path_of(HISTORY_FILE))
    }

    /// Resumes the history at a checkpoint, see [`History::resume`].
    ///
    /// # Errors
    /// `NotFound`, `Corrupt` or `Io`.
    pub fn resume_history(&self, record: &HistoryPrefix) -> Result<(History, Vec<LayerRecord>)> {
        History::resume(&*self.fs, &self.path_of(HISTORY_FILE), record)
    }

    /// Reads the history, see [`read_history`].
    ///
    /// # Errors
    /// `NotFound`, `Corrupt` or `Io`.
    pub fn read_history(&self, record: Option<&HistoryPrefix>) -> Result<HistoryView> {
        read_history(&*self.fs, &self.path_of(HISTORY_FILE), record)
    }

    /// Path of a worker's layer file under its final name.
    #[must_use]
    pub fn layer_path(&self, depth: u32, worker: u32) -> PathBuf {
        self.path_of(&layer_file(depth, worker))
    }

    /// A new temporary path in the folder; its name begins with `what`, the use of the file (`run`,
    /// `layer`).
    #[must_use]
    pub fn temp_path(&self, what: &str) -> PathBuf {
        temp_beside(&*self.fs, &self.path_of(what))
    }

    /// Path of a file that a manifest or a history names.
    ///
    /// # Errors
    /// `Name` if the name leads out of the folder.
    pub fn file_path(&self, name: &str) -> Result<PathBuf> {
        check_name("file name", name)?;
        Ok(self.path_of(name))
    }

    /// Removes a file; a missing file is not an error.
    ///
    /// # Errors
    /// `Name` if the name leads out of the folder, or `Io`.
    pub fn remove_file(&self, name: &str) -> Result<()> {
        remove_if_present(&*self.fs, &self.file_path(name)?)
    }

    /// Removes the files that a crash left: those named neither by the manifest nor by `history`, the
    /// durable prefix of the history. Folders stay. Returns the number of files removed.
    ///
    /// # Errors
    /// `NotFound` if there is no folder, or `Io`.
    pub fn remove_leftovers(&self, manifest: &Manifest, history: &[LayerRecord]) -> Result<usize> {
        let mut named: HashSet<&str> = manifest.files();
        let kept = history.iter().flat_map(|line| &line.kept);
        named.extend(kept.map(|kept| kept.file.as_str()));
        self.remove_others(|name| named.contains(name))
    }

    /// Removes the files for whose names `keep` is false, except manifest, history and the mark of a
    /// cluster. Returns the number of files removed.
    ///
    /// # Errors
    /// `NotFound` if there is no folder, or `Io`.
    pub fn remove_others(&self, keep: impl Fn(&str) -> bool) -> Result<usize> {
        let of_job = [MANIFEST_FILE, HISTORY_FILE, OWNER_FILE];
        remove_files(&*self.fs, &self.dir, |name| !of_job.contains(&name) && !keep(name))
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

/// Checks that a path is a folder, and not a symbolic link to one.
fn check_folder(fs: &dyn Fs, dir: &Path) -> Result<()> {
    match fs.is_folder(dir) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let why = "it is no folder, or a symbolic link";
            let error = std::io::Error::new(std::io::ErrorKind::NotADirectory, why);
            Err(StoreError::io("open", dir)(error))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(StoreError::NotFound { path: dir.to_path_buf() })
        }
        Err(error) => Err(StoreError::io("open", dir)(error)),
    }
}

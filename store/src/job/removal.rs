//! Removal of job folders, and the mark of the cluster that a worker's job folder belongs to.
//!
//! A folder is renamed to a name that no job can have, and then deleted. So a crash leaves either the
//! whole job, or remains that [`remove_remains`] deletes. Symbolic links are removed, not followed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::{Result, StoreError};
use crate::fs::durable::{is_temporary, parent, write_durably};
use crate::fs::file_system::Fs;
use crate::job::dir::{JobDir, OWNER_FILE};
use crate::job::manifest::MANIFEST_FILE;
use crate::name::check_name;

/// Beginning of the name of a folder that is being deleted. No job id begins with a dot.
const REMAINS: &str = ".removed-";

/// Longest content of [`OWNER_FILE`] that is read as an id.
const OWNER_LEN: usize = 64;

/// A job folder of a cluster's worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedJob {
    /// The job's id.
    pub job: String,
    /// Last change of the folder or a file in it.
    pub modified: SystemTime,
}

impl JobDir {
    /// Id of the journal in the folder's mark. `None` if the folder has no mark: it belongs to no
    /// cluster, or its worker ended before it wrote the mark.
    ///
    /// # Errors
    /// `Corrupt` if the mark is not an id, or `Io`.
    pub fn owner(&self) -> Result<Option<String>> {
        read_owner(&**self.fs(), self.path())
    }

    /// As [`Self::owner`], for the folder of a job in a data directory. `None` also if there is no folder.
    ///
    /// # Errors
    /// Those of [`Self::owner`], and `Name` if the id is not a plain name.
    pub fn owner_of(fs: &dyn Fs, data_dir: &Path, job: &str) -> Result<Option<String>> {
        check_name("job id", job)?;
        read_owner(fs, &data_dir.join(job))
    }

    /// Writes the mark of the folder, durably: the id of the journal that has the job.
    ///
    /// # Errors
    /// `Name` if the id is not a plain name, or `Io`.
    pub fn set_owner(&self, journal: &str) -> Result<()> {
        check_name("journal id", journal)?;
        write_durably(
            &**self.fs(),
            &self.path().join(OWNER_FILE),
            format!("{journal}\n").as_bytes(),
        )
    }

    /// Removes the job with all its files, see [`remove_job`].
    ///
    /// # Errors
    /// `NotFound` if there is no folder, or `Io`.
    pub fn remove(&self) -> Result<()> {
        let data_dir = parent(self.path()).to_path_buf();
        if remove_job(&**self.fs(), &data_dir, self.job())? {
            Ok(())
        } else {
            Err(StoreError::NotFound { path: self.path().to_path_buf() })
        }
    }
}

/// Id of the journal in the mark of a job's folder.
fn read_owner(fs: &dyn Fs, dir: &Path) -> Result<Option<String>> {
    let path = dir.join(OWNER_FILE);
    let bytes = match fs.read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", &path)(error)),
    };
    let text = String::from_utf8_lossy(&bytes);
    let id = text.trim_end();
    if id.len() > OWNER_LEN || check_name("journal id", id).is_err() {
        return Err(StoreError::corrupt(&path, 0, "the id of a journal", format!("{id:.64?}")));
    }
    Ok(Some(id.to_owned()))
}

/// Renames the folder of a job, durably and atomically, so that the data directory no longer has the job.
/// [`delete`](Removed::delete) then frees its space. `None` if there is no such folder.
///
/// # Errors
/// `Name` if the id is not a plain name, `Inconsistent` if the path is not a folder, or `Io`.
pub fn take_job(fs: Arc<dyn Fs>, data_dir: &Path, job: &str) -> Result<Option<Removed>> {
    Ok(rename_aside(&*fs, data_dir, job)?.map(|dir| Removed { fs, dir }))
}

/// The renamed folder of a removed job.
#[derive(Debug)]
#[must_use]
pub struct Removed {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
}

impl Removed {
    /// Deletes the folder and everything in it.
    ///
    /// # Errors
    /// `Io`; [`remove_remains`] can delete the rest later.
    pub fn delete(self) -> Result<()> {
        delete(&*self.fs, &self.dir)
    }
}

/// Removes the folder of a job with all its files. Returns whether there was a folder.
///
/// # Errors
/// Those of [`take_job`] and [`Removed::delete`].
pub fn remove_job(fs: &dyn Fs, data_dir: &Path, job: &str) -> Result<bool> {
    match rename_aside(fs, data_dir, job)? {
        Some(dir) => delete(fs, &dir).map(|()| true),
        None => Ok(false),
    }
}

fn rename_aside(fs: &dyn Fs, data_dir: &Path, job: &str) -> Result<Option<PathBuf>> {
    check_name("job id", job)?;
    let dir = data_dir.join(job);
    let entries = fs.list(data_dir).map_err(StoreError::io("list", data_dir))?;
    let Some((_, is_dir)) =
        entries.into_iter().find(|(path, _)| path.file_name() == dir.file_name())
    else {
        return Ok(None);
    };
    if !is_dir {
        return Err(StoreError::Inconsistent { file: dir, what: "it is no folder".to_owned() });
    }
    let aside = data_dir.join(format!("{REMAINS}{job}.{}", fs.unique_suffix()));
    fs.rename(&dir, &aside).map_err(StoreError::io("rename", &dir))?;
    fs.sync_dir(data_dir).map_err(StoreError::io("sync", data_dir))?;
    Ok(Some(aside))
}

fn delete(fs: &dyn Fs, dir: &Path) -> Result<()> {
    fs.remove_dir_all(dir).map_err(StoreError::io("remove", dir))?;
    let data_dir = parent(dir);
    fs.sync_dir(data_dir).map_err(StoreError::io("sync", data_dir))
}

/// Deletes the folders that interrupted removals and creations of jobs have left in a data directory:
/// those renamed by [`take_job`], and those that hold only a temporary manifest. The caller must hold the
/// directory's lock. Returns the number of folders deleted.
///
/// # Errors
/// `NotFound` if there is no data directory, or `Io`.
pub fn remove_remains(fs: &dyn Fs, data_dir: &Path) -> Result<usize> {
    let mut removed = 0;
    for (path, is_dir) in fs.list(data_dir).map_err(StoreError::io("list", data_dir))? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| is_dir) else {
            continue;
        };
        let is_left = name.starts_with(REMAINS)
            || (check_name("job id", name).is_ok() && is_incomplete(fs, &path));
        if is_left {
            delete(fs, &path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Whether a folder holds a manifest under a temporary name, and nothing else. False if it cannot be read.
fn is_incomplete(fs: &dyn Fs, dir: &Path) -> bool {
    let files = fs.list(dir).unwrap_or_default();
    let [(path, false)] = &*files else { return false };
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| is_temporary(name, MANIFEST_FILE))
}

/// The jobs in a data directory whose folders have the mark of this journal, by id. Folders whose mark
/// cannot be read are left out.
///
/// # Errors
/// `NotFound` if there is no data directory, or `Io`.
pub fn owned_jobs(fs: &dyn Fs, data_dir: &Path, journal: &str) -> Result<Vec<OwnedJob>> {
    let mut jobs = Vec::new();
    for (path, is_dir) in fs.list(data_dir).map_err(StoreError::io("list", data_dir))? {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(job) = name.filter(|name| is_dir && check_name("job id", name).is_ok()) else {
            continue;
        };
        if !read_owner(fs, &path).is_ok_and(|owner| owner.as_deref() == Some(journal)) {
            continue;
        }
        match modified(fs, &path) {
            Ok(modified) => jobs.push(OwnedJob { job: job.to_owned(), modified }),
            // It was removed meanwhile.
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    jobs.sort_unstable_by(|a, b| a.job.cmp(&b.job));
    Ok(jobs)
}

/// Last change of a folder or a file in it.
fn modified(fs: &dyn Fs, dir: &Path) -> Result<SystemTime> {
    let mut latest = fs.modified(dir).map_err(StoreError::io("read", dir))?;
    for (path, _) in fs.list(dir).map_err(StoreError::io("list", dir))? {
        match fs.modified(&path) {
            Ok(time) => latest = latest.max(time),
            // It was removed meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        }
    }
    Ok(latest)
}

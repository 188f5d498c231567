//! Folders of jobs in a data directory: creation, and choice of the one to resume.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use strata_store::{
    DataDir, JobDir, JobSpec, Manifest, RealFs, RunState, StoreError, remove_remains,
};

use super::request::Request;
use crate::catalogue::Space;
use crate::error::{Error, Result};

/// Creates the folder of a new job.
///
/// # Errors
/// [`Error::DataDir`] if the data directory cannot be written; [`Error::Store`] if the disk is full.
pub(crate) fn create(data: &DataDir, request: &Request) -> Result<JobDir> {
    let mut attempt = 0;
    loop {
        let job = format!("{}-{}", request.label, suffix(attempt));
        let mut manifest = Manifest::new(&job, request.spec.clone());
        manifest.run = Some(request.options.settings());
        match JobDir::create_with(Arc::new(RealFs), data.path(), &manifest) {
            Err(StoreError::Exists { .. }) => attempt += 1,
            Err(error) if error.is_disk_full() => return Err(error.into()),
            created => return created.map_err(Error::DataDir),
        }
    }
}

/// The specification of the job that a resumed search of this space continues, with any engine: the newest
/// unfinished job, otherwise the newest finished one. None if there is no job of this space.
pub fn spec_to_resume(dir: &Path, space: &Space) -> Option<JobSpec> {
    let folders = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let jobs = folders.filter_map(|folder| JobDir::open(Arc::new(RealFs), &folder.path()).ok());
    let (name, params) = (space.name(), space.parameters());
    let same = jobs.map(|(_, manifest)| manifest);
    let same =
        same.filter(|manifest| manifest.spec.space == name && manifest.spec.params == params);
    same.max_by_key(rank).map(|manifest| manifest.spec)
}

/// Sort key of the jobs of a specification; the job to resume has the largest.
fn rank(manifest: &Manifest) -> (bool, u64) {
    (manifest.state != RunState::Done, manifest.created)
}

/// Creates the data directory if it is missing, and locks it for this process. Deletes the remains of
/// interrupted removals of jobs.
///
/// # Errors
/// [`Error::DataDir`] if the directory cannot be created or locked.
pub(crate) fn lock_data_dir(dir: &Path) -> Result<DataDir> {
    let data = DataDir::lock(&RealFs, dir).map_err(Error::DataDir)?;
    if let Err(error) = remove_remains(&RealFs, data.path()) {
        tracing::warn!("a removed job still takes space: {error}");
    }
    Ok(data)
}

/// The subfolder of a job's folder for the searches of parts of its path.
pub(crate) fn parts_of(folder: &JobDir) -> PathBuf {
    folder.path().join("parts")
}

/// Removes the searches of parts of a path that this process or a killed one has left. The data directory
/// of the job is locked.
///
/// # Errors
/// [`Error::Store`] if the folder cannot be removed; a missing folder is not an error.
pub(crate) fn remove_parts(folder: &JobDir) -> Result<()> {
    let path = parts_of(folder);
    match std::fs::remove_dir_all(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::Io { op: "remove", path, source }.into())
        }
        _ => Ok(()),
    }
}

/// Six characters, different for each call, that distinguish jobs with the same label.
fn suffix(attempt: u32) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut hasher = DefaultHasher::new();
    (SystemTime::now(), std::process::id(), attempt).hash(&mut hasher);
    let hash = hasher.finish();
    (0..6).map(|place| char::from(DIGITS[(hash >> (5 * place)) as usize % 32])).collect()
}

pub(crate) fn open(
    data: &DataDir,
    job: &str,
) -> std::result::Result<(JobDir, Manifest), StoreError> {
    JobDir::open(Arc::new(RealFs), &data.path().join(job))
}

/// The job to resume: the newest unfinished job of the same specification, otherwise the newest
/// finished one.
pub(crate) fn find(data: &DataDir, request: &Request) -> Result<JobDir> {
    let own = format!("{}-", request.label);
    let mut jobs = Vec::new();
    for job in data.jobs(&RealFs).map_err(Error::DataDir)? {
        match open(data, &job) {
            Ok(opened) => jobs.push(opened),
            // The unreadable job has this label and may be the one to resume, so its error is
            // returned.
            Err(error) if job.starts_with(&own) => return Err(error.into()),
            Err(error) => tracing::warn!("{error}"),
        }
    }
    jobs.sort_by_key(|(_, manifest)| rank(manifest));
    if let Some(at) = jobs.iter().rposition(|(_, manifest)| manifest.spec == request.spec) {
        return Ok(jobs.swap_remove(at).0);
    }
    missing_manifest(data.path(), &own)?;
    Err(Error::NoSuchJob(no_such_job(data.path(), request, &jobs)))
}

/// Refuses a folder that belongs to a job of this label but has no manifest.
fn missing_manifest(data_dir: &Path, own: &str) -> Result<()> {
    let folders = std::fs::read_dir(data_dir).into_iter().flatten().flatten();
    for folder in folders.filter(|folder| folder.file_name().to_string_lossy().starts_with(own)) {
        let (history, manifest) =
            (folder.path().join("history.jsonl"), folder.path().join("manifest.json"));
        if history.exists() && !manifest.exists() {
            return Err(StoreError::NotFound { path: manifest }.into());
        }
    }
    Ok(())
}

fn no_such_job(data_dir: &Path, request: &Request, jobs: &[(JobDir, Manifest)]) -> String {
    let shown = data_dir.display();
    let same_space = jobs.iter().rev().filter(|(_, m)| m.spec.space == request.spec.space);
    let nearest =
        same_space.min_by_key(|(_, manifest)| request.spec.differences(&manifest.spec).len());
    match nearest {
        None => format!("there is no {} job to resume in {shown}", request.spec.space),
        Some((_, nearest)) => {
            let differ = differences(&request.spec, nearest);
            format!("there is no such job to resume in {shown}: {differ}")
        }
    }
}

/// How a job differs from a specification, parameter by parameter.
pub fn differences(spec: &JobSpec, job: &Manifest) -> String {
    let differ = spec.differences(&job.spec).into_iter();
    let differ = differ
        .map(|(name, mine, theirs)| format!("{name} is {theirs} in job {}, not {mine}", job.job));
    differ.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_differ_and_are_valid_in_names() {
        let (a, b) = (suffix(0), suffix(1));
        assert_ne!(a, b);
        assert_eq!(a.len(), 6);
        assert!(a.bytes().all(|c| c.is_ascii_lowercase() || (b'2'..=b'7').contains(&c)));
    }
}

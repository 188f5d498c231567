//! Job folders: making a new one, and finding the one to go on with.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use strata_store::{DataDir, JobDir, JobSpec, Manifest, RealFs, RunState, StoreError};

use super::run::Search;
use crate::output::exit::Failure;

/// Refuses a data directory that is itself a job's folder, and one to resume from that is none.
pub(super) fn check_folder(data_dir: &Path, resume: bool) -> Result<(), Failure> {
    let shown = data_dir.display();
    if data_dir.join("manifest.json").exists() {
        let message =
            format!("{shown} is the folder of one job: --data-dir takes the folder that holds it");
        return Err(Failure::usage(message));
    }
    if resume && !data_dir.is_dir() {
        return Err(Failure::usage(format!("there is no job to resume: no folder {shown}")));
    }
    Ok(())
}

/// The failure for a data directory that cannot be used from the start.
pub(super) fn unusable(error: StoreError) -> Failure {
    match error {
        StoreError::Corrupt { .. } => error.into(),
        _ => Failure::usage(error),
    }
}

/// Makes the folder of a new job.
pub(super) fn create(data: &DataDir, search: &Search) -> Result<(JobDir, Manifest), Failure> {
    let label = &search.naming.label;
    let mut attempt = 0;
    loop {
        let job = format!("{label}-{}", suffix(attempt));
        match JobDir::create(Arc::new(RealFs), data.path(), &job, search.spec.clone()) {
            Err(StoreError::Exists { .. }) => attempt += 1,
            Err(error) if error.is_disk_full() => return Err(error.into()),
            other => return other.map_err(unusable),
        }
    }
}

/// Six characters that tell jobs of one label apart.
fn suffix(attempt: u32) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut hasher = DefaultHasher::new();
    (SystemTime::now(), std::process::id(), attempt).hash(&mut hasher);
    let hash = hasher.finish();
    (0..6).map(|place| char::from(DIGITS[(hash >> (5 * place)) as usize % 32])).collect()
}

/// A job of that specification that could be resumed.
pub(super) fn unfinished(data: &DataDir, spec: &JobSpec) -> Option<String> {
    let jobs = data.jobs(&RealFs).ok()?.into_iter().rev();
    let mut read = jobs.filter_map(|job| open(data, &job).ok());
    let found = read.find(|(_, m)| m.spec == *spec && m.state != RunState::Done)?;
    Some(found.1.job)
}

fn open(data: &DataDir, job: &str) -> Result<(JobDir, Manifest), StoreError> {
    JobDir::open(Arc::new(RealFs), &data.path().join(job))
}

/// The job to go on with: of the same specification, unfinished if there is one, the newest.
pub(super) fn find(data: &DataDir, search: &Search) -> Result<(JobDir, Manifest), Failure> {
    let own = format!("{}-", search.naming.label);
    let mut jobs = Vec::new();
    for job in data.jobs(&RealFs).map_err(unusable)? {
        match open(data, &job) {
            Ok(opened) => jobs.push(opened),
            // It may be the very job that is meant.
            Err(error) if job.starts_with(&own) => return Err(error.into()),
            Err(error) => tracing::warn!("{error}"),
        }
    }
    let rank = |manifest: &Manifest| (manifest.state != RunState::Done, manifest.created);
    jobs.sort_by_key(|(_, manifest)| rank(manifest));
    if let Some(at) = jobs.iter().rposition(|(_, manifest)| manifest.spec == search.spec) {
        return Ok(jobs.swap_remove(at));
    }
    missing_manifest(data.path(), &own)?;
    Err(Failure::usage(no_such_job(data.path(), search, &jobs)))
}

/// Refuses a folder that must be a job's and lacks its manifest.
fn missing_manifest(data_dir: &Path, own: &str) -> Result<(), Failure> {
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

fn no_such_job(data_dir: &Path, search: &Search, jobs: &[(JobDir, Manifest)]) -> String {
    let shown = data_dir.display();
    let same_space = jobs.iter().rev().filter(|(_, m)| m.spec.space == search.spec.space);
    let differences = |manifest: &Manifest| search.spec.differences(&manifest.spec);
    let nearest = same_space.min_by_key(|(_, manifest)| differences(manifest).len());
    let Some((_, nearest)) = nearest else {
        return format!("there is no {} job to resume in {shown}", search.spec.space);
    };
    let differ = differences(nearest).into_iter();
    let differ: Vec<String> = differ
        .map(|(name, mine, theirs)| {
            format!("{name} is {theirs} in job {}, not {mine}", nearest.job)
        })
        .collect();
    format!("there is no such job to resume in {shown}: {}", differ.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_names() {
        let (a, b) = (suffix(0), suffix(1));
        assert_ne!(a, b);
        assert_eq!(a.len(), 6);
        assert!(a.bytes().all(|c| c.is_ascii_lowercase() || (b'2'..=b'7').contains(&c)));
    }
}

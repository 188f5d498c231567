//! Jobs in folders: finding the folder, opening it, and its state space.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use strata::catalogue::Space;
use strata_store::{JobDir, Manifest, RealFs, StoreError, jobs_in};

use crate::output::exit::{ExitCode, Failure};
use crate::spaces::puzzle;

/// The folder of a job: the given one, or that of the only job in a data directory.
///
/// # Errors
/// If there is no job, or more than one.
pub(crate) fn job_folder(dir: &Path) -> Result<PathBuf, Failure> {
    // A job is named after its folder, and `.` has no name.
    let missing = |error| Failure::new(ExitCode::NoSuchJob, format!("{}: {error}", dir.display()));
    let dir = dir.canonicalize().map_err(missing)?;
    let looks_like_one = ["manifest.json", "history.jsonl"].iter().any(|f| dir.join(f).exists());
    if looks_like_one {
        return Ok(dir);
    }
    if !dir.is_dir() {
        let message = format!("{} is no folder of a job", dir.display());
        return Err(Failure::new(ExitCode::NoSuchJob, message));
    }
    let jobs = jobs_in(&RealFs, &dir)?;
    match &*jobs {
        [job] => Ok(dir.join(job)),
        [] => {
            let message = format!("there is no job in {}", dir.display());
            Err(Failure::new(ExitCode::NoSuchJob, message))
        }
        jobs => {
            let (dir, jobs) = (dir.display(), jobs.join(", "));
            Err(Failure::usage(format!("{dir} holds several jobs, name one: {jobs}")))
        }
    }
}

/// Opens the folder of a job.
///
/// # Errors
/// If its manifest cannot be read.
pub(crate) fn open(dir: &Path) -> Result<(JobDir, Manifest), StoreError> {
    JobDir::open(Arc::new(RealFs), dir)
}

/// State space of a job.
///
/// # Errors
/// If the manifest names no space of this version.
pub(crate) fn space(folder: &JobDir, manifest: &Manifest) -> Result<Space, StoreError> {
    puzzle::reopen(&manifest.spec).map_err(|error| StoreError::Corrupt {
        file: folder.path().join("manifest.json"),
        offset: 0,
        expected: "a state space of this version".to_owned(),
        found: error.to_string(),
    })
}

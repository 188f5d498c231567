//! Jobs in folders: opening the folder, and its state space.

use std::path::Path;
use std::sync::Arc;

use strata_run::catalogue::Space;
use strata_store::{JobDir, Manifest, RealFs, StoreError};

use crate::spaces::puzzle;

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

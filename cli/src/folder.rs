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
    strata_run::space_of(folder, manifest, &puzzle::opener())
}

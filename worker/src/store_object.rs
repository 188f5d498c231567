//! Objects of a shared store: their names, and errors of writing them.

use std::fmt;

use strata_store::StoreError;

use crate::error::SharedStoreError;

/// Name of an object: a checkpoint's file in a job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectName {
    /// Id of the job.
    pub(crate) job: String,
    /// Name of the file.
    pub(crate) file: String,
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.job, self.file)
    }
}

/// Why an object could not be written. The error does not include the object's name.
#[derive(Debug)]
pub(crate) enum PutError {
    /// The worker's own file cannot be read.
    Source(StoreError),
    /// The object in the store cannot be written.
    Store(SharedStoreError),
}

//! Tombstones of removed jobs: the record, and the index in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::error::JournalError;
use super::records::TOMBSTONES;
use super::table::{Access, Tx};
use crate::entry::WorkerNumber;

type Result<T> = std::result::Result<T, JournalError>;

/// Record of a removed job until its log and all its files are gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tombstone {
    /// The job's id.
    pub(super) job: String,
    /// Time of the removal, in seconds since 1970.
    pub(super) removed: u64,
    /// Whether the job's log may still exist.
    pub(super) log: bool,
    /// Workers that may still hold files of the job, ascending.
    pub(super) workers: Vec<WorkerNumber>,
}

impl Tombstone {
    /// Whether the log and all files of the job are gone.
    pub(super) fn is_done(&self) -> bool {
        !self.log && self.workers.is_empty()
    }
}

/// Tombstones by the id of the job.
pub(super) type Tombstones = BTreeMap<String, Tombstone>;

/// The tombstones, in memory. They are read again after a transaction that may or may not have
/// taken effect.
#[derive(Debug, Default)]
pub(super) struct TombstoneIndex(Mutex<Option<Tombstones>>);

impl TombstoneIndex {
    /// Locks the tombstones; `None` if they have to be read again.
    pub(super) fn known(&self) -> MutexGuard<'_, Option<Tombstones>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads all tombstones.
pub(super) fn load<A: Access>(tx: &Tx<A>) -> Result<Tombstones> {
    let tombstones = tx.all::<Tombstone>(TOMBSTONES)?;
    if let Some((key, _)) = tombstones.iter().find(|(key, tombstone)| *key != tombstone.job) {
        return Err(tx.corrupt(TOMBSTONES, key, "it is another job's"));
    }
    Ok(tombstones.into_iter().collect())
}

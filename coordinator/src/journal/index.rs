//! Lookups of single jobs, and construction of the queue's index.

use std::ops::ControlFlow;

use serde::Deserialize;

use super::error::JournalError;
use super::queue::{Queued, Unended};
use super::records::{ENDED, JOBS, NAMES, SUBMITTED, TOMBSTONES, counts, record};
use super::table::{ALL, Access, Reading, Tx};
use super::tombstones::Tombstone;
use crate::entry::JobEntry;

type Result<T> = std::result::Result<T, JournalError>;

/// The jobs that have not ended.
pub(super) fn unended(tx: &Reading) -> Result<Unended> {
    #[derive(Deserialize)]
    struct OfRecord {
        entry: Queued,
    }
    check_numbers(tx)?;
    let mut unended = Unended::default();
    let mut ended = 0;
    tx.each(JOBS, ALL, |key, OfRecord { entry }| {
        if key != entry.id {
            return Err(tx.corrupt(JOBS, key, format!("it is job {:?}", entry.id)));
        }
        ended += u64::from(entry.has_ended());
        unended.set(entry);
        Ok(ControlFlow::Continue(()))
    })?;
    let indexed = tx.count(ENDED)?;
    if ended != indexed {
        let what = format!("{ended} jobs have ended, the table has {indexed}");
        return Err(tx.corrupt(ENDED, "", what));
    }
    Ok(unended)
}

/// Checks that the tables of jobs have as many entries as the counter says.
pub(super) fn check_numbers<A: Access>(tx: &Tx<A>) -> Result<()> {
    let expected = counts(tx)?.jobs;
    for table in [JOBS, SUBMITTED] {
        let found = tx.count(table)?;
        if found != expected {
            let what = format!("the counter says {expected} jobs, the table has {found}");
            return Err(tx.corrupt(table, "", what));
        }
    }
    Ok(())
}

/// Whether there is a job with this id.
pub(super) fn has_job<A: Access>(tx: &Tx<A>, id: &str) -> Result<bool> {
    match record(tx, id) {
        Ok(_) => Ok(true),
        Err(JournalError::NoSuchJob { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a job with this id was removed and has a tombstone.
pub(super) fn was_removed<A: Access>(tx: &Tx<A>, id: &str) -> Result<bool> {
    Ok(tx.get::<Tombstone>(TOMBSTONES, id)?.is_some())
}

/// The job with this name.
pub(super) fn by_name<A: Access>(tx: &Tx<A>, name: &str) -> Result<Option<JobEntry>> {
    let Some(id) = tx.get::<String>(NAMES, name)? else { return Ok(None) };
    match record(tx, &id) {
        Ok(found) if found.entry.name.as_deref() == Some(name) => Ok(Some(found.entry)),
        Ok(_) => Err(tx.corrupt(NAMES, name, format!("job {id:?} has another name"))),
        Err(JournalError::NoSuchJob { .. }) => Err(tx.corrupt(NAMES, name, "no such job")),
        Err(error) => Err(error),
    }
}

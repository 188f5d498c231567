//! Upgrade of a journal that an earlier version wrote.

use super::error::JournalError;
use super::records::{
    COUNTS, FORMAT, JOBS, JobRecord, META, NAMES, SUBMITTED, counts, lines, submission_key,
};
use super::setup::JournalSetup;
use super::table::Writing;
use crate::entry::JobProgress;

/// Adds what earlier versions did not store: the journal's id (format 1), and the progress of jobs
/// and the tables by name and submission (formats 1 and 2).
///
/// # Errors
/// None besides those that all methods return, see [`Journal`](super::operations::Journal).
pub(super) fn upgrade(tx: &Writing<'_>, setup: &JournalSetup) -> Result<(), JournalError> {
    let mut counts = counts(tx)?;
    counts.format = FORMAT;
    if counts.id.is_empty() {
        counts.id = setup.id()?;
    }
    tx.create(SUBMITTED)?;
    tx.create(NAMES)?;
    let records = tx.all::<JobRecord>(JOBS)?.into_iter();
    let mut records: Vec<JobRecord> = records.map(|(_, record)| record).collect();
    records.sort_unstable_by_key(|record| (record.entry.created, record.entry.order));
    // A job has had at least one place in the queue, so the numbers are below the next place.
    for (submitted, mut record) in (0..).zip(records) {
        record.submitted = submitted;
        let entry = &mut record.entry;
        if record.layers > 0 && entry.progress.is_none() {
            entry.progress = JobProgress::of_lines(&lines(tx, &entry.id, 0..record.layers)?);
        }
        tx.put(SUBMITTED, &submission_key(submitted), &entry.id)?;
        if let Some(name) = &entry.name {
            tx.put(NAMES, name, &entry.id)?;
        }
        tx.put(JOBS, &record.entry.id.clone(), &record)?;
    }
    tx.put(META, COUNTS, &counts)
}

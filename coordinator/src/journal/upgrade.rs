//! Upgrade of a journal that an earlier version wrote.

use super::ended::set_end;
use super::error::JournalError;
use super::records::{
    COUNTS, ENDED, FORMAT, JOBS, JobRecord, META, NAMES, SUBMITTED, TOMBSTONES, counts, lines,
    submission_key,
};
use super::setup::JournalSetup;
use super::table::Writing;
use crate::entry::JobProgress;

/// The first format whose records have the place of their submission.
const SUBMISSIONS: u32 = 3;

/// The first format whose records have the time at which a job ended.
const ENDS: u32 = 4;

/// Adds what earlier versions did not store: the journal's id (format 1), and the progress of jobs
/// and the tables by name and submission (formats 1 and 2); the times at which jobs ended, for which
/// the present is taken, and the tables of ended and removed jobs (formats 1 to 3). Layers of formats
/// 1 to 4 have no counts of positions; jobs of formats 1 to 5 no reasons of their engines, and their
/// checkpoints no time; layers of formats 1 to 6 no orbits.
///
/// # Errors
/// None besides those that all methods return, see [`Journal`](super::operations::Journal).
pub(super) fn upgrade(tx: &Writing<'_>, setup: &JournalSetup) -> Result<(), JournalError> {
    let mut counts = counts(tx)?;
    let found = std::mem::replace(&mut counts.format, FORMAT);
    if found >= ENDS {
        return tx.put(META, COUNTS, &counts);
    }
    if counts.id.is_empty() {
        counts.id = setup.id()?;
    }
    for table in [SUBMITTED, NAMES, ENDED, TOMBSTONES] {
        tx.create(table)?;
    }
    let now = setup.seconds();
    let records = tx.all::<JobRecord>(JOBS)?.into_iter();
    let mut records: Vec<JobRecord> = records.map(|(_, record)| record).collect();
    records.sort_unstable_by_key(|record| (record.entry.created, record.entry.order));
    // A job has had at least one place in the queue, so the numbers are below the next place.
    for (submitted, mut record) in (0..).zip(records) {
        if found < SUBMISSIONS {
            record.submitted = submitted;
        }
        let submitted = record.submitted;
        let entry = &mut record.entry;
        entry.ended = entry.state.has_ended().then_some(now);
        set_end(tx, None, Some(entry))?;
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

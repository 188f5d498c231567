//! Finding and listing jobs.
//!
//! Names and the order of submission have tables of their own, so that no operation but
//! [`Journal::jobs`] reads more jobs than it returns.

use super::error::JournalError;
use super::index::{by_name, check_numbers};
use super::operations::Journal;
use super::records::{JOBS, JobRecord, SUBMITTED, no_job, record, submission_key};
use super::table::END;
use crate::entry::JobEntry;

type Result<T> = std::result::Result<T, JournalError>;

/// Jobs of a part of a list.
const PART: usize = 256;

/// Some jobs of a list.
#[derive(Debug, PartialEq)]
pub(crate) struct JobPart {
    pub(crate) jobs: Vec<JobEntry>,
    /// Where the next part begins; none after the last.
    pub(crate) next: Option<u64>,
}

impl Journal {
    /// Finds a job by its id, else by its name, else by a prefix of its id.
    ///
    /// # Errors
    /// `NoSuchJob`; `Ambiguous` if several ids have the prefix.
    pub fn find(&self, what: &str) -> Result<JobEntry> {
        self.store().read(|tx| {
            match record(tx, what) {
                Ok(record) => return Ok(record.entry),
                Err(JournalError::NoSuchJob { .. }) => {}
                Err(error) => return Err(error),
            }
            if let Some(found) = by_name(tx, what)? {
                return Ok(found);
            }
            let most = JournalError::NAMED_JOBS + 1;
            let mut jobs = match what {
                "" => Vec::new(),
                _ => tx.keys(JOBS, what..&format!("{what}{END}"), most)?,
            };
            match jobs.len() {
                0 => Err(no_job(what)),
                1 => Ok(record(tx, &jobs.remove(0))?.entry),
                _ => Err(JournalError::Ambiguous { what: what.to_owned(), jobs }),
            }
        })
    }

    /// All jobs, in the order of the queue. They may take much memory.
    ///
    /// # Errors
    /// None besides those that all methods return, see [`Journal`].
    pub fn jobs(&self) -> Result<Vec<JobEntry>> {
        let (mut jobs, mut from) = (Vec::new(), Some(0));
        while let Some(first) = from {
            let part = self.jobs_from(first)?;
            jobs.extend(part.jobs);
            from = part.next;
        }
        jobs.sort_unstable_by_key(|job| job.order);
        Ok(jobs)
    }

    /// The next jobs in the order of submission, from a place on; the first is 0.
    ///
    /// # Errors
    /// None besides those that all methods return, see [`Journal`].
    pub(crate) fn jobs_from(&self, first: u64) -> Result<JobPart> {
        self.store().read(|tx| {
            check_numbers(tx)?;
            let keys = tx.scan_some::<String>(SUBMITTED, &submission_key(first)..END, PART)?;
            let mut jobs = Vec::with_capacity(keys.len());
            let mut last = None;
            for (key, id) in &keys {
                let missing = |error| match error {
                    JournalError::NoSuchJob { .. } => tx.corrupt(SUBMITTED, key, "no such job"),
                    error => error,
                };
                let JobRecord { submitted, entry, .. } = record(tx, id).map_err(missing)?;
                if *key != submission_key(submitted) {
                    return Err(tx.corrupt(SUBMITTED, key, format!("it is job {id:?}")));
                }
                jobs.push(entry);
                last = Some(submitted);
            }
            let next = last.filter(|_| keys.len() == PART).map(|last| last + 1);
            Ok(JobPart { jobs, next })
        })
    }
}

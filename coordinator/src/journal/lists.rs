//! Lookup and lists of jobs.
//!
//! Names, the order of submission and the jobs that have ended have tables of their own, so that no
//! lookup or list reads more jobs than it returns.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use strata_run::Totals;
use strata_store::{JobResult, JobSpec};

use super::ended::EndedJob;
use super::error::JournalError;
use super::index::{by_name, check_numbers};
use super::operations::Journal;
use super::records::{ENDED, JOBS, JobRecord, SUBMITTED, end_key, no_job, record, submission_key};
use super::table::{ALL, END, Reading};
use crate::entry::{ClusterCheckpoint, EndState, JobEntry, JobOptions, JobState};

type Result<T> = std::result::Result<T, JournalError>;

/// Most jobs in a part of a list.
const PART: usize = 256;

/// The jobs of the journal at one moment.
#[derive(Debug)]
pub(crate) struct Census {
    /// Number of queued jobs.
    pub(crate) queued: usize,
    /// The running jobs, in the order of the queue.
    pub(crate) running: Vec<JobEntry>,
    /// The jobs that ended last, newest first. They lack files and owners.
    pub(crate) newest_ended: Vec<JobEntry>,
    /// Number of ended jobs in each state.
    pub(crate) ended: [(EndState, u64); 4],
}

/// Jobs that have not ended, and the newest of those that have, at one moment.
#[derive(Debug)]
pub(crate) struct NewestJobs {
    /// Jobs that have not ended, oldest first.
    pub(crate) unended: Vec<JobEntry>,
    /// The jobs that ended last, newest first. They lack files and owners.
    pub(crate) ended: Vec<JobEntry>,
    /// Whether there are more of either kind.
    pub(crate) has_more: bool,
}

/// Some jobs of a list.
#[derive(Debug, PartialEq)]
pub(crate) struct JobPart {
    pub(crate) jobs: Vec<JobEntry>,
    /// Where the next part begins; `None` after the last.
    pub(crate) next: Option<u64>,
}

impl Journal {
    /// Finds a job by its id, otherwise by its name, otherwise by a prefix of its id.
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

    /// The jobs with these ids; ids without a job are skipped.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn find_each(&self, ids: &[String]) -> Result<Vec<JobEntry>> {
        self.store().read(|tx| {
            let ids = ids.iter().map(String::as_str);
            let records = tx.get_all::<JobRecord>(JOBS, ids)?;
            Ok(records.into_iter().flatten().map(|record| record.entry).collect())
        })
    }

    /// All jobs, in the order of the queue. The list may take much memory.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub fn jobs(&self) -> Result<Vec<JobEntry>> {
        let (mut jobs, mut from) = (Vec::new(), Some(0));
        while let Some(first) = from {
            let part = self.part::<JobRecord>(first)?;
            jobs.extend(part.jobs);
            from = part.next;
        }
        jobs.sort_unstable_by_key(|job| job.order);
        Ok(jobs)
    }

    /// The next jobs in the order of submission, from place `first` on, which counts from 0. Their
    /// checkpoints are read without files and owners, which would take most of the time.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn jobs_from(&self, first: u64) -> Result<JobPart> {
        self.part::<ListedRecord>(first)
    }

    /// The jobs in one of these states that ended at a time or before it, in seconds since 1970,
    /// oldest first.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub fn ended_before(&self, time: u64, states: &[EndState]) -> Result<Vec<EndedJob>> {
        let end = end_key(time.saturating_add(1), 0);
        let ended = self.store().read(|tx| tx.scan::<EndedJob>(ENDED, ALL.start..&*end))?;
        let ended = ended.into_iter().map(|(_, job)| job);
        Ok(ended.filter(|job| states.contains(&job.state)).collect())
    }

    /// All but the newest `keep` of the jobs that have ended in one of these states, oldest first.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub fn ended_beyond(&self, keep: usize, states: &[EndState]) -> Result<Vec<EndedJob>> {
        if self.store().read(|tx| tx.count(ENDED))? <= keep as u64 {
            return Ok(Vec::new());
        }
        let mut ended = self.ended_before(u64::MAX, states)?;
        ended.truncate(ended.len().saturating_sub(keep));
        Ok(ended)
    }

    /// The first `unended` jobs that have not ended and the `ended` jobs that ended last, all at one
    /// moment.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn newest(&self, unended: usize, ended: usize) -> Result<NewestJobs> {
        let (mut ids, lock) = self.unended_locked(|jobs| jobs.ids())?;
        self.store().read(|tx| {
            // The transaction has begun: it reads the states of the jobs that the index had.
            drop(lock);
            let has_more = ids.len() > unended || tx.count(ENDED)? > ended as u64;
            ids.truncate(unended);
            let unended = tx.get_all::<JobRecord>(JOBS, ids.iter().map(String::as_str))?;
            let unended = unended.into_iter().flatten().map(|record| record.entry).collect();
            Ok(NewestJobs { unended, ended: newest_ended(tx, ended)?, has_more })
        })
    }

    /// The running jobs, the `most` jobs that ended last, and the number of jobs in each state, all
    /// at one moment. Reads the whole index of ended jobs.
    ///
    /// # Errors
    /// `Io`, `Corrupt` or `Unusable`, see [`Journal`].
    pub(crate) fn census(&self, most: usize) -> Result<Census> {
        let ((queued, running), lock) = self.unended_locked(|jobs| {
            (jobs.queued(), jobs.running().map(str::to_owned).collect::<Vec<String>>())
        })?;
        self.store().read(|tx| {
            // The transaction has begun: it reads the states of the jobs that the index had.
            drop(lock);
            let running = tx.get_all::<JobRecord>(JOBS, running.iter().map(String::as_str))?;
            let running = running.into_iter().flatten().map(|record| record.entry).collect();
            let (newest_ended, ended) = (newest_ended(tx, most)?, ended_counts(tx)?);
            Ok(Census { queued, running, newest_ended, ended })
        })
    }

    fn part<R>(&self, first: u64) -> Result<JobPart>
    where
        R: DeserializeOwned + Into<(u64, JobEntry)>,
    {
        self.store().read(|tx| {
            check_numbers(tx)?;
            let keys = tx.scan_some::<String>(SUBMITTED, &submission_key(first)..END, PART)?;
            let ids = keys.iter().map(|(_, id)| id.as_str());
            let mut jobs = Vec::with_capacity(keys.len());
            let mut last = None;
            for ((key, id), record) in keys.iter().zip(tx.get_all::<R>(JOBS, ids)?) {
                let record = record.ok_or_else(|| tx.corrupt(SUBMITTED, key, "no such job"))?;
                let (submitted, entry) = record.into();
                if *key != submission_key(submitted) || *id != entry.id {
                    let what = format!("it is job {:?}", entry.id);
                    return Err(tx.corrupt(SUBMITTED, key, what));
                }
                jobs.push(entry);
                last = Some(submitted);
            }
            let next = last.filter(|_| keys.len() == PART).map(|last| last + 1);
            Ok(JobPart { jobs, next })
        })
    }
}

/// The `most` jobs that ended last, newest first, without files and owners.
fn newest_ended(tx: &Reading, most: usize) -> Result<Vec<JobEntry>> {
    let ended = tx.last_some::<EndedJob>(ENDED, most)?;
    let ids = ended.iter().map(|(_, job)| job.id.as_str());
    let records = tx.get_all::<ListedRecord>(JOBS, ids)?;
    let jobs = records.into_iter().flatten().map(|record| record.into());
    Ok(jobs.map(|(_, entry): (u64, JobEntry)| entry).collect())
}

/// The number of ended jobs in each state. Reads the whole index of ended jobs.
fn ended_counts(tx: &Reading) -> Result<[(EndState, u64); 4]> {
    let states = [EndState::Stopped, EndState::Cancelled, EndState::Failed, EndState::Done];
    let mut counts = states.map(|state| (state, 0));
    tx.each::<EndedJob>(ENDED, ALL, |_, job| {
        let count = counts.iter_mut().find(|(state, _)| *state == job.state);
        count.into_iter().for_each(|(_, count)| *count += 1);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(counts)
}

impl From<JobRecord> for (u64, JobEntry) {
    fn from(record: JobRecord) -> (u64, JobEntry) {
        (record.submitted, record.entry)
    }
}

/// [`JobRecord`] without the parts that lists do not show.
#[derive(Deserialize)]
struct ListedRecord {
    submitted: u64,
    entry: ListedEntry,
}

/// [`JobEntry`] without files and owners.
#[derive(Deserialize)]
struct ListedEntry {
    id: String,
    name: Option<String>,
    order: u64,
    spec: JobSpec,
    options: JobOptions,
    state: JobState,
    created: u64,
    seconds: f64,
    expected_layers: Option<u32>,
    expected_states: Option<f64>,
    work_done: Option<f64>,
    progress: Option<Totals>,
    checkpoint: Option<ListedCheckpoint>,
    result: Option<JobResult>,
    peak_rss_bytes: u64,
    peak_rss_worker: Option<String>,
    cancel: bool,
    ended: Option<u64>,
}

/// [`ClusterCheckpoint`] without files and owners.
#[derive(Deserialize)]
struct ListedCheckpoint {
    depth: u32,
    made: u64,
}

impl From<ListedRecord> for (u64, JobEntry) {
    fn from(record: ListedRecord) -> (u64, JobEntry) {
        let entry = record.entry;
        let checkpoint = entry.checkpoint.map(|checkpoint| ClusterCheckpoint {
            depth: checkpoint.depth,
            records: Vec::new(),
            owners: Vec::new(),
            made: checkpoint.made,
        });
        let entry = JobEntry {
            id: entry.id,
            name: entry.name,
            order: entry.order,
            spec: entry.spec,
            options: entry.options,
            state: entry.state,
            created: entry.created,
            seconds: entry.seconds,
            expected_layers: entry.expected_layers,
            expected_states: entry.expected_states,
            work_done: entry.work_done,
            progress: entry.progress,
            checkpoint,
            result: entry.result,
            peak_rss_bytes: entry.peak_rss_bytes,
            peak_rss_worker: entry.peak_rss_worker,
            cancel: entry.cancel,
            ended: entry.ended,
        };
        (record.submitted, entry)
    }
}

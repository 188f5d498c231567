//! Index of the jobs that have not ended, in memory.
//!
//! The queue and every status need the next job and the number of jobs before another one. With the
//! index neither reads all jobs. It is built when the journal is opened, and again
//! after a transaction of which it is unknown whether it took effect.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;

use super::error::JournalError;
use crate::entry::{JobEntry, JobState};

type Result<T> = std::result::Result<T, JournalError>;

/// A job that has not ended.
#[derive(Clone, Debug)]
struct Unfinished {
    id: String,
    created: u64,
    is_running: bool,
}

/// What the index needs of a job.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Queued {
    pub(super) id: String,
    order: u64,
    created: u64,
    state: JobState,
}

impl Queued {
    pub(super) fn has_ended(&self) -> bool {
        self.state.has_ended()
    }
}

impl From<&JobEntry> for Queued {
    fn from(entry: &JobEntry) -> Queued {
        let JobEntry { id, order, created, state, .. } = entry;
        Queued { id: id.clone(), order: *order, created: *created, state: state.clone() }
    }
}

/// Places of the queued jobs at one moment.
#[derive(Debug, Default)]
pub(crate) struct Places {
    running: usize,
    /// Of those that wait, ascending.
    queued: Vec<u64>,
}

impl Places {
    /// Number of jobs that end before the queued job at a place starts.
    pub(crate) fn before(&self, order: u64) -> usize {
        self.running + self.queued.partition_point(|place| *place < order)
    }
}

/// The jobs that have not ended, by their place in the queue.
#[derive(Debug, Default)]
pub(crate) struct Unended {
    jobs: BTreeMap<u64, Unfinished>,
}

impl Unended {
    /// Adds, changes or removes a job.
    pub(super) fn set(&mut self, job: Queued) {
        let Queued { id, order, created, state } = job;
        if state.has_ended() {
            self.jobs.remove(&order);
        } else {
            let is_running = state == JobState::Running;
            self.jobs.insert(order, Unfinished { id, created, is_running });
        }
    }

    /// Ids of all, oldest first.
    pub(crate) fn ids(&self) -> Vec<String> {
        let mut jobs: Vec<&Unfinished> = self.jobs.values().collect();
        jobs.sort_by_key(|job| job.created);
        jobs.into_iter().map(|job| job.id.clone()).collect()
    }

    /// The places of those that wait.
    pub(crate) fn places(&self) -> Places {
        let queued = self.jobs.iter().filter(|(_, job)| !job.is_running).map(|(place, _)| *place);
        let queued: Vec<u64> = queued.collect();
        Places { running: self.jobs.len() - queued.len(), queued }
    }

    /// The running job.
    pub(crate) fn running(&self) -> Option<&str> {
        self.jobs.values().find(|job| job.is_running).map(|job| job.id.as_str())
    }

    /// The running job, or else the first that waits.
    pub(crate) fn next(&self) -> Option<&str> {
        self.running().or_else(|| self.jobs.values().next().map(|job| job.id.as_str()))
    }

    /// Number of jobs that wait.
    pub(crate) fn queued(&self) -> usize {
        self.jobs.values().filter(|job| !job.is_running).count()
    }

    /// Number of jobs that end before the queued job at a place starts.
    pub(crate) fn before(&self, order: u64) -> usize {
        let later = self.jobs.range(order..).filter(|(_, job)| job.is_running);
        self.jobs.range(..order).count() + later.count()
    }
}

/// The index, and the order of transactions that change it.
#[derive(Debug, Default)]
pub(super) struct QueueIndex {
    /// `None` until it is read from the journal.
    known: Mutex<Option<Unended>>,
}

impl QueueIndex {
    fn known(&self) -> MutexGuard<'_, Option<Unended>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a transaction that changes a job. The lock is held meanwhile: the index changes in the
    /// order of the transactions.
    pub(super) fn update<T>(
        &self,
        write: impl FnOnce() -> Result<(JobEntry, T)>,
    ) -> Result<(JobEntry, T)> {
        let mut known = self.known();
        let written = write();
        match (&written, &mut *known) {
            (Ok((entry, _)), Some(unended)) => unended.set(entry.into()),
            // It may have taken effect.
            (Err(_), known) => *known = None,
            (Ok(_), None) => {}
        }
        written
    }

    /// Builds the index again at its next use.
    #[cfg(test)]
    pub(super) fn forget(&self) {
        *self.known() = None;
    }

    /// Reads the index; `load` builds it if it is not known.
    pub(super) fn read<T>(
        &self,
        load: impl FnOnce() -> Result<Unended>,
        read: impl FnOnce(&Unended) -> T,
    ) -> Result<T> {
        let mut known = self.known();
        if let Some(unended) = &*known {
            return Ok(read(unended));
        }
        Ok(read(known.insert(load()?)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use strata_store::{EngineKind, JobSpec};

    use super::*;
    use crate::entry::JobOptions;
    use crate::journal::operations::Journal;

    fn submit(journal: &Journal) -> JobEntry {
        let spec = JobSpec {
            space: "hanoi".to_owned(),
            params: Default::default(),
            shards: 1,
            engine: EngineKind::Explicit,
        };
        journal.submit("hanoi", None, spec, JobOptions::default(), 0, None).unwrap().0
    }

    /// The index of an open journal, and what a journal that is opened again has.
    fn next_and_before(journal: &Journal, order: u64) -> (Option<String>, usize, usize) {
        journal
            .unended(|jobs| (jobs.next().map(str::to_owned), jobs.before(order), jobs.queued()))
            .unwrap()
    }

    fn set(journal: &Journal, job: &JobEntry, state: JobState) {
        journal.update(&job.id, |entry| entry.state = state).unwrap();
    }

    #[test]
    fn the_index_follows_the_states_of_the_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let path: &Path = &folder.path().join("journal");
        let mut journal = Journal::open(path).unwrap();
        let jobs: Vec<JobEntry> = (0..4).map(|_| submit(&journal)).collect();
        let last = jobs[3].order;
        let is = |journal: &Journal, next: &JobEntry, before: usize, queued: usize| {
            assert_eq!(next_and_before(journal, last), (Some(next.id.clone()), before, queued));
        };
        is(&journal, &jobs[0], 3, 4);
        set(&journal, &jobs[1], JobState::Running);
        is(&journal, &jobs[1], 3, 3);
        set(&journal, &jobs[1], JobState::Cancelled);
        set(&journal, &jobs[0], JobState::Done);
        is(&journal, &jobs[2], 1, 2);
        journal.requeue(&jobs[1].id).unwrap();
        set(&journal, &jobs[1], JobState::Running);
        is(&journal, &jobs[1], 2, 2);
        set(&journal, &jobs[2], JobState::Cancelled);
        journal.remove(&jobs[2].id).unwrap();
        is(&journal, &jobs[1], 1, 1);
        drop(journal);
        journal = Journal::open(path).unwrap();
        is(&journal, &jobs[1], 1, 1);
    }
}

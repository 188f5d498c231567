//! Index of the jobs that have not ended, in memory.
//!
//! The queue and every status need the next job and the number of jobs before another one. With the
//! index neither reads all jobs. It is built from the journal when it is first needed, and again
//! after a transaction of which it is unknown whether it took effect.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::JournalError;
use crate::entry::{JobEntry, JobState};

type Result<T> = std::result::Result<T, JournalError>;

/// A job that has not ended.
#[derive(Clone, Debug)]
struct Unfinished {
    id: String,
    is_running: bool,
}

/// The jobs that have not ended, by their place in the queue.
#[derive(Debug, Default)]
pub(crate) struct Unended {
    jobs: BTreeMap<u64, Unfinished>,
}

impl Unended {
    /// Adds, changes or removes a job.
    fn set(&mut self, entry: &JobEntry) {
        if entry.state.has_ended() {
            self.jobs.remove(&entry.order);
        } else {
            let is_running = entry.state == JobState::Running;
            self.jobs.insert(entry.order, Unfinished { id: entry.id.clone(), is_running });
        }
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
            (Ok((entry, _)), Some(unended)) => unended.set(entry),
            // It may have taken effect.
            (Err(_), known) => *known = None,
            (Ok(_), None) => {}
        }
        written
    }

    /// Runs a transaction that removes a job.
    pub(super) fn remove(&self, write: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut known = self.known();
        *known = None;
        write()
    }

    /// Reads the index; `load` reads all jobs if it is not known.
    pub(super) fn read<T>(
        &self,
        load: impl FnOnce() -> Result<Vec<JobEntry>>,
        read: impl FnOnce(&Unended) -> T,
    ) -> Result<T> {
        let mut known = self.known();
        if let Some(unended) = &*known {
            return Ok(read(unended));
        }
        let mut unended = Unended::default();
        load()?.iter().for_each(|entry| unended.set(entry));
        Ok(read(known.insert(unended)))
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
        journal.remove(&jobs[2].id).unwrap();
        is(&journal, &jobs[1], 1, 1);
        drop(journal);
        journal = Journal::open(path).unwrap();
        is(&journal, &jobs[1], 1, 1);
    }
}

//! In-memory index of the jobs that have not ended.
//!
//! The queue looks up the jobs to start, and every status of a queued job has the number of jobs
//! before it. With the index neither reads all jobs. It is built when the journal is opened, and rebuilt
//! after a transaction that may or may not have taken effect.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use strata_store::JobSpec;

use super::error::JournalError;
use crate::entry::{JobEntry, JobOptions, JobState};
use crate::scheduling::{Need, Room, start_order};

type Result<T> = std::result::Result<T, JournalError>;

/// Place in the queue: jobs of a greater priority first, then in the order in which they were queued.
type Place = (Reverse<i32>, u64);

/// A job that has not ended.
#[derive(Clone, Debug)]
struct Unfinished {
    id: String,
    created: u64,
    need: Need,
    is_running: bool,
}

/// The fields of a job that the index needs.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Queued {
    pub(super) id: String,
    order: u64,
    created: u64,
    state: JobState,
    spec: JobSpec,
    options: JobOptions,
}

impl Queued {
    pub(super) fn has_ended(&self) -> bool {
        self.state.has_ended()
    }
}

impl From<&JobEntry> for Queued {
    fn from(entry: &JobEntry) -> Queued {
        let JobEntry { id, order, created, state, spec, options, .. } = entry.clone();
        Queued { id, order, created, state, spec, options }
    }
}

fn place(options: &JobOptions, order: u64) -> Place {
    (Reverse(options.priority), order)
}

/// Places of the queued jobs at one moment.
#[derive(Debug, Default)]
pub(crate) struct Places {
    before: BTreeMap<Place, usize>,
}

impl Places {
    /// Number of jobs that run or start before a queued job.
    pub(crate) fn before(&self, job: &JobEntry) -> usize {
        self.before.get(&place(&job.options, job.order)).copied().unwrap_or(0)
    }
}

/// The jobs that have not ended, by their place in the queue.
#[derive(Debug, Default)]
pub(crate) struct Unended {
    jobs: BTreeMap<Place, Unfinished>,
}

impl Unended {
    /// Adds, changes or removes a job.
    pub(super) fn set(&mut self, job: Queued) {
        let Queued { id, order, created, state, spec, options } = job;
        let place = place(&options, order);
        if state.has_ended() {
            self.jobs.remove(&place);
        } else {
            let (need, is_running) = (Need::of(&spec), state == JobState::Running);
            self.jobs.insert(place, Unfinished { id, created, need, is_running });
        }
    }

    /// Ids of all jobs that have not ended, oldest first.
    pub(crate) fn ids(&self) -> Vec<String> {
        let mut jobs: Vec<&Unfinished> = self.jobs.values().collect();
        jobs.sort_by_key(|job| job.created);
        jobs.into_iter().map(|job| job.id.clone()).collect()
    }

    /// The places of the waiting jobs, on a cluster of `workers` workers.
    pub(crate) fn places(&self, workers: usize) -> Places {
        let needs = |is_running: bool| -> Vec<Need> {
            let jobs = self.jobs.values().filter(|job| job.is_running == is_running);
            jobs.map(|job| job.need).collect()
        };
        let running = needs(true);
        let order = start_order(workers, &running, &needs(false));
        let waiting = self.jobs.iter().filter(|(_, job)| !job.is_running);
        let before = order.into_iter().map(|before| running.len() + before);
        Places { before: waiting.map(|(place, _)| *place).zip(before).collect() }
    }

    /// Ids of the running jobs, in the order of the queue.
    pub(crate) fn running(&self) -> impl Iterator<Item = &str> {
        self.jobs.values().filter(|job| job.is_running).map(|job| job.id.as_str())
    }

    /// The jobs to start: those that ran when the coordinator ended, and waiting ones for which
    /// there is room. `has_started` tells whether a job is already active.
    pub(crate) fn startable(
        &self,
        mut room: Room,
        has_started: impl Fn(&str) -> bool,
    ) -> Vec<(String, Need)> {
        let (running, waiting): (Vec<&Unfinished>, Vec<&Unfinished>) =
            self.jobs.values().filter(|job| !has_started(&job.id)).partition(|job| job.is_running);
        running.iter().for_each(|job| room.occupy(job.need));
        let mut start = running;
        for job in waiting {
            if room.is_full() {
                break;
            }
            if room.take(job.need) {
                start.push(job);
            }
        }
        start.into_iter().map(|job| (job.id.clone(), job.need)).collect()
    }

    /// Number of jobs that wait.
    pub(crate) fn queued(&self) -> usize {
        self.jobs.values().filter(|job| !job.is_running).count()
    }
}

/// The index, and the order of transactions that change it.
#[derive(Debug, Default)]
pub(super) struct QueueIndex {
    /// `None` until it is read from the journal.
    known: Mutex<Option<Unended>>,
}

/// Lock of the index.
pub(super) type IndexLock<'a> = MutexGuard<'a, Option<Unended>>;

impl QueueIndex {
    fn known(&self) -> IndexLock<'_> {
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
            // The transaction may have taken effect.
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

    /// Reads the index; `load` builds it first if necessary.
    pub(super) fn read<T>(
        &self,
        load: impl FnOnce() -> Result<Unended>,
        read: impl FnOnce(&Unended) -> T,
    ) -> Result<T> {
        self.read_locked(load, read).map(|(result, _)| result)
    }

    /// As [`Self::read`]. Also returns the lock of the index: no job changes its state until it is
    /// dropped.
    pub(super) fn read_locked<T>(
        &self,
        load: impl FnOnce() -> Result<Unended>,
        read: impl FnOnce(&Unended) -> T,
    ) -> Result<(T, IndexLock<'_>)> {
        let mut known = self.known();
        let result = match &*known {
            Some(unended) => read(unended),
            None => read(known.insert(load()?)),
        };
        Ok((result, known))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use strata_store::{EngineKind, JobSpec};

    use super::*;
    use crate::entry::JobOptions;
    use crate::journal::operations::Journal;

    fn submit(journal: &Journal, shards: u32, priority: i32) -> JobEntry {
        let spec = JobSpec {
            space: "hanoi".to_owned(),
            params: Default::default(),
            shards,
            engine: EngineKind::Explicit,
        };
        let options = JobOptions { priority, ..JobOptions::default() };
        journal.submit("hanoi", None, spec, options, 0, None).unwrap().0
    }

    /// The job that starts on a single worker if nothing runs, and the number of jobs before `job`.
    fn next_and_before(journal: &Journal, job: &JobEntry) -> (Option<String>, usize, usize) {
        let next = |jobs: &Unended| {
            let start = jobs.startable(Room::new(1, []), |_| false).into_iter().next();
            (start.map(|(id, _)| id), jobs.places(1).before(job), jobs.queued())
        };
        journal.unended(next).unwrap()
    }

    fn set(journal: &Journal, job: &JobEntry, state: JobState) {
        journal.update(&job.id, |entry| entry.state = state).unwrap();
    }

    #[test]
    fn the_index_follows_the_states_of_the_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let path: &Path = &folder.path().join("journal");
        let mut journal = Journal::open(path).unwrap();
        let jobs: Vec<JobEntry> = (0..4).map(|_| submit(&journal, 1, 0)).collect();
        let is = |journal: &Journal, next: &JobEntry, before: usize, queued: usize| {
            let expected = (Some(next.id.clone()), before, queued);
            assert_eq!(next_and_before(journal, &jobs[3]), expected);
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

    #[test]
    fn jobs_of_a_greater_priority_start_first_and_those_of_one_worker_beside_others() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let [wide, single, urgent, other] = [(8, 0), (1, 0), (8, 5), (1, -1)]
            .map(|(shards, priority)| submit(&journal, shards, priority));
        let start = |workers: usize, active: &[&JobEntry]| -> Vec<String> {
            let started = |id: &str| active.iter().any(|job| job.id == id);
            let mut room = Room::new(workers, []);
            active.iter().for_each(|job| room.occupy(Need::of(&job.spec)));
            let start = journal.unended(|jobs| jobs.startable(room, started)).unwrap();
            start.into_iter().map(|(id, _)| id).collect()
        };
        assert_eq!(start(1, &[]), [&*urgent.id]);
        assert_eq!(start(2, &[]), [&*urgent.id, &*single.id]);
        assert_eq!(start(2, &[&urgent]), [&*single.id]);
        assert_eq!(start(4, &[]), [&*urgent.id, &*single.id, &*other.id]);
        assert_eq!(start(1, &[&single]), [""; 0]);
        let before = |workers: usize| {
            let places = journal.unended(|jobs| jobs.places(workers)).unwrap();
            [&wide, &single, &urgent, &other].map(|job| places.before(job))
        };
        assert_eq!(before(1), [1, 2, 0, 3]);
        assert_eq!(before(2), [2, 1, 0, 3]);
        set(&journal, &urgent, JobState::Running);
        assert_eq!(before(1), [1, 2, 0, 3]);
        // Those that ran when the coordinator ended start whether there is room or not.
        set(&journal, &single, JobState::Running);
        assert_eq!(start(1, &[]), [&*urgent.id, &*single.id]);
    }
}
